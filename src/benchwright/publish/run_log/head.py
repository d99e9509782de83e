"""The commit that was HEAD when a run was set up, and how that is known."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.files.checkout import git
from benchwright.publish.run_log.records import Moment, SetUp
from benchwright.publish.run_log.traces import Traces

_REFLOG_LINE = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) HEAD@\{([0-9]+)\}")


@dataclass(frozen=True, slots=True)
class Head:
    """A commit, or None where none can be named, and ``how`` that is known or why not.

    ``at`` is the moment it is of, in seconds since the epoch. ``changed`` is None where nothing says whether the
    checkout had local changes. ``remarks`` are what else was found: other set-ups, other commits.
    """

    sha: str | None
    how: str
    at: float | None = None
    changed: bool | None = None
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The commit in the JSON envelope's form."""
        return {
            "sha": self.sha,
            "how": self.how,
            "at": self.at,
            "changed": self.changed,
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True, slots=True)
class Reflog:
    """Where HEAD of a checkout was: commits with the times (seconds since the epoch) HEAD came there, newest first."""

    moves: tuple[tuple[float, str], ...]

    def at(self, moment: float) -> str | None:
        """HEAD at a moment; None before the first move that is known."""
        return next((sha for since, sha in self.moves if since <= moment), None)

    def knows(self, sha: str) -> bool:
        """Whether HEAD was ever on a commit."""
        return any(sha == known for _, known in self.moves)


def read_reflog(checkout: Path) -> Reflog:
    """The reflog of a checkout's HEAD; one without moves where there is no checkout, no reflog or no git."""
    form = ("--no-color", "--date=unix", "--format=%H %gd")
    content = git(checkout, "-c", "log.showSignature=false", "reflog", "show", "HEAD", *form) or b""
    lines = map(_REFLOG_LINE.fullmatch, content.decode(errors="replace").splitlines())
    return Reflog(tuple((float(line[2]), line[1]) for line in lines if line))


def head_at_setup(set_ups: Sequence[SetUp], traces: Traces, reflog: Reflog, checkout: Path) -> Head:
    """HEAD when the run was set up first.

    The plan records say it, of each plan's last set-up that approved items before the run's first log or result. When
    these are older than every set-up that is recorded, the reflog is asked for HEAD at that time, if it is of the
    record's own checkout. Without records the reflog is asked for HEAD when the first job file, log or result was
    written.
    """
    return _by_record(set_ups, traces, reflog) if set_ups else _by_reflog(traces, reflog, checkout)


def _by_record(set_ups: Sequence[SetUp], traces: Traces, reflog: Reflog) -> Head:
    moments = [moment for one in set_ups for moment in _launched(one.moments, traces)]
    earliest, *others = sorted(moments, key=lambda one: (one.at, one.identity))
    remarks = [_remark(one, earliest) for one in others]
    record = f"the record of set-up {earliest.identity}, {utc(earliest.at)}"
    if earliest.head is None:
        return Head(None, f"{record}, names no checkout", earliest.at, None, tuple(remarks))
    if traces.first is None or traces.first[0] >= earliest.at:
        return Head(earliest.head, f"HEAD at set-up, by {record}", earliest.at, earliest.changed, tuple(remarks))
    moment, what = traces.first
    sha = reflog.at(moment) if reflog.knows(earliest.head) else None
    if sha is None:
        remark = f"{what}, {utc(moment)}, is older, and HEAD then is not known"
        remarks.insert(0, remark)
        return Head(earliest.head, f"HEAD at set-up, by {record}", earliest.at, earliest.changed, tuple(remarks))
    same = "the same commit" if sha == earliest.head else f"`{earliest.head}`"
    remarks.insert(0, f"set up again later: {record}, has {same}{_with_changes(earliest)}")
    return Head(sha, f"HEAD at {utc(moment)}, when {what} was written, by the reflog", moment, None, tuple(remarks))


def _launched(moments: Sequence[Moment], traces: Traces) -> Sequence[Moment]:
    """A plan's set-ups without those that another one replaced before anything ran."""
    before = [one for one in moments if traces.first is None or one.at <= traces.first[0]]
    return moments[max(0, len(before) - 1) :]


def _by_reflog(traces: Traces, reflog: Reflog, checkout: Path) -> Head:
    moments = [
        (traces.job_file, "the first job file"),
        (traces.log, "the first log"),
        (traces.result, "the first result"),
    ]
    known = sorted((at, what) for at, what in moments if at is not None)
    if not known:
        return Head(None, "no plan record, job file, log or result of the run is there")
    moment, what = known[0]
    when = f"{utc(moment)}, when {what} was written"
    sha = reflog.at(moment)
    if sha is None and not reflog.moves:
        return Head(None, f"no plan record, and {checkout.name} has no reflog", moment)
    if sha is None:
        begins = utc(reflog.moves[-1][0])
        return Head(None, f"no plan record, and the reflog begins at {begins}, after {when}", moment)
    others = [(later, other, reflog.at(later)) for later, other in known[1:]]
    remarks = [
        f"HEAD was `{head}` at {utc(later)}, when {other} was written" for later, other, head in others if head != sha
    ]
    return Head(sha, f"HEAD at {when}, by the reflog", moment, None, tuple(remarks))


def _remark(one: Moment, earliest: Moment) -> str:
    if one.head is None:
        found = "names no checkout"
    else:
        found = "has the same commit" if one.head == earliest.head else f"has `{one.head}`"
    return f"the record of set-up {one.identity}, {utc(one.at)}, {found}{_with_changes(one)}"


def _with_changes(one: Moment) -> str:
    return " with local changes" if one.changed else ""


def utc(at: float) -> str:
    """A moment for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
