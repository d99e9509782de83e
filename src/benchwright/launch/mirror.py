"""A bucket's results brought into the workspace: what is missing or differs here, and nothing is deleted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Problem
from benchwright.files import digest, inside
from benchwright.files.run_paths import RESULT_NAME
from benchwright.launch.bucket_queue import DATA
from benchwright.objects import ObjectInfo, ObjectStore

_AT_ONCE = 8


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
    store: ObjectStore, data: Path, *, report: Callable[[int, int], None] = lambda _done, _total: None
) -> Mirrored:
    """Bring a run's results below ``data``, each verified; ``store`` is opened at the run's address.

    A local result that differs from the bucket's stays, and is named, since nobody can tell which one is meant.

    Raises:
        Failure: as the store does.
    """
    start = f"{DATA}/"
    listed = [info for info in store.list(start) if info.key.endswith(f"/{RESULT_NAME}")]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        outcomes = []
        for number, outcome in enumerate(pool.map(lambda info: _bring(store, info, data, start), listed)):
            report(number + 1, len(listed))
            outcomes.append(outcome)
    problems = tuple(one for one in outcomes if isinstance(one, Problem))
    return Mirrored(outcomes.count(True), outcomes.count(False), problems)


def _bring(store: ObjectStore, info: ObjectInfo, data: Path, start: str) -> bool | Problem:
    """Fetch one result unless it is here; whether it was fetched."""
    path = inside(data, info.key.removeprefix(start))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        store.get(info.key, path)
        return True
    if path.stat().st_size == info.size:
        there = store.head(info.key)
        if there is not None and there.sha256 in (None, digest(path)):
            return False
    found = "another result than the bucket's of the same item"
    fix = "keep the one that is meant; to take the bucket's, move this one away and run this again"
    return Problem("differs-from-bucket", str(path), found, "the same result", fix)
