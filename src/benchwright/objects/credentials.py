"""Credentials of object stores: from the environment, else from a ``.env`` file, never from an option."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import read_bytes

ENV_FILE_VARIABLE = "BENCHWRIGHT_ENV_FILE"
"""Names the file to read in place of ``.env`` in the current folder."""
GOOGLE_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
"""Names the file with the credentials for Google Cloud, in place of those of this machine or its user."""
GOOGLE_SERVER = "STORAGE_EMULATOR_HOST"
"""Names another server than Google's, asked without credentials; every client of Google's storage knows it."""
_GOOGLE_USER_FILE = Path("~/.config/gcloud/application_default_credentials.json")
"""https://cloud.google.com/docs/authentication/application-default-credentials"""
_LARGEST_ENV_FILE = 2**20
_ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:'([^']*)'|"((?:\\.|[^"\\])*)"|([^'"\s#]\S*)?)""")
_REST = re.compile(r"\s*(?:#.*)?")
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_ENDPOINT = re.compile(r"https?://[^\s/@]+/?")
_ACCOUNT = re.compile(r"[A-Za-z0-9-]+")

_R2_ENDPOINT = "https://{account}.r2.cloudflarestorage.com"
"""https://developers.cloudflare.com/r2/api/s3/api/"""

_HELP = {
    "r2": (
        "R2_ACCOUNT_ID: the account id on the overview page of R2 in the Cloudflare dashboard.",
        "R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY: create an R2 API token there with the permission Object Read & "
        "Write, for the one bucket; the secret is shown once.",
        "Set them in the environment or in a .env file (the environment wins), never as options.",
        "R2_ENDPOINT_URL, in place of R2_ACCOUNT_ID, names another endpoint than the account's.",
    ),
    "s3": (
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN with them for temporary ones): an access key "
        "of an IAM user or role that may list, read and write in the bucket.",
        "Set them in the environment or in a .env file (the environment wins), never as options; AWS_PROFILE and the "
        "role of a machine serve too.",
        "AWS_REGION names the bucket's region, AWS_ENDPOINT_URL_S3 a server other than Amazon's.",
    ),
    "gs": (
        f"{GOOGLE_FILE}: the key file of a service account that may list, read and write in the bucket.",
        "Set it in the environment or in a .env file (the environment wins), never as an option; without it, those of "
        "gcloud auth application-default login or of the machine's service account are taken.",
        f"{GOOGLE_SERVER} names another server than Google's, http(s)://HOST[:PORT], to ask without credentials.",
    ),
    "local": (),
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client of an S3 store is made from; the keys are None where boto3 is to look for them itself."""

    endpoint: str | None
    region: str | None
    key_id: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    profile: str | None = None


def settings_from_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment over what the ``.env`` file says; a variable that is empty counts as not set.

    The file is the one that ``BENCHWRIGHT_ENV_FILE`` names, else ``.env`` in the current folder, if there is one. It
    holds lines ``NAME=value``, with ``export`` before them or not, and quotes around the value or not; other lines
    are left to the programs they are for. Nothing in it is expanded or run.

    Raises:
        Failure: the file cannot be read, or the one named is not there (code ``env-file``, exit 3).
    """
    environment = os.environ if environment is None else environment
    named = environment.get(ENV_FILE_VARIABLE)
    path = Path(named or ".env")
    values = _read_env_file(path, named=bool(named)) if named or path.is_file() else {}
    values.update((name, value) for name, value in environment.items() if value)
    return {name: value for name, value in values.items() if value}


def missing_credentials(kind: str, settings: Mapping[str, str]) -> tuple[Problem, ...]:
    """What a store of this kind (``local``, ``gs``, ``s3``, ``r2``) would lack, all of it; nothing is contacted.

    For ``s3`` and ``gs`` nothing is missing that is not in the settings: their clients have more places to look.
    """
    if kind == "gs":
        return tuple(_wrong_with_google(settings))
    names = _names(kind, settings)
    present = [name for name in names if settings.get(name)]
    absent = [name for name in names if name not in present]
    problems = []
    if absent and (kind == "r2" or present):
        fix = f"set {', '.join(absent)} in the environment or in a .env file"
        problems.append(Problem("no-credentials", kind, f"{', '.join(absent)} not set", ", ".join(names), fix))
    problems += [problem for name in present if (problem := _malformed(name, settings[name])) is not None]
    return tuple(problems)


def credentials_help(kind: str) -> tuple[str, ...]:
    """Lines that say how to obtain and set the credentials of a store of this kind."""
    return _HELP[kind]


def credentials_note(kind: str) -> list[str]:
    """What this machine lacks for a store of this kind, and how to obtain it, in lines for people.

    Nothing is contacted; there are no lines where nothing is missing.
    """
    try:
        missing = missing_credentials(kind, settings := settings_from_environment())
    except Failure as failure:
        missing = failure.problems
    lines = [f"credentials: {problem.where}: {problem.found}" for problem in missing]
    if not missing and (elsewhere := _elsewhere(kind, settings)):
        lines.append(f"credentials: {kind}: none set here; {elsewhere} would be used")
    return [*lines, *(f"  {line}" for line in credentials_help(kind))] if lines else []


def credentials_for(kind: str, settings: Mapping[str, str]) -> Credentials:
    """The credentials of an ``s3`` or ``r2`` store.

    Raises:
        Failure: some are missing or malformed (codes ``no-credentials``, ``bad-credentials``, exit 3).
    """
    problems = missing_credentials(kind, settings)
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    if kind == "r2":
        endpoint = settings.get("R2_ENDPOINT_URL") or _R2_ENDPOINT.format(account=settings["R2_ACCOUNT_ID"])
        return Credentials(endpoint, "auto", settings["R2_ACCESS_KEY_ID"], settings["R2_SECRET_ACCESS_KEY"])
    return Credentials(
        settings.get("AWS_ENDPOINT_URL_S3") or settings.get("AWS_ENDPOINT_URL"),
        settings.get("AWS_REGION") or settings.get("AWS_DEFAULT_REGION"),
        settings.get("AWS_ACCESS_KEY_ID"),
        settings.get("AWS_SECRET_ACCESS_KEY"),
        settings.get("AWS_SESSION_TOKEN") if settings.get("AWS_ACCESS_KEY_ID") else None,
        settings.get("AWS_PROFILE") if not settings.get("AWS_ACCESS_KEY_ID") else None,
    )


def _elsewhere(kind: str, settings: Mapping[str, str]) -> str:
    """Whose credentials would be taken where none are set; empty where some are, or none are needed."""
    if kind == "s3" and not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & settings.keys():
        return "those of a profile or a role"
    if kind == "gs" and not {GOOGLE_FILE, GOOGLE_SERVER} & settings.keys():
        return "" if _GOOGLE_USER_FILE.expanduser().is_file() else "those of the machine's service account"
    return ""


def _wrong_with_google(settings: Mapping[str, str]) -> Iterator[Problem]:
    file = settings.get(GOOGLE_FILE)
    if file and not Path(file).is_file():
        yield Problem("bad-credentials", GOOGLE_FILE, "no such file", "a key file", f"correct or unset {GOOGLE_FILE}")
    if settings.get(GOOGLE_SERVER) and (problem := _malformed(GOOGLE_SERVER, settings[GOOGLE_SERVER])):
        yield problem


def _names(kind: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    if kind == "r2":
        where = "R2_ENDPOINT_URL" if settings.get("R2_ENDPOINT_URL") else "R2_ACCOUNT_ID"
        return where, "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"
    return ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if kind == "s3" else ()


def _malformed(name: str, value: str) -> Problem | None:
    """A value that no request could carry: said here, since the error of a request would print it."""
    pattern, expected = _PRINTABLE, "printable characters without a space"
    if name in ("R2_ENDPOINT_URL", GOOGLE_SERVER):
        pattern, expected = _ENDPOINT, "http(s)://HOST[:PORT] without a path, user or password"
    elif name == "R2_ACCOUNT_ID":
        pattern, expected = _ACCOUNT, "letters, digits and '-'"
    if pattern.fullmatch(value):
        return None
    fix = f"set {name} again, as it was shown"
    return Problem("bad-credentials", name, f"a value of {len(value)} characters that is none", expected, fix)


def _read_env_file(path: Path, *, named: bool) -> dict[str, str]:
    try:
        text = read_bytes(path, limit=_LARGEST_ENV_FILE).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, Failure) as error:
        found = (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "no text of under 1 MiB"
        fix = f"correct or unset {ENV_FILE_VARIABLE}" if named else "make it readable, or move it away"
        raise Failure(Problem("env-file", str(path), found, "lines NAME=value", fix), exit=Exit.ENVIRONMENT) from None
    return dict(pair for line in text.splitlines() if (pair := _assignment(line)) is not None)


def _assignment(line: str) -> tuple[str, str] | None:
    match = _ASSIGNMENT.match(line)
    if match is None:
        return None
    name, single, double, plain = match.groups()
    if plain is not None:  # runs to the first " #", which starts a comment
        return name, re.split(r"\s#", line[match.start(4) :], maxsplit=1)[0].strip()
    if _REST.fullmatch(line, match.end()) is None:
        return None
    return name, single if single is not None else re.sub(r"\\(.)", r"\1", double or "")
