"""The event log of a run: one JSON line for each thing that happens, for whoever watches now or later.

Every event has ``event`` and, in the log, ``time`` (seconds since the epoch). ``run-started`` says ``total``,
``parallel``, ``pid`` and ``host``. ``item-started``, ``item-skipped`` (its result was there), ``item-done``,
``item-failed`` and ``item-stopped`` (by a signal to the runner) name ``bundle``, ``experiment``, ``dataset``,
``repeat`` and ``fold``; done and failed ones add ``wall_s`` and ``peak_rss`` (bytes), failed ones ``exit``,
``signal``, ``reason`` and ``log``. ``bundle-ended`` and ``run-ended`` count ``ok``, ``failed``, ``skipped``, ``left``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Event = dict[str, Any]
OnEvent = Callable[[Event], None]


class EventLog:
    """Appends events to a file. A full disk costs the log, never the run: it is said once on standard error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._broken = False

    def __call__(self, event: Event) -> None:
        """Append one event, whole, with the time."""
        if self._broken:
            return
        line = json.dumps({"time": round(time.time(), 3), **event}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                file.write(line.encode())
        except OSError as error:
            self._broken = True
            sys.stderr.write(f"{self.path}: no events any more ({error.strerror})\n")


def read_events(path: Path) -> list[Event]:
    """The events of a log, in order; none where there is no log. A last line that is being written is left out."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


@dataclass(frozen=True)
class RunState:
    """How far a run is, by its events. ``ended`` is false for a run at work and for one that was killed."""

    total: int
    ok: int
    failed: int
    skipped: int
    ended: bool

    @property
    def left(self) -> int:
        """Items that have not ended."""
        return self.total - self.ok - self.failed - self.skipped


def state_of(events: list[Event]) -> RunState:
    """Count a run's events."""
    counts = {"item-done": 0, "item-failed": 0, "item-skipped": 0}
    total, ended = 0, False
    for event in events:
        kind = event["event"]
        if kind in counts:
            counts[kind] += 1
        elif kind == "run-started":
            total = event["total"]
        elif kind == "run-ended":
            ended = True
    return RunState(total, counts["item-done"], counts["item-failed"], counts["item-skipped"], ended)
