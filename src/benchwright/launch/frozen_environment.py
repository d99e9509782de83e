"""An environment frozen for other machines: pinned requirements, and an archive of every checkout it imports from.

What is fetched from an index is pinned by version, what came from a repository by commit. An editable installation is
archived as its checkout is now, with the commit it is on and whether it differs from that. The whole goes by the digest
of its manifest, so that a launch can name exactly what ran, and editing a checkout later changes nothing of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shlex
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import digest
from benchwright.launch.archives import pack
from benchwright.launch.checkout_files import CheckoutFiles, files_of, git
from benchwright.launch.python_facts import ANSWER_SECONDS, NoAnswer, answer_of
from benchwright.node import passing_scratch
from benchwright.objects import Conflict, ObjectStore

REQUIREMENTS = "requirements.txt"
MANIFEST = "manifest.json"
_DIGITS = 16
_PROBE = """
import importlib.metadata, json, re, sys
found = {}
for distribution in importlib.metadata.distributions():
    name = distribution.metadata["Name"]
    if not name or not distribution.version:
        continue
    url = distribution.read_text("direct_url.json")
    found.setdefault(re.sub("[-_.]+", "-", name).lower(), [distribution.version, json.loads(url) if url else None])
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "distributions": found}))
"""
_WITH_ACCOUNT = re.compile(r"(?<=://)[^/@\s]*@")
_GIT_ALONE = re.compile(r"(?<=://)git@")


@dataclass(frozen=True)
class Checkout:
    """A checkout that is imported from.

    ``projects`` are the distributions installed of it with their places in it, ``sha`` is the commit that it is on, and
    ``changed`` whether it differs from that, submodules included.
    """

    name: str
    folder: Path
    projects: Mapping[str, str]
    sha: str
    changed: bool
    files: CheckoutFiles

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of it: nothing of this machine."""
        return {
            "name": self.name,
            "projects": dict(self.projects),
            "sha": self.sha,
            "changed": self.changed,
            "left_out": list(self.files.left_out),
        }


@dataclass(frozen=True)
class Environment:
    """What an environment is made of."""

    python: str
    requirements: tuple[str, ...]
    checkouts: tuple[Checkout, ...]


def read_environment(python: str, secrets: Mapping[str, str] | None = None) -> Environment:
    """Ask a Python what it is made of; ``secrets`` are variables whose values no file of a checkout may hold.

    Raises:
        Failure: it does not answer, or something in it cannot be had elsewhere (exit 3), or must not leave this machine
            (exit 5); every such thing.
    """
    try:
        answer = answer_of(python, _PROBE, seconds=ANSWER_SECONDS)
    except NoAnswer as reason:
        fix = "correct PYTHON_PATH in the run script, then run setup again"
        problem = Problem("no-python", f"python_path: {python}", str(reason), "the Python that fits", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    requirements, editable = [], {}
    problems: list[Problem] = []
    for name, (version, url) in sorted(answer["distributions"].items()):
        if url and url.get("dir_info", {}).get("editable"):
            editable[name] = Path(urllib.parse.unquote(url["url"].removeprefix("file://")))
            continue
        line = _requirement(name, version, url)
        problems += _not_portable(name, line)
        requirements.append(line)
    failure = Failure(problems, exit=Exit.ENVIRONMENT)
    checkouts: list[Checkout] = []
    try:
        checkouts += _checkouts(editable, secrets or {})
    except Failure as other:
        failure = Failure([*problems, *other.problems], exit=other.exit)
    if failure.problems:
        raise failure
    return Environment(answer["python"], tuple(requirements), tuple(checkouts))


def _requirement(name: str, version: str, url: Mapping[str, Any] | None) -> str:
    """An installed distribution as an installer takes it (https://packaging.python.org/specifications/direct-url/)."""
    if url is None:
        return f"{name}=={version}"
    below = f"#subdirectory={url['subdirectory']}" if url.get("subdirectory") else ""
    if "vcs_info" in url:
        return f"{name} @ {url['vcs_info']['vcs']}+{url['url']}@{url['vcs_info']['commit_id']}{below}"
    return f"{name} @ {url['url']}{below}"


def _not_portable(name: str, requirement: str) -> Iterator[Problem]:
    if "@ file:" in requirement:
        fix = "install it from an index, from a repository, or editable from a checkout"
        yield Problem("not-portable", name, "installed from a file of this machine", "what other machines reach", fix)
    if _WITH_ACCOUNT.search(_GIT_ALONE.sub("", requirement)):
        found = "installed from an address that holds a user or a password"
        fix = "install it from an address without them; the credentials belong into git's or pip's own settings"
        yield Problem("account-in-address", name, found, "an address that anyone may see", fix)


def _checkouts(editable: Mapping[str, Path], secrets: Mapping[str, str]) -> list[Checkout]:
    """The checkouts of editable installations, numbered by their place.

    Raises:
        Failure: some are none (exit 3), or have files that must not leave; every problem.
    """
    places: dict[Path, dict[str, str]] = {}
    problems, exit = [], Exit.ENVIRONMENT
    for name, folder in editable.items():
        top = git(folder, "rev-parse", "--show-toplevel")
        if top is None:
            place = f"installed from {folder}, no git checkout"
            fix = f"git init {shlex.quote(str(folder))}, or install it from an index; then run setup again"
            problems.append(Problem("no-checkout", name, place, "a checkout", fix))
            continue
        project = folder.resolve().relative_to(Path(top).resolve())
        places.setdefault(Path(top), {})[name] = str(project)
    found = []
    for number, (top_folder, projects) in enumerate(sorted(places.items())):
        try:
            files = files_of(top_folder, secrets)
        except Failure as failure:
            problems += failure.problems
            exit = max(exit, failure.exit)
            continue
        sha = git(top_folder, "rev-parse", "HEAD") or ""
        changed = bool(git(top_folder, "status", "--porcelain"))
        found.append(Checkout(f"checkout{number}", top_folder, projects, sha, changed, files))
    if problems:
        raise Failure(problems, exit=exit)
    return found


def freeze(environment: Environment, store: ObjectStore) -> tuple[str, dict[str, Any]]:
    """Put an environment into a run's bucket, unless it is there; its key's folder, and its manifest.

    Raises:
        Failure: a checkout is changed while it is read (exit 4), and as the store does.
    """
    with passing_scratch() as folder:
        files = {REQUIREMENTS: folder / REQUIREMENTS}
        files[REQUIREMENTS].write_text("".join(f"{line}\n" for line in environment.requirements), "utf-8")
        for checkout in environment.checkouts:
            name = f"{checkout.name}.tar.gz"
            files[name] = folder / name
            try:
                pack(checkout.folder, files[name], checkout.files.names)
            except OSError as error:
                found = f"cannot be read: {error.strerror or error}"
                problem = Problem("checkout-changes", str(checkout.folder), found, "files that stay", "run this again")
                raise Failure(problem, exit=Exit.REMOTE) from None
        manifest = {
            "python": environment.python,
            "files": {name: digest(path) for name, path in sorted(files.items())},
            "checkouts": [one.to_dict() for one in environment.checkouts],
        }
        content = json.dumps(manifest, sort_keys=True, indent=1).encode()
        place = f"env/{hashlib.sha256(content).hexdigest()[:_DIGITS]}"
        if store.head(f"{place}/{MANIFEST}") is None:
            for name, path in files.items():
                store.put(f"{place}/{name}", path)
            with contextlib.suppress(Conflict):  # another set-up has frozen the same meanwhile
                store.put(f"{place}/{MANIFEST}", content, if_absent=True)
    return place, manifest
