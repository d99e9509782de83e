"""The log of an array task or of a local bundle: which items were lost in it, and what each of them printed last."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

_MOST_LINES = 4000
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STARTED = re.compile(r"##### item \d+/(?P<total>\d+) started: (?P<item>.*)")
_SKIPPED = re.compile(r"##### item skipped, its result is there: (?P<item>.*)")
_FAILED = re.compile(r"##### item FAILED \(exit (?P<exit>-?\d+)\): (?P<item>.*)")
_STOPPED = re.compile(r"##### item (?:stopped by \w+|not run): (?P<item>.*)")
_WENT_ON = re.compile(r"##### warm-up of .* failed, the fit goes on cold")
_NOT_RUN = re.compile(r"##### three failures in a row: this bundle stops, (?P<count>\d+) of its items are not run")
_SUMMARY = re.compile(r"##### bundle summary: ok=(?P<ok>\d+) failed=(?P<failed>\d+)")
_SCHEDULER = re.compile(r"slurmstepd\S*: error: .*|srun: error: .*")


class End(Enum):
    """How an item was lost."""

    FAILED = "failed"
    STOPPED = "stopped"
    UNFINISHED = "unfinished"


@dataclass(frozen=True)
class LostItem:
    """An item without success: its coordinates as the log has them, and the last lines it printed."""

    item: str
    end: End
    exit: int | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class TaskLog:
    """A log read whole. ``ok`` and ``failed`` are the last summary's, None where it has none.

    ``not_run`` items were given up after three failures in a row. ``scheduler`` are SLURM's own lines of the last
    attempt, ``outside`` the last lines that belong to no item. Of ``total`` items, 0 where none was begun, ``reached``
    are those that were begun or had their result.
    """

    lost: tuple[LostItem, ...] = ()
    ok: int | None = None
    failed: int | None = None
    not_run: int = 0
    scheduler: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    total: int = 0
    reached: frozenset[str] = frozenset()


def read_task_log(lines: Iterable[str]) -> TaskLog:
    """Read a log in one pass, in bounded memory.

    A task that was requeued goes on in the same log: what became of an item at its last attempt counts. Items side by
    side write theirs one after another, each before its end.
    """
    reader = _Reader()
    for line in lines:
        reader.read(_ANSI.sub("", line.rstrip("\r\n")))
    return reader.log()


@dataclass
class _Reader:
    """How far a log is read: items that are at work, those that are lost, and the lines since the last marker."""

    open: dict[str, None] = field(default_factory=dict)
    lost: dict[str, LostItem] = field(default_factory=dict)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    scheduler: list[str] = field(default_factory=list)
    summary: TaskLog = field(default_factory=TaskLog)
    total: int = 0
    reached: set[str] = field(default_factory=set)

    def read(self, line: str) -> None:
        if not line.startswith("##### "):
            self.lines.append(line)
            if _SCHEDULER.match(line):
                self.scheduler.append(line)
        elif started := _STARTED.fullmatch(line):
            if not self.open:
                self.summary = TaskLog()
            self.open[started["item"]] = None
            self.total = int(started["total"])
            self._begin(started["item"])
        elif skipped := _SKIPPED.fullmatch(line):
            self._begin(skipped["item"])
        elif failed := _FAILED.fullmatch(line):
            self._lose(failed["item"], End.FAILED, int(failed["exit"]))
        elif stopped := _STOPPED.fullmatch(line):
            self._lose(stopped["item"], End.STOPPED, None)
        elif _WENT_ON.fullmatch(line):
            self.lines.clear()  # the warm-up's traceback, which explains nothing that comes later
            self.lines.append(line)
        elif not_run := _NOT_RUN.fullmatch(line):
            self.summary = replace(self.summary, not_run=int(not_run["count"]))
        elif ended := _SUMMARY.fullmatch(line):
            self.summary = replace(self.summary, ok=int(ended["ok"]), failed=int(ended["failed"]))
            self.open.clear()
        else:
            self.lines.append(line)

    def _begin(self, item: str) -> None:
        self.reached.add(item)
        self.lost.pop(item, None)
        self.lines.clear()
        self.scheduler.clear()

    def _lose(self, item: str, end: End, exit: int | None) -> None:
        self.open.pop(item, None)
        self.lost[item] = LostItem(item, end, exit, tuple(self.lines))
        self.lines.clear()

    def log(self) -> TaskLog:
        """What was read; the last item that was begun and never ended is unfinished."""
        last = next(reversed(self.open), None)
        unfinished = [LostItem(last, End.UNFINISHED, None, tuple(self.lines))] if last is not None else []
        return replace(
            self.summary,
            lost=(*self.lost.values(), *unfinished),
            scheduler=tuple(self.scheduler),
            outside=tuple(self.lines),
            total=self.total,
            reached=frozenset(self.reached),
        )


@dataclass(frozen=True)
class Raised:
    """An exception in a log: its last lines, ``Type: message``, the frame it came from, and the traceback.

    ``chained`` says that it was raised because of the exception before it.
    """

    text: str
    frame: str
    traceback: tuple[str, ...]
    chained: bool = False

    @property
    def kind(self) -> str:
        """The exception's class."""
        return self.text.partition(":")[0]


_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_HEAD = "Traceback (most recent call last):"
_CHAINS = ("direct cause of the following exception", "During handling of the above exception")
_LONGEST_MESSAGE = 6


def exceptions(lines: Iterable[str]) -> Iterator[Raised]:
    """The exceptions whose tracebacks stand in ``lines``, in order. A process's prefix, ``(pid=7)``, is cut off."""
    prefix, frame, chained = "", "", False
    block: list[str] = []  # the traceback so far; empty outside of one
    message: list[str] = []
    for line in [*lines, _HEAD]:
        begins = line.endswith(_HEAD)
        text = line[len(prefix) :] if line.startswith(prefix) else line
        if message and (begins or not text.strip() or len(message) == _LONGEST_MESSAGE):
            yield Raised("\n".join(message), frame, (*block, *message), chained)
            block, message, chained = [], [], False
        if begins:
            prefix, block, frame = line[: -len(_HEAD)], [_HEAD], ""
        elif block and not message and (text.startswith(" ") or not text.strip()):
            block.append(text)
            match = _FRAME.match(text)
            frame = f"{match['file']}:{match['line']} in {match['function']}" if match else frame
        elif block:
            message.append(text)
        else:
            chained = chained or any(chain in text for chain in _CHAINS)
