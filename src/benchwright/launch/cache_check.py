"""The cache check: which items have a whole result, in one walk of the results tree.

Every file is looked at by its ends. It is also read in full once, as an evaluation reads it, so that what set-up calls
done is what an evaluation can use; then it is remembered by size, modification time and inode, and its ``stat`` is
enough. Reading has a time budget a check, so that hundreds of thousands of results from elsewhere cost some seconds
each time until all are known, and not minutes once.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from benchwright.arena import Item
from benchwright.contract import Exit, Failure, Problem, some
from benchwright.files import RunPaths
from benchwright.files.run_paths import RESULT_NAME
from benchwright.forks import in_order
from benchwright.launch.checked_results import Memory, remembered
from benchwright.node import set_aside
from benchwright.raw import Found, RawFile, check_file, find_results, load_result

_SECONDS_FOR_READING = 0.5
"""Of each process: two read 4,000 results of 10 KB in that time."""
_FILES_BETWEEN_REPORTS = 500
_UNREADABLE, _GONE = "unreadable", "missing"
_READABLE = "have it made readable for you, or wait for its disk; then run setup again"
_IN_THE_WAY = {
    **dict.fromkeys(("link", "not-a-file"), "put what it points to in its place, or remove it; then run setup again"),
    _UNREADABLE: _READABLE,
}
"""What the walk may find where a result belongs, and what to do then."""


@dataclass(frozen=True)
class CacheState:
    """What the results tree holds of a plan. ``damaged`` items count as missing.

    ``by_ends`` is how many of the done ones were looked at by their ends alone, ``on_disk`` how many results the whole
    tree holds, those of other plans included.
    """

    done: frozenset[Item]
    damaged: frozenset[Item]
    problems: tuple[Problem, ...]
    by_ends: int = 0
    on_disk: int = 0


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Python's collector is off: it would walk hundreds of thousands of records again and again, and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_without_collections()
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

    Raises:
        Failure: links where results of the plan belong (exit 5); what of the plan cannot be read (exit 3): it may be
            whole, so it is neither done nor moved.
    """
    found = _walk(paths.data)
    _refuse_what_is_in_the_way(paths.data, found.problems, wanted)
    by_place = {(item.experiment, item.task_key, item.repeat, item.fold): item for item in wanted}
    damaged, unreadable, problems, by_ends = [], [], list(found.problems), 0
    with remembered(paths.checked_results) as memory:
        done, unknown = _split(found.files, by_place, memory)
        look = _Look(time.monotonic() + _SECONDS_FOR_READING)
        with contextlib.closing(in_order(look, unknown, chunk=_FILES_BETWEEN_REPORTS)) as looks:
            for count, ((file, item), seen) in enumerate(zip(unknown, looks, strict=True)):
                if count % _FILES_BETWEEN_REPORTS == 0:
                    report(len(found.files) - len(unknown) + count, len(found.files))
                if isinstance(seen, _Seen):
                    done.add(item)
                    by_ends += seen is _Seen.BY_ENDS
                    if seen is _Seen.IN_FULL:
                        memory.learn(file)
                elif seen.code == _UNREADABLE:
                    unreadable.append(seen)
                elif seen.code != _GONE:
                    damaged.append((item, file, seen))
    if unreadable:
        raise Failure([replace(problem, fix=_READABLE) for problem in unreadable], exit=Exit.ENVIRONMENT)
    problems += [_put_aside(file, problem) for _, file, problem in damaged]
    strangers = [file for file in found.files if file.method not in experiments or file.task_key not in tasks]
    if strangers:
        problems.append(_foreign(paths, strangers))
    on_disk = len(found.files) - len(damaged)
    return CacheState(frozenset(done), frozenset(item for item, *_ in damaged), tuple(problems), by_ends, on_disk)


def _split(
    files: Iterable[RawFile], by_place: Mapping[tuple[str, str, int, int], Item], memory: Memory
) -> tuple[set[Item], list[tuple[RawFile, Item]]]:
    """The items whose files are remembered, and the files to look at with their items."""
    done, unknown = set(), []
    for file in files:
        known = memory.knows(file)
        item = by_place.get((file.method, file.task_key, file.repeat, file.fold))
        if item is None:
            continue
        if known:
            done.add(item)
        else:
            unknown.append((file, item))
    return done, unknown


class _Seen(Enum):
    """What of a whole file was looked at."""

    BY_ENDS = 1
    IN_FULL = 2


@dataclass(frozen=True)
class _Look:
    """The look at one file: what is wrong with it, or how it was seen. After ``latest`` the ends have to do.

    ``latest`` is on the monotonic clock, which all processes share.
    """

    latest: float

    def __call__(self, unknown: tuple[RawFile, Item]) -> Problem | _Seen:
        file, item = unknown
        problem = check_file(file.place)
        if problem or time.monotonic() >= self.latest:
            return problem or _Seen.BY_ENDS
        return _unusable(file, item) or _Seen.IN_FULL


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
    expected = f"one of {item.label()}"
    return Problem("misplaced-result", file.place, f"a result of {found}", expected, "let this item run again")


def _walk(data: Path) -> Found:
    """What the tree holds; an empty or missing one is where every run begins, and no problem."""
    if not data.is_dir():
        return Found([], [])
    found = find_results(data)
    return Found(found.files, [problem for problem in found.problems if problem.code != "no-results"])


def _put_aside(file: RawFile, problem: Problem) -> Problem:
    """Move a damaged result out of the way; the problem as the user should read it."""
    try:
        where = f"moved to {set_aside(file.path).name}, this item runs again"
    except OSError as error:
        where = f"it cannot be moved aside ({error.strerror}); remove it, or its item fails"
    return Problem("damaged-result", str(file.path), problem.found, problem.expected, where)


def _refuse_what_is_in_the_way(data: Path, problems: Iterable[Problem], wanted: Iterable[Item]) -> None:
    """Refuse links where results of this plan belong, and what cannot be read: nobody knows what is behind it.

    Set-up and evaluation do not follow links, a run would.

    Raises:
        Failure: all of that: exit 5 where there is a link, and otherwise 3.
    """
    strange = {problem.where: problem for problem in problems if problem.code in _IN_THE_WAY}
    if not strange:
        return
    places = {str(data)}
    for item in wanted:
        task = f"{data}/{item.experiment}/{item.task_key}"
        split = f"{task}/{item.repeat}_{item.fold}"
        places.update((f"{data}/{item.experiment}", task, split, f"{split}/{RESULT_NAME}"))
    in_the_way = [
        replace(problem, fix=_IN_THE_WAY[problem.code]) for where, problem in strange.items() if where in places
    ]
    if in_the_way:
        closed = all(problem.code == _UNREADABLE for problem in in_the_way)
        raise Failure(in_the_way, exit=Exit.ENVIRONMENT if closed else Exit.REFUSED)


def _foreign(paths: RunPaths, files: list[RawFile]) -> Problem:
    places = sorted({f"{file.method}/{file.task_key}" for file in files})
    return Problem(
        "foreign-results",
        str(paths.data),
        f"{len(files)} results that no plan of {paths.benchmark!r} knows: {some(places)}",
        "results of this benchmark's experiments on its tasks",
        "another benchmark's? give this one a benchmark_name of its own, or move those results away",
    )
