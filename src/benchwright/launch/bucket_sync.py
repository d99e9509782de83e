"""One bundle's way back into the bucket: each result with its log and marker as it is finished, then the whole log."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import digest
from benchwright.launch.bucket_lease import Lease
from benchwright.launch.bucket_queue import DATA
from benchwright.node import Event, EventLog, Item
from benchwright.node.job_file import RESULT_NAME
from benchwright.objects import Conflict

_MOST_OF_A_LOG = 16 * 2**20
"""Bytes: an item that says more than this says the same again and again."""
_OF_ITEMS = {"item-done", "item-skipped", "item-failed"}


class LeaseLost(Exception):
    """The bundle is someone else's by now: what this worker still has of it must not be written."""


class BundleSync:
    """Hears the events of a bundle's run and writes what is finished.

    A result takes the place of what was there when the lease was taken, and of nothing else: a worker that was held up
    so long that another one has done its item cannot write over that one's result.
    """

    def __init__(self, lease: Lease, items: Sequence[Item], output: Path, log: Path) -> None:
        self.failures: list[dict[str, Any]] = []
        self._lease = lease
        self._queue = lease.queue
        self._items = {_place(item.coordinates()): (number, item) for number, item in enumerate(items)}
        self._output = output
        self._log = log
        self._log_start = 0
        self._events = EventLog(output / "events.jsonl")
        self._marked = self._queue.names("items", f"{lease.bundle}_")
        self._before = {number: self._version(item) for number, item in self.left()}

    def __call__(self, event: Event) -> None:
        """Take note of an event.

        Raises:
            LeaseLost: the bundle is another worker's.
            Failure: the store refuses, or does not answer any more.
        """
        kind = event["event"]
        self._note(event)
        if kind == "item-started":
            self._log_start = self._log.stat().st_size if self._log.exists() else 0
        if kind not in _OF_ITEMS:
            return
        number, item = self._items[_place(event)]
        sys.stdout.write(f"##### {kind} {self._lease.bundle}_{number}: {item.label()}\n")
        sys.stdout.flush()
        if not self._lease.secure():
            raise LeaseLost
        self._put_log(number)
        if kind == "item-failed":
            self.failures.append(self._failure(number, item, event))
        else:
            self._put_result(number, item)

    def _note(self, event: Event) -> None:
        """Write an event down as it may leave this machine: without its name and its paths."""
        told = {name: value for name, value in event.items() if name not in ("pid", "host", "log")}
        self._events(told)

    def put_whole_logs(self) -> None:
        """Write what the bundle leaves for whoever looks back: its events, and its log if an item of it is lost.

        Raises:
            Failure: as the store does.
        """
        kept = [(self._events.path, self._queue.events_key(self._lease.bundle))]
        if self.failures:
            kept.append((self._log, self._queue.whole_log_key(self._lease.bundle)))
        for path, key in kept:
            if path.exists():
                self._queue.store.put(key, _end_of(path))

    def left(self) -> list[tuple[int, Item]]:
        """The items without a marker: those of this bundle that have no result of this launch."""
        return [(number, item) for number, item in self._items.values() if self._name(number) not in self._marked]

    def _put_result(self, number: int, item: Item) -> None:
        path, key, before = item.result(self._output), result_key(item), self._before[number]
        sha256 = digest(path)
        condition: dict[str, Any] = {"if_absent": True} if before is None else {"if_match": before}
        try:
            self._queue.store.put(key, path, sha256=sha256, **condition)
        except Conflict:
            # Someone else's result of this item is there, from a worker that was thought lost: it stands.
            sys.stdout.write(f"##### another worker's result stands: {item.label()}\n")
        there = self._queue.store.head(key)
        if there is None or there.sha256 is None:
            found = "no object" if there is None else "an object without a digest"
            raise Failure(
                Problem("not-stored", f"{self._queue.store.url}/{key}", found, "the result", "run the worker again"),
                exit=Exit.REMOTE,
            )
        content = {**item.coordinates(), "sha256": there.sha256, "size": there.size, "worker": self._lease.worker}
        self._queue.mark("items", self._name(number), content)
        self._marked.add(self._name(number))
        self._lease.note_progress()

    def _put_log(self, number: int) -> None:
        if not self._log.exists():
            return
        self._queue.store.put(self._queue.log_key(self._lease.bundle, number), _end_of(self._log, self._log_start))

    def _failure(self, number: int, item: Item, event: Event) -> dict[str, Any]:
        log = self._queue.log_key(self._lease.bundle, number)
        return {**item.coordinates(), "exit": event["exit"], "reason": event["reason"], "log": log}

    def _version(self, item: Item) -> str | None:
        there = self._queue.store.head(result_key(item))
        return None if there is None else there.etag

    def _name(self, number: int) -> str:
        return f"{self._lease.bundle}_{number}"


def _end_of(path: Path, start: int = 0) -> bytes:
    """A log from ``start`` on, or as much of its end as may go into the bucket."""
    with path.open("rb") as file:
        file.seek(max(start, path.stat().st_size - _MOST_OF_A_LOG))
        return file.read(_MOST_OF_A_LOG)


def result_key(item: Item) -> str:
    """Where an item's result is in a bucket."""
    return f"{DATA}/{item.experiment}/{item.task_key}/{item.repeat}_{item.fold}/{RESULT_NAME}"


def _place(coordinates: Mapping[str, Any]) -> tuple[str, str, int, int]:
    return tuple(coordinates[name] for name in ("experiment", "dataset", "repeat", "fold"))  # type: ignore[return-value]
