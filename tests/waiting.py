"""Other processes: waited for with patience, and measured by their own work, since a busy machine is no failure."""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Callable, Iterable
from pathlib import Path

PATIENCE = 120
"""Seconds."""


def wait_until(
    done: Callable[[], object], *, pause: float = 0.05, seconds: float = PATIENCE, shown: Callable[[], object] = str
) -> None:
    """Wait until something holds; where it does not in time, fail and show what is there instead."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"not within {seconds} s\n{shown()}"
        time.sleep(pause)


def is_alive(number: int) -> bool:
    """Whether a process is there and no mere remnant that waits for its parent."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_ends(numbers: Iterable[int]) -> None:
    """Wait until none of the processes is alive."""
    left = set(numbers)
    wait_until(
        lambda: not any(map(is_alive, left)), pause=0.01, shown=lambda: f"alive: {sorted(filter(is_alive, left))}"
    )


def children_of(process: int) -> list[int]:
    """The processes that a process has started, from any of its threads."""
    children = ""
    for thread in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            children += (thread / "children").read_text()
    return [int(child) for child in children.split()]


def text_of(path: Path) -> str:
    """What a file says, and nothing where its writer has not begun."""
    return path.read_text() if path.exists() else ""


def work_of_children() -> float:
    """The processor time of all children so far that have ended, in seconds: what of a duration is their own."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
