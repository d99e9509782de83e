"""Progress on stderr: a bar on a terminal, a plain line now and then on a pipe."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from benchwright.contract import Progress

_SECONDS_BETWEEN_LINES = 15.0
_FIRST_LINE_AFTER = 3.0
_ENOUGH_FOR_AN_ESTIMATE = 3


class PlainProgress:
    """One line now and then: done, failed, left and the time to go."""

    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._next_line = self._start + _FIRST_LINE_AFTER
        self._ended_before: int | None = None

    def __call__(self, done: int, total: int, *, failed: int = 0, note: str = "") -> None:
        """Print a line if one is due, and always the last one."""
        now = self._clock()
        if self._ended_before is None:  # what a resumed run finds done at once says nothing of the pace
            self._ended_before = done + failed if done + failed > 1 else 0
        if now < self._next_line and done + failed < total:
            return
        self._next_line = now + _SECONDS_BETWEEN_LINES
        left = total - done - failed
        line = f"{self._label}: {done} done, {failed} failed, {left} left"
        ended = done + failed - self._ended_before
        if left and ended >= _ENOUGH_FOR_AN_ESTIMATE:
            line += f", about {duration((now - self._start) / ended * left)} to go"
        # Nobody may be reading, or the log's disk may be full: that costs the line, never the work.
        with contextlib.suppress(OSError, ValueError):
            print(line + (f" ({note})" if note else ""), file=self._stream, flush=True)


@contextlib.contextmanager
def progress(label: str, stream: TextIO) -> Iterator[Progress]:
    """A callable ``(done, total, *, failed=0, note="")`` that shows how far the work is.

    Packages take such a callable and never print themselves.
    """
    if not stream.isatty():
        yield PlainProgress(label, stream)
        return

    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    # On a narrow terminal the note is what gives way.
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[done]} done, {task.fields[failed]} failed, {task.fields[left]} left"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
    )
    with Bars(*columns, console=Console(file=stream), expand=True) as bar:
        task = bar.add_task(label, total=None, done=0, failed=0, left="?", note="")

        def show(done: int, total: int, *, failed: int = 0, note: str = "") -> None:
            ended = done + failed
            bar.update(task, completed=ended, total=total, done=done, failed=failed, left=total - ended, note=note)

        yield show


def duration(seconds: float) -> str:
    """A length of time as people say it: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
