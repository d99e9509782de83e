"""Evaluation results as models declare them: ``.eval_results/*.yaml``, on main and in open pull requests.

The format is that of https://huggingface.co/docs/hub/eval-results. A file that breaks it is an error as a whole.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import yaml

from benchwright.rehearsal.hub.contents import last_change
from benchwright.rehearsal.hub.records import Commit, Repo
from benchwright.rehearsal.hub.state import HubState

FOLDER = ".eval_results/"
VERIFIED = "rehearsal-verified"
"""A ``verifyToken`` that the emulator takes for one of the Hub's own."""
_TEXTS = ("verifyToken", "date", "notes")
_SOURCE_TEXTS = ("name", "user", "org")


@dataclass(frozen=True)
class Result:
    """An entry of a file, or what is wrong with the whole file; ``pull_request`` adds it, where it is not on main."""

    filename: str
    data: dict[str, Any] | None
    error: str | None
    date: str
    pull_request: int | None = None

    @property
    def verified(self) -> bool:
        """Whether the Hub itself vouches for the value."""
        return self.data is not None and self.data.get("verifyToken") == VERIFIED

    def told(self) -> dict[str, Any]:
        """The entry as in a model's ``evalResults``."""
        pull = {} if self.pull_request is None else {"pullRequest": self.pull_request}
        if self.error is not None:
            return {"filename": self.filename, "error": self.error, **pull}
        return {"filename": self.filename, "verified": self.verified, "data": self.data, **pull}


def results_of(state: HubState, repo: Repo) -> list[Result]:
    """What a model declares. Of an open pull request only the files count that main does not have.

    A pull request that edits a file of main shows main's entries until it is merged.
    """
    version = state.versions.get(repo.key, 0)
    if (known := state.computed.get(repo.key)) is not None and known[0] == version:
        found: list[Result] = known[1]
        return found
    found = _in_commit(repo, repo.main, None, without=set())
    for pull in repo.open_pull_requests():
        if pull.head is not None:
            found += _in_commit(repo, repo.commits[pull.head], pull.num, without=set(repo.main.files))
    state.computed[repo.key] = (version, found)
    return found


def problem_of(told: Any) -> str | None:
    """What is wrong with a file's content, as the Hub would say it; None: nothing."""
    if not isinstance(told, list):
        return f"✖ Invalid input: expected array, received {_kind(told)}"
    for number, entry in enumerate(told):
        if (problem := _problem_of_entry(entry)) is not None:
            what, where = problem
            return f"✖ Invalid input: {what} → at [{number}]{where}"
    return None


def _in_commit(repo: Repo, commit: Commit, pull: int | None, *, without: set[str]) -> list[Result]:
    found = []
    for path, entry in sorted(commit.files.items()):
        name = path.removeprefix(FOLDER)
        if not path.startswith(FOLDER) or "/" in name or not name.endswith(".yaml") or path in without:
            continue
        date = last_change(repo, commit, path).date
        entries, error = _read(repo.blobs[entry.oid])
        if error is not None:
            found.append(Result(path, None, error, date, pull))
        found += [Result(path, data, None, date, pull) for data in entries]
    return found


@functools.lru_cache(maxsize=100_000)
def _read(content: bytes) -> tuple[tuple[dict[str, Any], ...], str | None]:
    """The entries of a file, or why it has none."""
    try:
        told = yaml.safe_load(content.decode())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        return (), f"YAML: {' '.join(str(error).split())}"
    problem = problem_of(told)
    return ((), problem) if problem else (tuple(told), None)


def _problem_of_entry(entry: Any) -> tuple[str, str] | None:
    """What is wrong with an entry, and where in it."""
    if not isinstance(entry, dict):
        return f"expected object, received {_kind(entry)}", ""
    dataset = entry.get("dataset")
    if not isinstance(dataset, dict):
        return f"expected object, received {_kind(dataset)}", ".dataset"
    needed = [(dataset, "id", ".dataset"), (dataset, "task_id", ".dataset")]
    source = entry.get("source")
    if "source" in entry:
        if not isinstance(source, dict):
            return f"expected object, received {_kind(source)}", ".source"
        needed.append((source, "url", ".source"))
        needed += [(source, name, ".source") for name in _SOURCE_TEXTS if name in source]
    needed += [(dataset, "revision", ".dataset")] if "revision" in dataset else []
    needed += [(entry, name, "") for name in _TEXTS if name in entry]
    for holder, name, where in needed:
        if not isinstance(holder.get(name), str):
            return f"expected string, received {_kind(holder.get(name, ...))}", f"{where}.{name}"
    value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return f"expected number, received {_kind(entry.get('value', ...))}", ".value"
    return None


def _kind(value: Any) -> str:
    names = {type(None): "null", type(...): "undefined", str: "string", bool: "boolean", list: "array", dict: "object"}
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return names.get(type(value), "number" if isinstance(value, int | float) else "date")
