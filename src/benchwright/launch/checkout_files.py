"""Which files of a checkout go to other machines: those that git knows, and new ones; no secrets.

A file whose name is that of a key or of a file of credentials stays here, and so does one that holds a private key. A
file that holds the very value of a secret of this environment stops the whole: nobody meant to have it there.
"""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, some

_SECRET_NAMES = (
    *(".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx", "id_rsa*", "id_dsa*"),
    *(
        "id_ecdsa*",
        "id_ed25519*",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".npmrc",
        ".git-credentials",
        ".htpasswd",
        "credentials",
    ),
    *("credentials.json", "application_default_credentials.json", "*service-account*.json", "*service_account*.json"),
    *("secret.*", "secrets", "secrets.json", "secrets.toml", "secrets.y*ml", "*.secret", "*.secrets", "hf_token*"),
)
_NO_SECRETS = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{40}|\"private_key\": *\"-----BEGIN "
)
_LARGEST_SEARCHED = 2**20
"""Bytes of a file that is looked into: secrets are written by hand or come in small files."""
MOST_BYTES = 2**30
"""In one checkout: it goes to every machine, and data has no place in it."""
_SECONDS = 120


@dataclass(frozen=True)
class CheckoutFiles:
    """Paths relative to the checkout: what goes, and what stays since it looks like a secret."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]


def files_of(checkout: Path, secrets: Mapping[str, str] | None = None) -> CheckoutFiles:
    """The files of a checkout and of the repositories within it.

    ``secrets`` are variables of this environment whose values none of them may hold; a problem names the variable.

    Raises:
        Failure: a file holds such a value (exit 5), they are more than a checkout may have (exit 3); both at once.
    """
    known = {name: value.encode() for name, value in (secrets or {}).items()}
    names, left_out, problems, sizes = [], [], [], {}
    for name in sorted(_names(checkout)):
        path = checkout / name
        if not (path.is_symlink() or path.is_file()):  # removed and not yet committed
            continue
        content = _start(path)
        if _is_secret(Path(name).name) or _PRIVATE_KEY.search(content):
            left_out.append(name)
            continue
        if held := [variable for variable, value in known.items() if value in content]:
            fix = "take it out of the file; if the file was ever pushed, have the secret replaced"
            found = f"holds the value of {some(held)}, a secret of this environment"
            problems.append(Problem("secret-in-checkout", str(path), found, "no secrets in a checkout", fix))
        names.append(name)
        sizes[name] = path.lstat().st_size
    if sum(sizes.values()) > MOST_BYTES:
        largest = sorted(sizes, key=lambda name: -sizes[name])
        found = f"{sum(sizes.values()) / 2**20:,.0f} MB of files, the largest {some(largest)}"
        fix = "move data out of the checkout, or let git ignore it"
        expected = f"at most {MOST_BYTES / 2**20:,.0f} MB"
        problems.append(Problem("checkout-too-large", str(checkout), found, expected, fix))
    if problems:
        unsafe = any(problem.code == "secret-in-checkout" for problem in problems)
        raise Failure(problems, exit=Exit.REFUSED if unsafe else Exit.ENVIRONMENT)
    return CheckoutFiles(tuple(names), tuple(left_out))


def git(folder: Path, *arguments: str) -> str | None:
    """What git prints, without the last line end; None where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # a look must not write into someone's checkout
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout).removesuffix("\n")


def _names(folder: Path, below: str = "") -> Iterator[str]:
    """What git lists, without what it ignores. A repository within, such as a submodule, lists its own."""
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard") or ""
    for name in {name.removesuffix("/") for name in listed.split("\0") if name}:
        if (folder / name / ".git").exists() and not (folder / name).is_symlink():
            yield from _names(folder / name, f"{below}{name}/")
        else:
            yield f"{below}{name}"


def _is_secret(name: str) -> bool:
    name = name.lower()
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _SECRET_NAMES) and not any(
        fnmatch.fnmatchcase(name, pattern) for pattern in _NO_SECRETS
    )


def _start(path: Path) -> bytes:
    if path.is_symlink():
        return b""
    with path.open("rb") as file:
        return file.read(_LARGEST_SEARCHED)
