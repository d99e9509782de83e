"""A watcher's words: a line for each new failure, one an interval, and the verdict; for people, or as JSON Lines."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.node.array_ending import counted
from benchwright.node.array_view import Standing
from benchwright.node.array_watch import NewFailure, Report, Request, Unclear
from benchwright.node.job_file import Item
from benchwright.slurm import array_id, brief_id

_MOST_LINES = 20
_CANNOT_OPEN_LOG = "0:53"
"""What a task leaves with when its node cannot write the log: SLURM makes no folders."""
_COUNTED = (Standing.DONE, Standing.FAILED, Standing.RUNNING, Standing.QUEUED, Standing.REQUEUED)
_CHECKOUT = Path(__file__).resolve().parents[3]


class TextVoice:
    """Lines for people. ``items`` passed in are the array's, by the place of their result."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def failures(self, report: Report) -> Iterator[str]:
        """A line a failure; those that never began, and those beyond the first twenty, together by state."""
        alone = [failure for failure in report.failures if failure.task.began][:_MOST_LINES]
        for failure in alone:
            yield f"FAILED {array_id(self._request.job, [failure.index])}: {_ended(failure)}{_log(failure)}"
        named = {failure.index for failure in alone}
        rest: dict[str, list[int]] = {}
        for failure in report.failures:
            if failure.index not in named:
                logs = f", logs {failure.log.parent}/slurm-{self._request.job}_<task>.out" if failure.log else ""
                rest.setdefault(_ended(failure) + logs, []).append(failure.index)
        for how, tasks in rest.items():
            yield f"FAILED {brief_id(self._request.job, tasks)}: {how}"

    def progress(self, report: Report) -> Iterator[str]:
        """The interval line: the share of tasks left, the counts, and what else holds."""
        if report.verdict is None:
            clock = time.strftime("%H:%M", time.localtime(report.poll.at))
            yield f"{clock} job {self._request.job}: {summary(self._request, report)}"

    def verdict(self, report: Report, items: Mapping[str, Item]) -> Iterator[str]:
        """How it ended, the coordinates of missing results, and the next commands."""
        verdict = report.verdict
        if verdict is None:
            return
        yield f"{verdict.word} job {self._request.job}: {verdict.text}"
        for place in verdict.missing[:_MOST_LINES]:
            yield f"  missing: {items[place].label() if place in items else place}"
        if len(verdict.missing) > _MOST_LINES:
            yield f"  and {len(verdict.missing) - _MOST_LINES} more; --once --json names them all"
        yield from (f"  next: {command}" for command in _next(self._request, report))


class JsonVoice:
    """The same as one JSON object a line: the events ``failure``, ``progress`` and ``verdict``."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def failures(self, report: Report) -> Iterator[str]:
        """One event a failure."""
        for failure in report.failures:
            task, log = failure.task, _there(failure.log)
            yield self._event(
                "failure",
                report,
                task=failure.index,
                state=task.state,
                exit_code=task.exit_code or None,
                node=task.nodes or None,
                log=str(log or failure.log) if failure.log else None,
                log_there=log is not None,
            )

    def progress(self, report: Report) -> Iterator[str]:
        """One event with every count."""
        results = report.poll.results
        yield self._event(
            "progress",
            report,
            tasks=report.view.total,
            left_percent=round(100 * _left(report) / report.view.total, 1),
            **{standing.value: report.view.count(standing) for standing in Standing},
            results=results.complete if results else None,
            results_partial=not results.whole_tree if results else None,
            expected_results=self._request.expected,
            waiting_for=report.doubt.text if report.doubt else None,
            notes=[*report.notes, *report.remarks],
        )

    def verdict(self, report: Report, items: Mapping[str, Item]) -> Iterator[str]:
        """One event with the coordinates of all missing results."""
        verdict = report.verdict
        if verdict is None:
            return
        missing = [items[place].coordinates() if place in items else {"place": place} for place in verdict.missing]
        yield self._event(
            "verdict",
            report,
            verdict=verdict.word,
            exit=verdict.exit,
            summary=verdict.text,
            missing=missing,
            next=list(_next(self._request, report)),
        )

    def _event(self, event: str, report: Report, **more: Any) -> str:
        return json.dumps({"event": event, "time": round(report.poll.at, 3), "job": self._request.job, **more})


def summary(request: Request, report: Report) -> str:
    """The interval line without its clock."""
    doubt, view = report.doubt, report.view
    parts = []
    if not report.uncounted:
        counts = [f"{view.count(standing)} {standing.value}" for standing in _COUNTED]
        unknown = view.count(Standing.UNKNOWN)
        counts += [f"{unknown} unknown"] if unknown else []
        percent = -(-100 * _left(report) // view.total)  # rounded up: 0 is said of none left
        parts.append(f"{percent}% of {view.total} tasks left; {', '.join(counts)}")
        parts += [f"results {counted(request, report.poll)}"] if report.poll.results is not None else []
    if doubt is not None:
        left = doubt.since + request.patience - report.poll.clock
        until = time.strftime("%H:%M", time.localtime(report.poll.at + left))
        parts += [doubt.text, "looking again" if doubt.kind is Unclear.GAPS else f"waiting until {until}"]
    return "; ".join(parts if report.uncounted else [*parts, *report.notes])


def _left(report: Report) -> int:
    view = report.view
    return view.total - view.count(Standing.DONE) - view.count(Standing.FAILED)


def _ended(failure: NewFailure) -> str:
    task = failure.task
    code = f", exit code {task.exit_code}" if task.exit_code else ""
    return f"{task.state}{code}" + ("" if task.began else ", before it began")


def _log(failure: NewFailure) -> str:
    log = _there(failure.log)
    if log is not None:
        return f", log {log}"
    if failure.log is None:
        return ""
    why = ", SLURM could not open it: its folder has to exist" if failure.task.exit_code == _CANNOT_OPEN_LOG else ""
    return f", no log at {failure.log}{why}"


def _there(log: Path | None) -> Path | None:
    """The log where it is: an older SLURM, which makes no folders, leaves it above the array's."""
    places = () if log is None else (log, log.parent.parent / log.name)
    return next((place for place in places if os.path.exists(place)), None)  # noqa: PTH110 - Path may raise


def _next(request: Request, report: Report) -> Sequence[str]:
    """Where to look after a bad end. Setup is the run script's own, whose name is not known here."""
    if not report.view.count(Standing.FAILED) or request.log_dir is None:
        return ()
    triage = [str(_CHECKOUT / ".venv" / "bin" / "python"), str(_CHECKOUT / "scripts" / "triage_run.py")]
    return (shlex.join([*triage, "--log-dir", str(request.log_dir), "--job-id", str(request.job)]),)
