"""An environment frozen for other machines: pinned requirements, and an archive of every checkout it imports from.

What is fetched from an index is pinned by version, what came from a repository by commit. An editable installation is
archived as its checkout is now, with the commit it is on and whether it differs from that. The whole goes by the digest
of its manifest, so that a launch can name exactly what ran, and editing a checkout later changes nothing of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import digest
from benchwright.launch.archives import pack
from benchwright.launch.python_facts import ANSWER_SECONDS, NoAnswer, answer_of
from benchwright.objects import Conflict, ObjectStore

REQUIREMENTS = "requirements.txt"
MANIFEST = "manifest.json"
_DIGITS = 16
_SECONDS = 120
_PROBE = """
import importlib.metadata, json, platform, re
found = {}
for distribution in importlib.metadata.distributions():
    name = distribution.metadata["Name"]
    if not name or not distribution.version:
        continue
    url = distribution.read_text("direct_url.json")
    found.setdefault(re.sub("[-_.]+", "-", name).lower(), [distribution.version, json.loads(url) if url else None])
print(json.dumps({"python": ".".join(platform.python_version_tuple()[:2]), "distributions": found}))
"""


@dataclass(frozen=True)
class Checkout:
    """A checkout that is imported from: its folder, what is installed of it (relative paths), commit and state."""

    name: str
    folder: Path
    projects: tuple[str, ...]
    sha: str
    changed: bool


@dataclass(frozen=True)
class Environment:
    """What an environment is made of."""

    python: str
    requirements: tuple[str, ...]
    checkouts: tuple[Checkout, ...]


def read_environment(python: str) -> Environment:
    """Ask a Python what it is made of.

    Raises:
        Failure: it does not answer, or something in it cannot be had elsewhere; every such thing (exit 3).
    """
    try:
        answer = answer_of(python, _PROBE, seconds=ANSWER_SECONDS)
    except NoAnswer as reason:
        problem = Problem("no-python", f"python_path: {python}", str(reason), "the Python that fits")
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    requirements, editable, problems = [], {}, []
    for name, (version, url) in sorted(answer["distributions"].items()):
        if url is None:
            requirements.append(f"{name}=={version}")
        elif "vcs_info" in url:
            requirements.append(f"{name} @ {url['vcs_info']['vcs']}+{url['url']}@{url['vcs_info']['commit_id']}")
        elif url.get("dir_info", {}).get("editable"):
            editable[name] = Path(url["url"].removeprefix("file://"))
        elif url["url"].startswith("file:"):
            fix = "install it from an index, from a repository, or editable from a checkout"
            problems.append(Problem("not-portable", name, "installed from a file of this machine", "", fix))
        else:
            requirements.append(f"{name} @ {url['url']}")
    checkouts: dict[Path, list[str]] = {}
    for name, folder in editable.items():
        top = _git(folder, "rev-parse", "--show-toplevel")
        if top is None:
            problems.append(Problem("no-checkout", name, f"installed from {folder}, no git checkout", "a checkout"))
        else:
            checkouts.setdefault(Path(top), []).append(str(folder.resolve().relative_to(Path(top).resolve())))
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    return Environment(answer["python"], tuple(requirements), tuple(_checkouts(checkouts)))


def _checkouts(folders: Mapping[Path, list[str]]) -> list[Checkout]:
    found = []
    for number, (top, projects) in enumerate(sorted(folders.items())):
        sha = _git(top, "rev-parse", "HEAD") or ""
        changed = bool(_git(top, "status", "--porcelain"))
        found.append(Checkout(f"checkout{number}", top, tuple(sorted(projects)), sha, changed))
    return found


def freeze(environment: Environment, store: ObjectStore) -> tuple[str, dict[str, Any]]:
    """Put an environment into a run's bucket, unless it is there; its key's folder, and its manifest.

    Raises:
        Failure: as the store does.
    """
    with tempfile.TemporaryDirectory(prefix="bw-freeze-") as folder:
        files = {REQUIREMENTS: Path(folder, REQUIREMENTS)}
        files[REQUIREMENTS].write_text("".join(f"{line}\n" for line in environment.requirements), "utf-8")
        for checkout in environment.checkouts:
            name = f"{checkout.name}.tar.gz"
            files[name] = Path(folder, name)
            pack(checkout.folder, files[name], _tracked(checkout.folder))
        manifest = {
            "python": environment.python,
            "files": {name: digest(path) for name, path in sorted(files.items())},
            "checkouts": [
                {"name": one.name, "projects": list(one.projects), "sha": one.sha, "changed": one.changed}
                for one in environment.checkouts
            ],
        }
        content = json.dumps(manifest, sort_keys=True, indent=1).encode()
        place = f"env/{hashlib.sha256(content).hexdigest()[:_DIGITS]}"
        if store.head(f"{place}/{MANIFEST}") is None:
            for name, path in files.items():
                store.put(f"{place}/{name}", path)
            with contextlib.suppress(Conflict):  # another set-up has frozen the same meanwhile
                store.put(f"{place}/{MANIFEST}", content, if_absent=True)
    return place, manifest


def _tracked(folder: Path) -> list[str]:
    """What belongs to a checkout: its files and new ones, without what git ignores."""
    names = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard") or ""
    return [name for name in names.split("\0") if name]


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # a look must not write into someone's checkout
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip("\n")
