"""A launch's queue in a bucket: its bundles as task files, and the markers that say what became of each.

Below the run's address, ``<store>/<benchmark>``::

    output/data/<method>/<task>/<repeat>_<fold>/results.pkl    the results of all launches
    logs/<launch>/<bundle>_<item>.log                          an item's output
    logs/<launch>/<bundle>.log, <bundle>.events.jsonl          a bundle's, where an item was lost; its events
    launches/<launch>.json              a name that is taken: written first, where none is, so that no two stage it
    queue/<launch>/launch.json          the launch; written last, so that a queue without it is none
    queue/<launch>/batch/<name>.tar.gz  the job batches
    queue/<launch>/tasks/<bundle>.json  a bundle, in a job file's format
    queue/<launch>/leases/<bundle>.json who works on it
    queue/<launch>/items/<bundle>_<item>.json   an item whose result is there
    queue/<launch>/done/<bundle>.json, failed/<bundle>.json    a bundle that has ended; written last
    queue/<launch>/closed.json          nobody may take a bundle any more

A bundle ends once: both markers are written only where none is, by whoever holds its lease. What else lies in these
folders is none of ours and counts for nothing.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_json
from benchwright.node import passing_scratch
from benchwright.objects import Conflict, ObjectInfo, ObjectStore

_LAUNCH = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""SkyPilot's rule for names of jobs, and a key of any store."""
_MOST_BUNDLES = 10**7
"""More than any plan has: a number above it is damage."""
_LOOK_IT_UP = "take it from the commands that setup printed"
_ANEW = "run setup again: it says how to close this launch, and writes a new one of what is missing"
DATA = "output/data"
LEASE_SECONDS = 300.0


@dataclass(frozen=True)
class Standing:
    """How far a launch is: its bundles by marker. ``closed`` queues are left alone by every worker.

    A worker at work is silent for ``lease_seconds`` at most.
    """

    launch: str
    bundles: int
    done: frozenset[str]
    failed: frozenset[str]
    closed: bool
    lease_seconds: float

    @property
    def left(self) -> int:
        """Bundles without a marker."""
        return self.bundles - len(self.done | self.failed)

    @property
    def drained(self) -> bool:
        """Whether nobody will run anything of it any more, by its own markers."""
        return self.closed or not self.left


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

    def whole_log_key(self, bundle: str) -> str:
        """The key of the log of a whole bundle."""
        return f"logs/{self.launch}/{bundle}.log"

    def events_key(self, bundle: str) -> str:
        """The key of a bundle's events."""
        return f"logs/{self.launch}/{bundle}.events.jsonl"

    def claim(self) -> bool:
        """Take the name of the launch for a set-up of its own; whether it was free. It is never given back."""
        try:
            self.store.put(f"launches/{self.launch}.json", _bytes({"launch": self.launch}), if_absent=True)
        except Conflict:
            return False
        return True

    def publish(
        self, tasks: Sequence[Mapping[str, Any]], batches: Mapping[str, Path], facts: Mapping[str, Any]
    ) -> None:
        """Write batches and task files, and then the launch itself, which makes the queue one.

        Raises:
            Failure: the name is another set-up's (exit 5), and as the store does.
        """
        if not self.claim():
            expected, fix = "a name that no launch has had", "run setup again"
            raise Failure(Problem("launch-taken", self.url, "taken", expected, fix), exit=Exit.REFUSED)
        for name, archive in batches.items():
            self.store.put(self.key("batch", f"{name}.tar.gz"), archive)
        for number, task in enumerate(tasks):
            self.store.put(self.key("tasks", f"{bundle_name(number)}.json"), _bytes(task))
        content = {"launch": self.launch, "bundles": len(tasks), "lease_seconds": LEASE_SECONDS, **facts}
        self.store.put(self._key("launch.json"), _bytes(content), if_absent=True)

    @property
    def exists(self) -> bool:
        """Whether there is such a launch, damaged or not."""
        return self.store.head(self._key("launch.json")) is not None

    def facts(self) -> dict[str, Any]:
        """What the launch says of itself.

        Raises:
            Failure: there is no such launch (code ``no-launch``, exit 2), or its record is damaged (exit 1).
        """
        said = self.read(self._key("launch.json"))
        if said is None:
            raise usage_error(self.url, "no launch", "a queue that setup has written", _LOOK_IT_UP, code="no-launch")
        content = said[1]
        bundles, lease = content.get("bundles"), content.get("lease_seconds")
        is_count = isinstance(bundles, int) and 0 <= bundles <= _MOST_BUNDLES
        if not is_count or not isinstance(lease, (int, float)) or not 0 < lease < float("inf"):
            raise Failure(Problem("bad-launch", self.url, "a damaged launch.json", "what setup wrote", _ANEW))
        return content

    def read(self, key: str) -> tuple[ObjectInfo, dict[str, Any]] | None:
        """A small JSON object and its version; None where there is none.

        Raises:
            Failure: what is there is no JSON object (code ``bad-object``, exit 1); as the store does.
        """
        with passing_scratch() as folder:
            path = folder / "object.json"
            try:
                info = self.store.get(key, path)
            except Failure as failure:
                if failure.problems[0].code == "no-object":
                    return None
                raise
            with contextlib.suppress(Failure):
                content = read_json(path)
                if isinstance(content, dict):
                    return info, content
        where = f"{self.store.url}/{key}"
        raise Failure(Problem("bad-object", where, "no JSON object", "what was written there", _ANEW))

    def names(self, folder: str, start: str = "") -> set[str]:
        """The names of the JSON objects in one of the queue's folders that begin with ``start``, without ending."""
        return set(self.versions(folder, start))

    def versions(self, folder: str, start: str = "") -> dict[str, str]:
        """The same with the version of each."""
        place = self.key(folder, "")
        listed = ((info.key.removeprefix(place), info.etag) for info in self.store.list(f"{place}{start}"))
        return {name.removesuffix(".json"): etag for name, etag in listed if name.endswith(".json") and "/" not in name}

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
        facts = self.facts()
        bundles = frozenset(self.bundles_of(facts))
        done, failed = bundles & self.names("done"), bundles & self.names("failed")
        return Standing(self.launch, facts["bundles"], done, failed, self.closed, float(facts["lease_seconds"]))

    def failures(self, bundle: str) -> list[dict[str, Any]]:
        """The failed items of a bundle that ended with some: coordinates, exit, reason, log's key.

        Where the marker does not say, there is one without coordinates.
        """
        try:
            said = self.read(self.key("failed", f"{bundle}.json"))
        except Failure as failure:
            if failure.problems[0].code != "bad-object":
                raise
            said = None
        items = said[1].get("items") if said else None
        found = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        reason = str(said[1].get("reason") or "its marker names no item") if said else "its marker cannot be read"
        return [{"bundle": bundle, **item} for item in found or [{"exit": None, "reason": reason, "log": None}]]

    def _key(self, name: str) -> str:
        return f"queue/{self.launch}/{name}"


def taken_names(store: ObjectStore) -> list[str]:
    """The names that launches of a run have taken, sorted; of some, staging may never have come to its end."""
    taken = (re.fullmatch(r"launches/([^/]+)\.json", info.key) for info in store.list("launches/"))
    return sorted(match[1] for match in taken if match and _LAUNCH.fullmatch(match[1]))


def launches(store: ObjectStore) -> list[str]:
    """The launches of a run that have been written whole, by name."""
    return [name for name in taken_names(store) if BucketQueue(store, name).exists]


def check_launch(launch: str) -> str:
    """The launch's name itself, if it is one.

    Raises:
        Failure: it is none (exit 2).
    """
    if not _LAUNCH.fullmatch(launch):
        expected = "lower-case letters, digits and '-', at most 63 characters"
        raise usage_error("launch", repr(launch), expected, _LOOK_IT_UP)
    return launch


def bundle_name(number: int) -> str:
    """A bundle's name in keys, which sort as the numbers do."""
    return f"{number:05d}"


def _bytes(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()
