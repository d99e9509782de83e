"""The set-ups of a run, by the plan records that they left in its workspace."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem
from benchwright.files import RunPaths, read_json

_TIME = "%Y-%m-%d %H:%M:%S%z"
_SHA_LENGTHS = (40, 64)
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, Failure, OSError)


@dataclass(frozen=True, slots=True)
class Moment:
    """A set-up's moment, ``at`` seconds since the epoch, and the state of the checkout then.

    ``head`` is the commit its code was on, None for code outside a checkout, and ``changed`` says that the checkout had
    local changes.
    """

    identity: str
    at: float
    head: str | None
    changed: bool

    def to_dict(self) -> dict[str, Any]:
        """The moment as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SetUp:
    """What the set-ups of one plan left: the record of the ``latest``, and the ``approvals``, the earliest first.

    Each set-up replaces the record of the one before, but those that approved items are remembered. ``protocol`` is the
    validation protocol that the plan's arena requires, "" where the record does not say. ``total`` items were planned:
    ``experiments`` on ``tasks``. ``default_partition`` is the cluster's own where jobs went to it, else "".
    """

    latest: Moment
    approvals: tuple[Moment, ...]
    plan: Mapping[str, Any]
    protocol: str
    versions: Mapping[str, str]
    total: int
    experiments: frozenset[str]
    tasks: frozenset[str]
    default_partition: str = ""

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The set-ups that items may have been launched of; the latest where none is remembered."""
        return self.approvals or (self.latest,)

    def to_dict(self) -> dict[str, Any]:
        """What tells one set-up from another, as JSON data."""
        return self.latest.to_dict() | {"approvals": [one.to_dict() for one in self.approvals]}


def read_set_ups(paths: RunPaths) -> tuple[tuple[SetUp, ...], tuple[Problem, ...]]:
    """A benchmark's finished set-ups, the earliest first, and a problem for each record that cannot be read."""
    set_ups, problems = [], []
    for path in sorted(paths.plans.glob("*.json")):
        approvals: tuple[Moment, ...] = ()
        remembered = paths.approvals(path.stem)
        try:
            approvals = _approvals(remembered)
        except _DAMAGED:
            expected = "the set-ups of a plan that approved items"
            problems.append(Problem("bad-record", str(remembered), "damaged", expected, "remove it"))
        try:
            set_ups.append(_set_up(path, approvals))
        except _DAMAGED:
            fix = "run setup of the plan that it is of, or remove it"
            problems.append(Problem("bad-record", str(path), "damaged", "the record that a set-up wrote", fix))
    return tuple(sorted(set_ups, key=lambda one: (one.latest.at, one.latest.identity))), tuple(problems)


def _approvals(path: Path) -> tuple[Moment, ...]:
    """The set-ups that are remembered; none where the records are older than that memory."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return ()
    return tuple(sorted((_moment(path.stem, one) for one in content), key=lambda one: one.at))


def _moment(identity: str, content: Mapping[str, Any]) -> Moment:
    git = content["git"] or {}
    head = git.get("head")
    if head is not None:
        int(head, 16)
        if len(head) not in _SHA_LENGTHS:
            raise ValueError(head)
    at = datetime.datetime.strptime(content["set_up_at"], _TIME).timestamp()
    return Moment(identity, at, head, bool(git.get("changed")))


def _set_up(path: Path, approvals: tuple[Moment, ...]) -> SetUp:
    content = read_json(path)
    return SetUp(
        latest=_moment(path.stem, content),
        approvals=approvals,
        plan=dict(content["plan"]),
        protocol=str(content.get("validation_protocol") or ""),
        versions={name: str(version) for name, version in content["versions"].items() if version is not None},
        total=int(content["total"]),
        experiments=frozenset(content["experiments"]),
        tasks=frozenset(content["tasks"]),
        default_partition=str(content.get("default_partition") or ""),
    )
