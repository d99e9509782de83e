"""The memory of a command with all the processes that it starts."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

_INTERVAL_S = 0.02
_PSS = re.compile(r"^Pss: +([0-9]+) kB$", re.MULTILINE)


class TreeWatch:
    """Looks at a process and its descendants fifty times a second while it is entered.

    ``peak`` is the most that they held at one look, in bytes, by Linux' proportional set size: what several of them
    share, as forked processes do, is counted once. Memory that is not theirs but the file cache's counts too as far as
    they have it mapped.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._left = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._left.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._left.wait(_INTERVAL_S):
            self.peak = max(self.peak, _held(self._pid))


def _held(pid: int) -> int:
    """Bytes of a process and all below it; 0 for one that has ended."""
    folder = Path("/proc", str(pid))
    try:
        found = _PSS.search((folder / "smaps_rollup").read_text())
        below = [child for task in folder.glob("task/*/children") for child in task.read_text().split()]
    except OSError:
        return 0
    return 1024 * int(found[1] if found else 0) + sum(_held(int(child)) for child in below)
