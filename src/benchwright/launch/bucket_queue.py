"""A launch's queue in a bucket: its bundles as task files, and the markers that say what became of each.

Below the run's address, ``<store>/<benchmark>``::

    output/data/<method>/<task>/<repeat>_<fold>/results.pkl    the results of all launches
    logs/<launch>/<bundle>_<item>.log                          an item's output
    queue/<launch>/launch.json          the launch; written last, so that a queue without it is none
    queue/<launch>/batch/<name>.tar.gz  the job batches
    queue/<launch>/tasks/<bundle>.json  a bundle, in a job file's format
    queue/<launch>/leases/<bundle>.json who works on it
    queue/<launch>/items/<bundle>_<item>.json   an item whose result is there
    queue/<launch>/done/<bundle>.json, failed/<bundle>.json    a bundle that has ended; written last
    queue/<launch>/closed.json          nobody may take a bundle any more

A bundle ends once: both markers are written only where none is, by whoever holds its lease.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem, usage_error
from benchwright.files import read_json
from benchwright.objects import Conflict, ObjectInfo, ObjectStore

_LAUNCH = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""SkyPilot's rule for names of jobs, and a key of any store."""
_BUNDLE = re.compile(r"[0-9]{5,}")
DATA = "output/data"
LEASE_SECONDS = 300.0


@dataclass(frozen=True)
class Standing:
    """How far a launch is: its bundles by marker. ``closed`` queues are left alone by every worker."""

    launch: str
    bundles: int
    done: frozenset[str]
    failed: frozenset[str]
    closed: bool

    @property
    def drained(self) -> bool:
        """Whether nobody will run anything of it any more, by its own markers."""
        return self.closed or len(self.done | self.failed) >= self.bundles


class BucketQueue:
    """One launch's queue; ``store`` is opened at the run's address."""

    def __init__(self, store: ObjectStore, launch: str) -> None:
        self.store = store
        self.launch = check_launch(launch)

    @property
    def url(self) -> str:
        """The queue's address, fit to be printed."""
        return f"{self.store.url}/{self._key('')[:-1]}"

    def key(self, folder: str, name: str) -> str:
        """The key of one of the queue's objects."""
        return self._key(f"{folder}/{name}")

    def log_key(self, bundle: str, item: int) -> str:
        """The key of an item's log; items are counted from 0."""
        return f"logs/{self.launch}/{bundle}_{item}.log"

    def publish(
        self, tasks: Sequence[Mapping[str, Any]], batches: Mapping[str, Path], facts: Mapping[str, Any]
    ) -> None:
        """Write batches and task files, and then the launch itself, which makes the queue one.

        Raises:
            Failure: there is such a launch already (exit 5), and as the store does.
        """
        for name, archive in batches.items():
            self.store.put(self.key("batch", f"{name}.tar.gz"), archive)
        for number, task in enumerate(tasks):
            self.store.put(self.key("tasks", f"{bundle_name(number)}.json"), _bytes(task))
        content = {"launch": self.launch, "bundles": len(tasks), "lease_seconds": LEASE_SECONDS, **facts}
        self.store.put(self._key("launch.json"), _bytes(content), if_absent=True)

    def facts(self) -> dict[str, Any]:
        """What the launch says of itself.

        Raises:
            Failure: there is no such launch (code ``no-launch``, exit 2), or its record is damaged (exit 1).
        """
        said = self.read(self._key("launch.json"))
        if said is None:
            raise usage_error(self.url, "no launch", "a queue that setup has written", code="no-launch")
        content = said[1]
        bundles, lease = content.get("bundles"), content.get("lease_seconds")
        if not isinstance(bundles, int) or not isinstance(lease, (int, float)) or not lease > 0:
            problem = Problem("bad-launch", self.url, "a damaged launch.json", "what setup wrote", "run setup again")
            raise Failure(problem)
        return content

    def read(self, key: str) -> tuple[ObjectInfo, dict[str, Any]] | None:
        """A small JSON object and its version; None where there is none."""
        with tempfile.TemporaryDirectory(prefix="bw-object-") as folder:
            path = Path(folder) / "object.json"
            try:
                info = self.store.get(key, path)
            except Failure as failure:
                if failure.problems[0].code == "no-object":
                    return None
                raise
            content = read_json(path)
        if not isinstance(content, dict):
            raise Failure(Problem("bad-object", f"{self.store.url}/{key}", "no JSON object", "what was written there"))
        return info, content

    def names(self, folder: str) -> set[str]:
        """The names of the objects in one of the queue's folders, without their ending."""
        start = self.key(folder, "")
        return {info.key.removeprefix(start).removesuffix(".json") for info in self.store.list(start)}

    def bundles_of(self, facts: Mapping[str, Any]) -> list[str]:
        """Every bundle's name, in order."""
        return [bundle_name(number) for number in range(facts["bundles"])]

    def mark(self, folder: str, name: str, content: Mapping[str, Any]) -> bool:
        """Write a marker where none is; whether this call wrote it."""
        try:
            self.store.put(self.key(folder, f"{name}.json"), _bytes(content), if_absent=True)
        except Conflict:
            return False
        return True

    def is_marked(self, folder: str, name: str) -> bool:
        """Whether a marker is there, by asking for it: a listing may lag behind."""
        return self.store.head(self.key(folder, f"{name}.json")) is not None

    def has_ended(self, bundle: str) -> bool:
        """Whether a bundle has either of its closing markers."""
        return self.is_marked("done", bundle) or self.is_marked("failed", bundle)

    @property
    def closed(self) -> bool:
        """Whether nobody may take a bundle any more."""
        return self.store.head(self._key("closed.json")) is not None

    def close(self, why: str) -> None:
        """Let nobody take a bundle any more; closing twice is no error."""
        try:
            self.store.put(self._key("closed.json"), _bytes({"why": why}), if_absent=True)
        except Conflict:
            return

    def standing(self) -> Standing:
        """How far the launch is.

        Raises:
            Failure: as ``facts`` does.
        """
        bundles = self.facts()["bundles"]
        done, failed = self.names("done"), self.names("failed")
        return Standing(self.launch, bundles, frozenset(done), frozenset(failed), self.closed)

    def failures(self) -> Iterator[dict[str, Any]]:
        """The failed items of every bundle that ended with some: coordinates, exit, reason, log's key."""
        for bundle in sorted(self.names("failed")):
            said = self.read(self.key("failed", f"{bundle}.json"))
            for item in said[1].get("items", []) if said else []:
                if isinstance(item, dict):
                    yield {"bundle": bundle, **item}

    def _key(self, name: str) -> str:
        return f"queue/{self.launch}/{name}"


def launches(store: ObjectStore) -> list[str]:
    """The launches of a run that have been written whole, by name."""
    found = (re.fullmatch(r"queue/([^/]+)/launch\.json", info.key) for info in store.list("queue/"))
    return sorted(match[1] for match in found if match and _LAUNCH.fullmatch(match[1]))


def check_launch(launch: str) -> str:
    """The launch's name itself, if it is one.

    Raises:
        Failure: it is none (exit 2).
    """
    if not _LAUNCH.fullmatch(launch):
        raise usage_error("launch", repr(launch), "lower-case letters, digits and '-', at most 63 characters")
    return launch


def bundle_name(number: int) -> str:
    """A bundle's name in keys, which sort as the numbers do."""
    return f"{number:05d}"


def _bytes(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()
