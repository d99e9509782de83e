"""How a launch on SkyPilot stands: its markers, its jobs, and how long nothing of it has moved.

Workers renew their leases five times in a lease time. Where no lease changes for longer than that, by the clock of
whoever looks, nobody works on the bundles that are left, or nobody can say so to the bucket.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchwright.launch.bucket_queue import Standing
from benchwright.launch.sky_jobs import NoSky, SkyJob
from benchwright.node.lengths import length


@dataclass(frozen=True)
class Quiet:
    """How long no marker was written and no lease was taken or renewed, in seconds.

    ``seen`` is what all watchers of a log folder saw, one after another, ``waited`` what this one saw, and ``patience``
    how long it waits where nobody says of a job that it is at work.
    """

    seen: float
    waited: float
    patience: float


@dataclass(frozen=True)
class View:
    """One look at a launch; the jobs were asked for before the markers, so that no end is missed between the two.

    ``begun`` says that a bundle was ever taken.
    """

    standing: Standing
    jobs: list[SkyJob] | NoSky
    begun: bool
    quiet: Quiet

    @property
    def verdict(self) -> str:
        """What ends the watch; empty while it goes on."""
        if not self.standing.left:
            return "DONE"
        if self.standing.closed:
            return "CLOSED"
        if isinstance(self.jobs, list) and self.jobs and not self._at_work:
            return "WORKERS GONE"
        if not self._at_work and self._patience_left < 0:
            return "SILENT"
        return ""

    @property
    def ending(self) -> str:
        """The verdict in a sentence."""
        standing = self.standing
        left, failed = standing.left, len(standing.failed)
        match self.verdict:
            case "DONE":
                return f"{failed} bundles with failed items" if failed else "every bundle is done"
            case "CLOSED":
                return f"the queue was closed with {left} bundles left"
            case "WORKERS GONE":
                return f"{left} bundles have not ended and no job is at work; setup again launches what is missing"
            case _:
                still = length(self.quiet.waited)
                found = "no lease was renewed" if self.begun else "none was taken"
                return f"{left} bundles have not ended, and for {still} {found}; {self._workers}; look at {self._where}"

    @property
    def line(self) -> str:
        """The look for people."""
        standing = self.standing
        counts = f"{len(standing.done)} done, {len(standing.failed)} failed, {standing.left} left"
        percent = -(-100 * standing.left // standing.bundles)  # rounded up: 0 is said of none left
        head = f"{percent}% left: {counts} of {standing.bundles} bundles"
        return "; ".join([head, self._workers, *self.notes()])

    def notes(self) -> Iterator[str]:
        """Clauses that are said as long as they hold."""
        if self.verdict:
            return
        silent = self.quiet.seen > self.standing.lease_seconds
        if not self.begun:
            yield "no bundle was taken yet"
        elif silent:
            yield f"STALLED: no lease was renewed for {length(self.quiet.seen)}; look at {self._where}"
        if silent and not self._at_work:
            yield f"waiting until {time.strftime('%H:%M', time.localtime(time.time() + self._patience_left))}"

    def to_dict(self) -> dict[str, Any]:
        """The look as JSON data."""
        jobs = None if isinstance(self.jobs, NoSky) else [vars(job) for job in self.jobs]
        return {
            "event": "progress",
            "launch": self.standing.launch,
            "bundles": self.standing.bundles,
            "done": len(self.standing.done),
            "failed": len(self.standing.failed),
            "left": self.standing.left,
            "jobs": jobs,
            "jobs_unknown": self.jobs.why if isinstance(self.jobs, NoSky) else None,
            "notes": list(self.notes()),
        }

    @property
    def _patience_left(self) -> float:
        return max(self.quiet.patience, self.standing.lease_seconds) - self.quiet.waited

    @property
    def _at_work(self) -> list[SkyJob]:
        return [] if isinstance(self.jobs, NoSky) else [job for job in self.jobs if job.at_work]

    @property
    def _workers(self) -> str:
        if isinstance(self.jobs, NoSky):
            return f"workers unknown: {self.jobs.why}"
        if not self.jobs:
            return f"no job called {self.standing.launch} is listed yet"
        counts = Counter(job.status for job in self.jobs)
        return "jobs: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))

    @property
    def _where(self) -> str:
        """What says more of the workers."""
        running = [job.id for job in self._at_work if job.status == "RUNNING"]
        if running:
            return f"sky jobs logs {running[0]}"
        return "sky jobs queue" if isinstance(self.jobs, list) else "sky jobs queue, where it answers"
