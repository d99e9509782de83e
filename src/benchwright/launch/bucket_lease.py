"""Leases on bundles: conditional writes say who works, and a worker that falls silent loses its bundle.

No two machines' clocks are compared. A holder renews its lease, which gives it another version; whoever sees the same
version for a whole lease time by its own clock takes it over. A holder that could not renew for that long may have lost
it: it writes nothing until a renewal has gone through, which proves that nobody took it meanwhile. Should it be held up
between that look and its write, the write's own condition decides.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchwright.contract import Failure
from benchwright.launch.bucket_queue import BucketQueue
from benchwright.objects import Conflict

_RENEWALS = 5
"""In a lease time: four may fail before the lease is lost."""
FREE = "free"
HELD = "held"


@dataclass
class Lease:
    """A lease that this process holds; ``lost`` once it is known to be someone else's.

    ``losses`` counts the workers in a row that were lost on this bundle without finishing an item.
    """

    queue: BucketQueue
    bundle: str
    worker: str
    seconds: float
    etag: str
    since: float
    losses: int = 0
    lost: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def holds(self) -> bool:
        """Whether nobody else can have it yet."""
        return not self.lost and _now() - self.since < self.seconds

    def secure(self) -> bool:
        """Whether it is this process's now; one whose time is up is renewed for it."""
        for _ in range(2):  # the first renewal may itself have taken longer than a lease lasts
            if not self.holds:
                self.renew()
        return self.holds

    def renew(self) -> None:
        """Renew it. A store that does not answer costs nothing but the time."""
        with self._lock:
            if self.lost:
                return
            before = _now()
            try:
                self.etag = _write(self.queue, self.bundle, HELD, self.worker, self.losses, if_match=self.etag)
                self.since = before
            except Conflict:
                self.lost = True
            except Failure:
                return

    def note_progress(self) -> None:
        """An item has ended well: whoever takes over after this worker begins to count anew."""
        self.losses = 0

    def release(self) -> None:
        """Give it back, so that the next worker need not wait; it may be someone else's already."""
        with self._lock:
            if self.lost:
                return
            self.lost = True
            try:
                _write(self.queue, self.bundle, FREE, self.worker, self.losses, if_match=self.etag)
            except Failure:
                return


class Leases:
    """What one worker knows of the leases of a queue."""

    def __init__(self, queue: BucketQueue, worker: str, seconds: float) -> None:
        self._queue = queue
        self._worker = worker
        self._seconds = seconds
        self._seen: dict[str, tuple[str, float]] = {}
        self.alive: set[str] = set()
        """Bundles whose lease was seen to be renewed."""

    def take(self, bundle: str) -> Lease | None:
        """The lease on a bundle; None while someone else has it or may have it."""
        before = _now()
        said = self._read(bundle)
        if said is None:
            return self._claim(bundle, before, 0, if_absent=True)
        etag, content = said
        counted = content.get("losses")
        losses = counted if isinstance(counted, int) else 0
        if content.get("state") == FREE:
            return self._claim(bundle, before, losses, if_match=etag)
        known, since = self._seen.setdefault(bundle, (etag, before))
        if known != etag:
            self._seen[bundle] = (etag, before)
            self.alive.add(bundle)
            return None
        if before - since <= self._seconds:
            return None
        return self._claim(bundle, before, losses + 1, if_match=etag)

    def _read(self, bundle: str) -> tuple[str, dict[str, Any]] | None:
        """Version and content of a lease; one that cannot be read may be held, and lasts as long as it stays so."""
        key = self._queue.key("leases", f"{bundle}.json")
        try:
            said = self._queue.read(key)
        except Failure as failure:
            if failure.problems[0].code != "bad-object":
                raise
            info = self._queue.store.head(key)
            return None if info is None else (info.etag, {})
        return None if said is None else (said[0].etag, said[1])

    def _claim(self, bundle: str, before: float, losses: int, **condition: Any) -> Lease | None:
        try:
            etag = _write(self._queue, bundle, HELD, self._worker, losses, **condition)
        except Conflict:
            return None
        self._seen.pop(bundle, None)
        self.alive.discard(bundle)
        return Lease(self._queue, bundle, self._worker, self._seconds, etag, before, losses)


class Heartbeat:
    """Renews a lease in a thread of its own; where it is lost, ``on_loss`` is called once."""

    def __init__(
        self, lease: Lease, on_loss: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM)
    ) -> None:
        self._lease = lease
        self._on_loss = on_loss
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._end.wait(self._lease.seconds / _RENEWALS):
            self._lease.renew()
            if self._lease.lost:
                self._on_loss()
                return


def _now() -> float:
    """Seconds on a clock that nobody sets, and that goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _write(queue: BucketQueue, bundle: str, state: str, worker: str, losses: int, **condition: Any) -> str:
    """Write a lease; its version. No two have the same content, since that is what some stores call a version by."""
    content = {"state": state, "worker": worker, "losses": losses, "token": uuid.uuid4().hex}
    return queue.store.put(queue.key("leases", f"{bundle}.json"), json.dumps(content).encode(), **condition).etag
