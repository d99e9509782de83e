"""Triage: from the text of a log to the class of each failed item, with the lines that say so.

Pure. An item that raised is classed by its exceptions alone, since logs are full of warnings that name errors; one that
raised nothing by what it printed; one that was stopped by what the scheduler says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchwright.launch.symptoms import MOST_OF_ONE_CAUSE, SYMPTOMS, UNEXPLAINED, UNFINISHED, WRAPPER, Symptom
from benchwright.launch.task_log import End, LostItem, Raised, TaskLog, exceptions

_MOST_EVIDENCE = 12
_LONGEST_CAUSE = 160
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PATH = re.compile(r"(?<!\S)/\S+")
_OUTSIDE = "no item"


@dataclass(frozen=True)
class Finding:
    """A failed item, or a task that failed without one: its class, what shows it, and the cause in one line.

    Findings of one class with an equal ``key`` have the same cause. An item that was not ``started`` was still to come
    when its task was ended.
    """

    symptom: Symptom
    item: str
    cause: str
    key: str
    evidence: tuple[str, ...]
    started: bool = True

    @property
    def same(self) -> tuple[str, str]:
        """What findings of one cause share."""
        return self.symptom.code, self.key


@dataclass(frozen=True)
class Group:
    """Findings of one cause."""

    findings: tuple[Finding, ...]

    @property
    def symptom(self) -> Symptom:
        """The class that they share."""
        return self.findings[0].symptom

    @property
    def cause(self) -> str:
        """The first one's cause."""
        return self.findings[0].cause

    @property
    def ask_now(self) -> str:
        """Why to stop and ask before anything is launched again; empty where the symptom's own advice is enough."""
        failed = sum(finding.started for finding in self.findings)
        if failed > MOST_OF_ONE_CAUSE and self.symptom.relaunch:
            return f"{failed} items fail for one reason"
        return ""


def triage_log(log: TaskLog, state: str = "", exit_code: str = "", items: Sequence[str] = ()) -> list[Finding]:
    """Class what failed in one task. ``state`` and ``exit_code`` are the scheduler's, where it was asked.

    ``items`` are the task's by their coordinates, in order, where they are known: those that it never came to are
    named by them, else by their place.
    """
    found = [_of_item(item, log, state) for item in log.lost]
    bundle_ended = not state and log.ok is not None
    if not found and (state or log.outside) and not bundle_ended:
        found = _of_task(log, state, exit_code)
    if not (found and found[-1].symptom.states and found[-1].symptom.relaunch):  # nothing that the scheduler ended
        return found
    waiting = [replace(found[-1], item=item, started=False) for item in _not_reached(log, items)]
    return waiting if waiting and found[-1].item == _OUTSIDE else [*found, *waiting]


def _not_reached(log: TaskLog, items: Sequence[str]) -> list[str]:
    """The items that a task never came to, without those that it gave up itself."""
    total = log.total or len(items)
    number = max(0, total - len(log.reached) - log.not_run)
    if len(items) == total and log.reached.issubset(items):  # else they are another set-up's
        return [item for item in items if item not in log.reached][:number]
    return [f"item {place}/{total}" for place in range(total - number + 1, total + 1)]


def group(findings: Iterable[Finding]) -> list[Group]:
    """Put equal causes together, the most frequent first."""
    by_key: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_key.setdefault(finding.same, []).append(finding)
    groups = [Group(tuple(some)) for some in by_key.values()]
    return sorted(groups, key=lambda one: -len(one.findings))


def _of_item(item: LostItem, log: TaskLog, state: str) -> Finding:
    raised = list(exceptions(item.lines))
    if item.end is not End.FAILED:
        return _stopped(item, log, state)
    texts = [one.text for one in raised] or list(item.lines)
    for symptom in SYMPTOMS:
        for number, text in enumerate(texts):
            if any(re.search(pattern, text, re.MULTILINE) for pattern in symptom.said):
                evidence = _evidence(raised[number]) if raised else _around(item.lines, number)
                return Finding(symptom, item.item, _first_line(text), _same(text), evidence)
    if raised:
        return _of_wrapper(raised, item.item)
    cause = f"exit {item.exit}"
    return Finding(UNEXPLAINED, item.item, cause, cause, item.lines[-_MOST_EVIDENCE:])


def _of_wrapper(raised: Sequence[Raised], item: str) -> Finding:
    """An exception that no symptom names: the one that the last of them came from."""
    first = len(raised) - 1
    while raised[first].chained and first:
        first -= 1
    root, last = raised[first], raised[-1]
    evidence = _evidence(root) if root is last else (*_evidence(root), f"... then {_first_line(last.text)}")
    return Finding(WRAPPER, item, _first_line(root.text), f"{root.kind} {root.frame}", evidence)


def _stopped(item: LostItem, log: TaskLog, state: str) -> Finding:
    """An item that was at work when its task ended: what the scheduler says ended it."""
    for symptom in SYMPTOMS:
        for line in log.scheduler:
            if any(re.search(pattern, line) for pattern in symptom.ended):
                return _of_scheduler(symptom, item.item, line.partition("error: ")[2], (line,))
    by_state = _of_state(state)
    if by_state is not None:
        return _of_scheduler(by_state, item.item, f"{state}: {by_state.meaning}", log.outside[-_MOST_EVIDENCE:])
    ended = UNFINISHED if item.end is End.UNFINISHED else UNEXPLAINED
    return Finding(ended, item.item, ended.meaning, ended.code, item.lines[-_MOST_EVIDENCE:])


def _of_scheduler(symptom: Symptom, item: str, cause: str, evidence: tuple[str, ...]) -> Finding:
    """What the scheduler ended; that it says so in the log or by a state makes no two causes."""
    return Finding(symptom, item, cause, symptom.code, evidence)


def _of_task(log: TaskLog, state: str, exit_code: str) -> list[Finding]:
    """A task that failed before, between or without items."""
    lines = [*log.outside, *([f"exit code {exit_code}"] if exit_code else [])]
    for number, line in enumerate(lines):
        for symptom in SYMPTOMS:
            if any(re.search(pattern, line) for pattern in symptom.said):
                return [Finding(symptom, _OUTSIDE, _first_line(line), _same(line), _around(lines, number))]
            if any(re.search(pattern, line) for pattern in symptom.ended):
                return [_of_scheduler(symptom, _OUTSIDE, _first_line(line), _around(lines, number))]
    by_state = _of_state(state)
    if by_state is not None:
        cause, evidence = f"{state}: {by_state.meaning}", tuple(lines[-_MOST_EVIDENCE:])
        return [_of_scheduler(by_state, _OUTSIDE, cause, evidence)]
    raised = list(exceptions(lines))
    if raised:
        return [_of_wrapper(raised, _OUTSIDE)]
    if not state:
        return []
    cause = f"{state}, exit code {exit_code}" if exit_code else state
    return [Finding(UNEXPLAINED, _OUTSIDE, cause, cause, tuple(lines[-_MOST_EVIDENCE:]))]


def _of_state(state: str) -> Symptom | None:
    name = state.partition(" ")[0]
    return next((symptom for symptom in SYMPTOMS if name in symptom.states), None)


def _evidence(raised: Raised) -> tuple[str, ...]:
    """A traceback without its middle: where it began is the runner, where it ended the cause."""
    lines = raised.traceback
    if len(lines) <= _MOST_EVIDENCE:
        return lines
    return (lines[0], "  ...", *lines[2 - _MOST_EVIDENCE :])


def _around(lines: Sequence[str], number: int) -> tuple[str, ...]:
    return tuple(lines[max(0, number - 2) : number + 3])


def _first_line(text: str) -> str:
    line = text.partition("\n")[0].strip()
    return line if len(line) <= _LONGEST_CAUSE else f"{line[:_LONGEST_CAUSE]} ..."


def _same(text: str) -> str:
    """A message without what differs from item to item: quoted values, paths and numbers."""
    return _NUMBERS.sub("N", _PATH.sub("/...", _QUOTED.sub("'...'", _first_line(text))))
