"""The cache check: which items have a whole result, in one walk of the results tree.

Every file is looked at by its ends. It is also read in full once, as an evaluation reads it, so that what set-up calls
done is what an evaluation can use; then it is remembered by size, modification time and inode, and its ``stat`` is
enough. Reading has a time budget a check, so that hundreds of thousands of results from elsewhere cost some seconds
each time until all are known, and not minutes once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchwright.arena import Item
from benchwright.contract import Failure, Problem
from benchwright.files import RunPaths, write_bytes
from benchwright.node import set_aside
from benchwright.raw import Found, RawFile, check_file, find_results, load_result

_Stamp = tuple[int, int, int]
_NAMED = 3
_SECONDS_FOR_READING = 1.0
_FILES_BETWEEN_REPORTS = 500


@dataclass(frozen=True)
class CacheState:
    """What the results tree holds of a plan. ``damaged`` items count as missing.

    ``by_ends`` is how many of the done ones were looked at by their ends alone.
    """

    done: frozenset[Item]
    damaged: frozenset[Item]
    problems: tuple[Problem, ...]
    by_ends: int = 0


def check_cache(
    paths: RunPaths,
    wanted: Collection[Item],
    *,
    experiments: Collection[str],
    tasks: Collection[str],
    report: Callable[[int, int], None],
) -> CacheState:
    """Find the whole results of ``wanted`` items and move damaged ones aside (``results.pkl.damaged``).

    ``experiments`` and ``tasks`` are the folder names that this benchmark's plans know; results under other names are
    one problem, since they may be another benchmark's. ``report`` is told how many of how many files are looked at.
    """
    found = _walk(paths.data)
    by_place = {(item.experiment, item.task_key, item.repeat, item.fold): item for item in wanted}
    done, damaged, problems, by_ends = set(), set(), list(found.problems), 0
    latest = time.monotonic() + _SECONDS_FOR_READING
    with _remembered(paths.checked_results) as memory:
        for count, file in enumerate(found.files):
            if count % _FILES_BETWEEN_REPORTS == 0:
                report(count, len(found.files))
            known = memory.knows(file)
            item = by_place.get((file.method, file.task_key, file.repeat, file.fold))
            if item is None:
                continue
            problem, read = None, known
            if not known:
                problem = check_file(file.place)
                read = problem is None and time.monotonic() < latest
                if read:
                    problem = _unusable(file, item)
            if problem:
                problems.append(_put_aside(file, problem))
                damaged.add(item)
            else:
                done.add(item)
                if read:
                    memory.learn(file)
                else:
                    by_ends += 1
    strangers = [file for file in found.files if file.method not in experiments or file.task_key not in tasks]
    if strangers:
        problems.append(_foreign(paths, strangers))
    return CacheState(frozenset(done), frozenset(damaged), tuple(problems), by_ends)


def _unusable(file: RawFile, item: Item) -> Problem | None:
    """Why a whole file is no result of its item: an evaluation could not read it, or it is another item's."""
    try:
        result = load_result(file.place)
    except Failure as failure:
        return failure.problems[0]
    place = (item.experiment, item.dataset, item.repeat, item.fold)
    content = (result.framework, result.dataset, result.repeat, result.fold)
    if content == place:
        return None
    found = Item(*content, task_key=item.task_key).label()
    return Problem("misplaced-result", file.place, f"a result of {found}", f"one of {item.label()}")


def _walk(data: Path) -> Found:
    """What the tree holds; an empty or missing one is where every run begins, and no problem."""
    if not data.is_dir():
        return Found([], [])
    found = find_results(data)
    return Found(found.files, [problem for problem in found.problems if problem.code != "no-results"])


class _Memory:
    """The files read before, by their place in the tree: size, modification time and inode."""

    def __init__(self, before: dict[str, _Stamp]) -> None:
        self.before = before
        self.after: dict[str, _Stamp] = {}

    def knows(self, file: RawFile) -> bool:
        """Whether this very file was read before; what is not asked for is forgotten in the end."""
        if self.before.get(_place(file)) != _stamp(file):
            return False
        self.learn(file)
        return True

    def learn(self, file: RawFile) -> None:
        """Remember a file that is whole."""
        self.after[_place(file)] = _stamp(file)


@contextlib.contextmanager
def _remembered(path: Path) -> Iterator[_Memory]:
    """The memory of earlier checks, saved at the end, also of a check that is interrupted."""
    memory = _Memory(_read(path))
    try:
        yield memory
    except BaseException:
        _save(path, memory.before | memory.after, memory.before)
        raise
    _save(path, memory.after, memory.before)


def _read(path: Path) -> dict[str, _Stamp]:
    """The stored memory; a file that is missing or damaged costs a second look at the results and no more."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, _Stamp])
    except (OSError, msgspec.DecodeError):
        return {}


def _save(path: Path, stamps: dict[str, _Stamp], before: dict[str, _Stamp]) -> None:
    if stamps != before:
        write_bytes(path, msgspec.json.encode(stamps))


def _place(file: RawFile) -> str:
    return f"{file.method}/{file.task_key}/{file.repeat}_{file.fold}"


def _stamp(file: RawFile) -> _Stamp:
    return file.size, file.mtime_ns, file.inode


def _put_aside(file: RawFile, problem: Problem) -> Problem:
    """Move a damaged result out of the way; the problem as the user should read it."""
    try:
        where = f"moved to {set_aside(file.path).name}, this item runs again"
    except OSError as error:
        where = f"it cannot be moved aside ({error.strerror}); remove it, or its item fails"
    return Problem("damaged-result", str(file.path), problem.found, problem.expected, where)


def _foreign(paths: RunPaths, files: list[RawFile]) -> Problem:
    places = sorted({f"{file.method}/{file.task_key}" for file in files})
    named = ", ".join(places[:_NAMED]) + (f" and {len(places) - _NAMED} more" if len(places) > _NAMED else "")
    return Problem(
        "foreign-results",
        str(paths.data),
        f"{len(files)} results that no plan of {paths.benchmark!r} knows: {named}",
        "results of this benchmark's experiments on its tasks",
        "another benchmark's? give this one a benchmark_name of its own, or move those results away",
    )
