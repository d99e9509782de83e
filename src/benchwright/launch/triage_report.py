"""Triage of a run: its logs, what the scheduler says of its tasks, and the command that launches what is missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Outcome, Problem, counted, some, usage_error
from benchwright.launch.asked_array import AskedArray, ask_array
from benchwright.launch.symptoms import UNFINISHED
from benchwright.launch.task_log import TaskLog, read_task_log
from benchwright.launch.triage import Finding, Group, group, triage_log
from benchwright.node.array_view import Standing, Task
from benchwright.slurm import Clients

_LOG = re.compile(r"slurm-(?P<job>\d+)_(?P<task>\d+)\.out|bundle_(?P<bundle>\d+)\.log")
_LONGEST_LINE = 65_536
_DOUBTS = {"unreadable-log", "unknown-tasks", "unknown-length"}
"""The problems of a run that may have failed where nobody can look."""
_ALL_LOGS = "slurm_out"
"""The folder of a workspace that has the logs of each benchmark below it."""
_NAMED = 5
_SHOWN = 5


@dataclass(frozen=True)
class TaskTriage:
    """One task, by its id or its bundle's name: its log if it has one, what that says, and what failed.

    ``unreadable`` says why the log could not be read, ``unknown`` that neither it nor the scheduler tells of an end.
    """

    name: str
    path: Path | None
    log: TaskLog
    state: str
    findings: tuple[Finding, ...]
    unreadable: str = ""
    unknown: bool = False

    @property
    def not_started(self) -> int:
        """Items that the task never came to."""
        return sum(not finding.started for finding in self.findings)

    def line(self) -> str:
        """What a bundle did, for people: its results count, not its state."""
        state = f" {self.state}" if self.state else ""
        log = self.log
        if log.ok is None:
            return f"{self.name}{state}: no bundle summary"
        not_run = f", {log.not_run} not run after three failures in a row" if log.not_run else ""
        not_started = f", {self.not_started} not started" if self.not_started else ""
        return f"{self.name}{state}: ok={log.ok} failed={log.failed}{not_run}{not_started}"


@dataclass(frozen=True)
class TriageReport:
    """What failed in a run, by cause, and the command for what is missing.

    ``relaunch`` is empty where no script of ``scripts`` is the run's.
    """

    log_dir: Path
    job: int | None
    tasks: tuple[TaskTriage, ...]
    groups: tuple[Group, ...]
    scripts: Path
    relaunch: str
    problems: tuple[Problem, ...]

    @cached_property
    def _members(self) -> Mapping[tuple[str, str], list[tuple[TaskTriage, Finding]]]:
        """The findings of each group, with their tasks."""
        members: dict[tuple[str, str], list[tuple[TaskTriage, Finding]]] = {}
        for task in self.tasks:
            for finding in task.findings:
                members.setdefault(finding.same, []).append((task, finding))
        return members

    def outcome(self) -> Outcome:
        """The report in a script's form."""
        lost = [task for task in self.tasks if task.findings]
        findings = [finding for task in lost for finding in task.findings]
        launch = any(self._needs_launch(task) for task in lost)
        return Outcome(
            summary=self._summary(findings, len(lost)),
            data={
                "log_dir": str(self.log_dir),
                "job": self.job,
                "tasks": len(self.tasks),
                "failed": sum(finding.started for finding in findings),
                "not_started": sum(not finding.started for finding in findings),
                "groups": [self._group_dict(one) for one in self.groups],
                "bundles": [_bundle_dict(task) for task in lost],
                "ask_now": [f"{one.symptom.code}: {one.ask_now}" for one in self.groups if one.ask_now],
            },
            details=list(self._lines(lost)),
            problems=[*self.problems, *([self._no_script] if launch and not self.relaunch else [])],
            next=[self.relaunch] if launch and self.relaunch else [],
            exit=Exit.NO if findings or any(one.code in _DOUBTS for one in self.problems) else Exit.DONE,
        )

    def _summary(self, findings: Sequence[Finding], tasks: int) -> str:
        if not findings:
            return f"nothing {'is known to have ' if self.problems else ''}failed in {len(self.tasks)} tasks"
        counts = f"{_numbers(findings)}, {counted(len(self.groups), 'cause')}"
        return f"{counts}, in {tasks} of {len(self.tasks)} tasks"

    @property
    def _no_script(self) -> Problem:
        names = " or ".join(_benchmarks(self.log_dir))
        found = f"no run script of benchmark {names}, whose setup launches what is missing"
        return Problem("no-run-script", str(self.scripts), found, "the run's own", "name its folder: --script-dir DIR")

    def _needs_launch(self, task: TaskTriage) -> bool:
        """Whether something of a task is only had by setup: the scheduler gave it up, or its cause is to be mended."""
        return bool(task.state) or any(finding.symptom.relaunch for finding in task.findings)

    def _lines(self, lost: Sequence[TaskTriage]) -> Iterator[str]:
        for one in self.groups:
            yield f"{one.symptom.code}, {_numbers(one.findings)}: {one.cause}"
            yield f"    means: {one.symptom.meaning}"
            yield f"    do: {one.symptom.action}"
            if one.ask_now:
                yield f"    STOP AND ASK: {one.ask_now}"
            elif one.symptom.ask_if:
                yield f"    ask if: {one.symptom.ask_if}"
            yield from (f"    {where}" for where in self._places(one))
            yield from (f"    | {line}" for line in one.findings[0].evidence[-_SHOWN:])
        if lost:
            yield "by task; what is ok has its result:"
        yield from (f"    {task.line()}" for task in lost)

    def _places(self, one: Group) -> Iterator[str]:
        items = self._members[one.findings[0].same]
        for task, finding in items[:_NAMED]:
            not_started = "" if finding.started else ", not started"
            yield f"{finding.item}{not_started}, {task.path or f'{task.name} has no log'}"
        if len(items) > _NAMED:
            yield f"and {len(items) - _NAMED} more"

    def _group_dict(self, one: Group) -> dict[str, Any]:
        places = [
            {
                "item": finding.item,
                "started": finding.started,
                "task": task.name,
                "log": str(task.path) if task.path else None,
            }
            for task, finding in self._members[one.findings[0].same]
        ]
        return {
            "class": one.symptom.code,
            "cause": one.cause,
            "meaning": one.symptom.meaning,
            "action": one.symptom.action,
            "ask_if": one.symptom.ask_if,
            "ask_now": one.ask_now,
            "count": len(one.findings),
            "evidence": list(one.findings[0].evidence),
            "items": places,
        }


def _numbers(findings: Sequence[Finding]) -> str:
    failed = sum(finding.started for finding in findings)
    waiting = len(findings) - failed
    counts = [counted(failed, "failure")] if failed else []
    return ", ".join([*counts, f"{waiting} not started"] if waiting else counts)


def _bundle_dict(task: TaskTriage) -> dict[str, Any]:
    return {
        "task": task.name,
        "state": task.state or None,
        "ok": task.log.ok,
        "failed": task.log.failed,
        "not_run": task.log.not_run,
        "not_started": task.not_started,
        "log": str(task.path) if task.path else None,
    }


def triage_run(log_dir: Path, job: int | None = None, *, scripts: Path, clients: Clients | None = None) -> TriageReport:
    """Class every failure of a run.

    ``log_dir`` holds the logs of an array or of a local run; with ``job`` the scheduler is asked, too. The run script
    whose setup launches what is missing is looked for in ``scripts``.

    Raises:
        Failure: no log folder (exit 2), or no log in it and no job to ask about (exit 1).
    """
    log_dir = log_dir.expanduser().absolute()
    if not log_dir.is_dir():
        fix = f"name one below the workspace's {_ALL_LOGS}, which has the logs of each benchmark"
        raise usage_error("--log-dir", f"{log_dir} is no folder", "the folder of an array's logs", fix)
    logs = _find_logs(log_dir, job)
    array = AskedArray() if job is None else ask_array(job, log_dir, clients or Clients())
    problems = list(array.problems)
    if not logs and array.view is None:
        expected = "slurm-<job>_<task>.out, or bundle_<i>.log of a local run"
        fix = "wait until a task has begun, or name the array's own folder"
        raise Failure([*problems, Problem("no-logs", str(log_dir), "no log of a task", expected, fix)])
    tasks = tuple(_tasks(logs, job, array))
    problems += [
        Problem("unreadable-log", str(task.path), task.unreadable, "a log that can be read", "look at it yourself")
        for task in tasks
        if task.unreadable
    ]
    problems += _unknown(tasks)
    groups = tuple(group(finding for task in tasks for finding in task.findings))
    return TriageReport(log_dir, job, tasks, groups, scripts, _relaunch(log_dir, scripts), tuple(problems))


_Place = tuple[int | None, int]
"""A job and a task of it; no job and a bundle of a local run."""


def _find_logs(log_dir: Path, job: int | None) -> dict[_Place, Path]:
    """The logs of an array, or of all that a folder has. Those of an older SLURM lie above the array's folder."""
    own = job if job is not None else int(log_dir.name) if log_dir.name.isdigit() else None
    logs: dict[_Place, Path] = {}
    for folder in (log_dir.parent, log_dir) if own is not None else (log_dir,):
        for path in folder.iterdir():
            match = _LOG.fullmatch(path.name)
            if match and match["job"] and own in (None, int(match["job"])):
                logs[int(match["job"]), int(match["task"])] = path
            elif match and match["bundle"] and folder is log_dir:
                logs[None, int(match["bundle"])] = path
    return logs


def _tasks(logs: Mapping[_Place, Path], job: int | None, array: AskedArray) -> Iterator[TaskTriage]:
    known = {(job, number): task for number, task in array.view.tasks.items()} if array.view else {}
    for place in sorted({*logs, *known}, key=lambda place: (place[0] or 0, place[1])):
        path, task = logs.get(place), known.get(place)
        log, unreadable = (TaskLog(), "") if path is None else _read(path)
        failed = task is not None and task.standing is Standing.FAILED and (task.began or log.ok is None)
        state, code = (task.state, task.exit_code) if task is not None and failed else ("", "")
        own = array.items.get(place[1], ()) if place[0] == job else ()
        findings = [finding for finding in triage_log(log, state, code, own) if _counts(finding, task)]
        name = f"bundle {place[1]}" if place[0] is None else f"{place[0]}_{place[1]}"
        untold = task is not None and task.standing is Standing.UNKNOWN and log.ok is None and not findings
        yield TaskTriage(name, path, log, state, tuple(findings), unreadable, untold)


def _unknown(tasks: Sequence[TaskTriage]) -> list[Problem]:
    """The problem of the tasks that nothing tells of, if there are any."""
    names = [task.name for task in tasks if task.unknown]
    found = "no row of the scheduler's says where they are or how they ended, and no log does"
    fix = "look again in a minute, since accounts are late; setup tells by the results what is missing"
    return [Problem("unknown-tasks", some(names), found, "the state of each", fix)] if names else []


def _counts(finding: Finding, task: Task | None) -> bool:
    """Whether a log's finding still holds: what the scheduler has running or done has not been lost."""
    if task is None:
        return True
    if task.standing is Standing.DONE:
        return False
    return task.standing is Standing.FAILED or finding.symptom is not UNFINISHED


def _read(path: Path) -> tuple[TaskLog, str]:
    """Read a log, and why it could not be; lines without an end, as of a progress bar, are cut into pieces."""
    try:
        with path.open("rb") as file:
            lines = (line.decode("utf-8", "replace") for line in iter(lambda: file.readline(_LONGEST_LINE), b""))
            return read_task_log(lines), ""
    except FileNotFoundError:  # a link to a log that is gone
        return TaskLog(), ""
    except OSError as error:
        return TaskLog(), error.strerror or str(error)


def _relaunch(log_dir: Path, scripts: Path) -> str:
    """The setup command of the run script that names this benchmark; empty where there is none."""
    for script in sorted(scripts.glob("run_*.py")):
        source = script.read_text("utf-8", "replace")
        if _constant(source, "BENCHMARK_NAME") in _benchmarks(log_dir):
            return shlex.join([_constant(source, "PYTHON_PATH") or "python3", str(script), "setup"])
    return ""


def _benchmarks(log_dir: Path) -> Sequence[str]:
    """The benchmark's name, or those that it may have: logs are in a folder below its own, or in that itself."""
    folder = log_dir.parent
    if folder.name == _ALL_LOGS:
        return [log_dir.name]
    return [folder.name] if folder.parent.name == _ALL_LOGS else [folder.name, log_dir.name]


def _constant(source: str, name: str) -> str:
    match = re.search(rf'^{name} = (["\'])(.*)\1', source, re.MULTILINE)
    return match[2] if match else ""
