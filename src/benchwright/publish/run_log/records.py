"""The set-ups of a run, by the plan records that they left in its workspace."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem
from benchwright.files import RunPaths, read_json

_TIME = "%Y-%m-%d %H:%M:%S%z"
_SHA_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True)
class SetUp:
    """The latest set-up of one plan: each replaces the record of the one before.

    ``at`` is in seconds since the epoch. ``head`` is the commit its code was on, None for code outside a checkout, and
    ``changed`` says that the checkout had local changes. ``total`` items were planned: ``experiments`` on ``tasks``.
    """

    identity: str
    at: float
    head: str | None
    changed: bool
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    total: int
    experiments: frozenset[str]
    tasks: frozenset[str]

    def to_dict(self) -> dict[str, Any]:
        """What tells one set-up from another, as JSON data."""
        return {"identity": self.identity, "at": self.at, "head": self.head, "changed": self.changed}


def read_set_ups(paths: RunPaths) -> tuple[tuple[SetUp, ...], tuple[Problem, ...]]:
    """A benchmark's finished set-ups, the earliest first, and a problem for each record that cannot be read."""
    set_ups, problems = [], []
    for path in sorted(paths.plans.glob("*.json")):
        try:
            set_ups.append(_set_up(path))
        except (KeyError, TypeError, ValueError, AttributeError, Failure, OSError):
            fix = "run setup of the plan that it is of, or remove it"
            problems.append(Problem("bad-record", str(path), "damaged", "the record that a set-up wrote", fix))
    return tuple(sorted(set_ups, key=lambda one: (one.at, one.identity))), tuple(problems)


def _set_up(path: Path) -> SetUp:
    content = read_json(path)
    git = content["git"] or {}
    head = git.get("head")
    if head is not None:
        int(head, 16)
        if len(head) not in _SHA_LENGTHS:
            raise ValueError(head)
    return SetUp(
        identity=path.stem,
        at=datetime.datetime.strptime(content["set_up_at"], _TIME).timestamp(),
        head=head,
        changed=bool(git.get("changed")),
        plan=dict(content["plan"]),
        versions={name: str(version) for name, version in content["versions"].items() if version is not None},
        total=int(content["total"]),
        experiments=frozenset(content["experiments"]),
        tasks=frozenset(content["tasks"]),
    )
