"""A bucket's results and logs brought into the workspace: what is missing or differs here, and nothing is deleted.

What has been compared once is remembered by the version in the bucket and by the file's own size and times, so that the
next mirroring asks for nothing but a listing and what is new.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem
from benchwright.files import digest, inside, read_json, write_json
from benchwright.launch.bucket_queue import DATA
from benchwright.node.job_file import RESULT_NAME
from benchwright.objects import ObjectInfo, ObjectStore

_AT_ONCE = 8
_RESULT = re.compile(rf"{DATA}/[^/]+/[^/]+/[0-9]+_[0-9]+/{re.escape(RESULT_NAME)}")

_LOG = re.compile(r"logs/(?P<launch>[a-z0-9][a-z0-9-]*)/(?P<bundle>[0-9]{5,})\.(?P<kind>log|events\.jsonl)")


@dataclass(frozen=True)
class Mirrored:
    """What a mirroring did: results fetched, and those that were here already."""

    fetched: int
    there: int
    problems: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """The figures as a note."""
        return f"{self.fetched} results fetched from the bucket, {self.there} were here"


def mirror_results(
    store: ObjectStore,
    data: Path,
    *,
    memory: Path,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> Mirrored:
    """Bring a run's results below ``data``, each verified; ``store`` is opened at the run's address.

    ``memory`` is the file that remembers what has been compared; one that is lost costs time. A local result that
    differs from the bucket's stays, and is named, since nobody can tell which one is meant.

    Raises:
        Failure: as the store does.
    """
    mirror = _Mirror(store, data, _remembered(memory))
    listed = [info for info in store.list(f"{DATA}/") if _RESULT.fullmatch(info.key)]
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            outcomes = []
            for number, outcome in enumerate(pool.map(mirror.bring, listed)):
                report(number + 1, len(listed))
                outcomes.append(outcome)
    finally:
        write_json(memory, mirror.known)
    problems = tuple(one for one in outcomes if isinstance(one, Problem))
    return Mirrored(outcomes.count(True), outcomes.count(False), problems)


def mirror_logs(store: ObjectStore, logs: Path) -> None:
    """Bring the logs of bundles that lost an item, and all events, below ``logs``, a folder for each launch.

    They have the names of a local run's there. A bundle ends once: what is here already stays.

    Raises:
        Failure: as the store does.
    """
    found = (_LOG.fullmatch(info.key) for info in store.list("logs/"))
    names = {"log": "bundle_{}.log", "events.jsonl": "events-{}.jsonl"}
    missing = [
        (match[0], path)
        for match in found
        if match and not (path := logs / match["launch"] / names[match["kind"]].format(match["bundle"])).exists()
    ]
    for _, path in missing:
        path.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda pair: store.get(*pair), missing))


class _Mirror:
    def __init__(self, store: ObjectStore, data: Path, before: Mapping[str, Any]) -> None:
        self._store = store
        self._data = data
        self._before = before
        self.known: dict[str, list[Any]] = {}

    def bring(self, info: ObjectInfo) -> bool | Problem:
        """Fetch one result unless it is here; whether it was fetched."""
        path = inside(self._data, info.key.removeprefix(f"{DATA}/"))
        if path.exists():
            if self._before.get(info.key) != [info.etag, *_identity(path)] and not self._is_same(info, path):
                found = "another result than the bucket's of the same item"
                fix = "keep the one that is meant; to take the bucket's, move this one away and run this again"
                return Problem("differs-from-bucket", str(path), found, "the same result", fix)
            self.known[info.key] = [info.etag, *_identity(path)]
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        got = self._store.get(info.key, path)
        if got.modified is not None:  # when it was fitted, as far as the bucket knows
            os.utime(path, (got.modified.timestamp(),) * 2)
        self.known[info.key] = [got.etag, *_identity(path)]
        return True

    def _is_same(self, info: ObjectInfo, path: Path) -> bool:
        if path.stat().st_size != info.size:
            return False
        there = self._store.head(info.key)
        return there is not None and there.sha256 in (None, digest(path))


def _identity(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _remembered(memory: Path) -> dict[str, Any]:
    with contextlib.suppress(Failure, OSError):
        content = read_json(memory)
        return content if isinstance(content, dict) else {}
    return {}
