"""A bundle: the items of one array task, run in order, with the log that tells what became of them."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.node.job_file import Item

MOST_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True)
class Bundle:
    """What to run. Without ``log``, lines and the items' output go to standard output.

    ``ray_logs`` is the folder for the Ray logs of failed items.
    """

    number: int
    items: tuple[Item, ...]
    defaults: Mapping[str, Any]
    log: Path | None = None
    ray_logs: Path | None = None


@dataclass
class BundleState:
    """How far a bundle is."""

    bundle: Bundle
    waiting: deque[Item] = field(init=False)
    running: int = 0
    ok: int = 0
    failed: int = 0
    skipped: int = 0
    begun: bool = False
    ended: bool = False
    _failures_in_a_row: int = 0

    def __post_init__(self) -> None:
        self.waiting = deque(self.bundle.items)

    @property
    def left(self) -> int:
        """Items that have not ended."""
        return len(self.bundle.items) - self.ok - self.failed - self.skipped

    def say(self, line: str) -> None:
        """Append a line to the bundle's log. A full disk must not end the run: the line then goes to standard error."""
        if self.bundle.log is None:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            return
        try:
            self.bundle.log.parent.mkdir(parents=True, exist_ok=True)
            with self.bundle.log.open("a", encoding="utf-8", errors="backslashreplace") as log:
                log.write(f"{line}\n")
        except OSError as error:
            sys.stderr.write(f"{self.bundle.log}: {error.strerror}: {line}\n")

    def take(self, part: Path) -> None:
        """Append the output of one item, written beside the log, to it."""
        if self.bundle.log is None:
            return
        # On a full disk the part stays where it is.
        with contextlib.suppress(OSError):
            with part.open("rb") as source, self.bundle.log.open("ab") as log:
                shutil.copyfileobj(source, log)
            part.unlink()

    def note_success(self) -> None:
        """Count an item that ended well."""
        self.ok += 1
        self._failures_in_a_row = 0

    def note_failure(self) -> None:
        """Count a failed item; after three in a row the rest of the bundle is not run."""
        self.failed += 1
        self._failures_in_a_row += 1
        if self._failures_in_a_row == MOST_FAILURES_IN_A_ROW and self.waiting:
            self.say(f"##### three failures in a row: this bundle stops, {len(self.waiting)} of its items are not run")
            self.waiting.clear()

    def say_summary(self) -> None:
        """Write the closing line; items whose result was there count as ok."""
        self.ended = True
        self.say(f"##### bundle summary: ok={self.ok + self.skipped} failed={self.failed}")
