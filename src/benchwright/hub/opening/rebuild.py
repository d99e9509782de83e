"""The registry, read from the Hub again: pull requests by us with result files and our marker in the body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import read_bytes, write_bytes
from benchwright.hub.benchmarks import official_benchmarks
from benchwright.hub.boards import Boards
from benchwright.hub.client import Hub
from benchwright.hub.declared import files_in_difference
from benchwright.hub.model_repo import RESULTS_FOLDER, ModelRepo, RepoMissing, model_repo
from benchwright.hub.opening.ours import OwnPull, own_pull
from benchwright.hub.opening.recording import record_of
from benchwright.hub.opening.words import marker_in
from benchwright.hub.pull_requests import pull_requests, thread
from benchwright.hub.refusals import Forbidden
from benchwright.hub.registry import Record

_REPO = re.compile(rb'"repo": ?"([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)"')
_MOST_BYTES = 2**28


@dataclass(frozen=True)
class Rebuilt:
    """The records that were found, and what could not be looked at."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...] = ()


def rebuild(
    boards: Boards, author: str, models: Iterable[str], done: Callable[[int, int], None] = lambda number, of: None
) -> Rebuilt:
    """The records of an author's pull requests of ``models``, and of all models that have one on a board."""
    problems: list[Problem] = []
    names = {one.lower(): one for one in models}
    for dataset, task in _boards(boards, problems):
        try:
            rows = boards.board(dataset, task).rows
        except Failure as failure:
            problems += failure.problems
            continue
        names |= {row.model.lower(): row.model for row in rows if row.pull_request is not None}
    found: dict[tuple[str, int | None], Record] = {}
    for number, name in enumerate(sorted(names.values())):
        done(number, len(names))
        try:
            found |= {(one.repo, one.num): one for one in _records(boards.hub, name, author)}
        except Failure as failure:
            problems += failure.problems
    return Rebuilt(tuple(found.values()), tuple(problems))


def models_in(path: Path) -> frozenset[str]:
    """The models that a registry names, however damaged it is; none where there is no file."""
    try:
        return frozenset(match.decode() for match in _REPO.findall(read_bytes(path, limit=_MOST_BYTES)))
    except FileNotFoundError:
        return frozenset()


def put_aside(path: Path) -> Path | None:
    """Keep what a registry's file holds under another name; None where there is no file."""
    try:
        content = read_bytes(path, limit=_MOST_BYTES)
    except FileNotFoundError:
        return None
    aside = path.with_name(f"{path.name}.before-rebuild")
    write_bytes(aside, content)
    return aside


def _boards(boards: Boards, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    for dataset in official_benchmarks(boards.hub):
        try:
            benchmark = boards.benchmark(dataset)
        except Failure as failure:
            problems += failure.problems
            continue
        for task in benchmark.tasks:
            yield benchmark.dataset, task


def _records(hub: Hub, name: str, author: str) -> Iterator[Record]:
    """The records of a model, the oldest pull request first."""
    try:
        model = model_repo(hub, name)
        pulls = pull_requests(hub, model.id)
    except RepoMissing as missing:
        raise Failure(missing.problems, exit=Exit.NO) from None
    except Forbidden as refused:
        if refused.no_discussions:
            return
        raise
    for pull in reversed(pulls):
        if pull.author == author:
            own = _own(hub, model, pull.num)
            if own is not None:
                yield record_of(hub.endpoint, model.id, own)


def _own(hub: Hub, model: ModelRepo, num: int) -> OwnPull | None:
    """A pull request with our marker and result files; of one that is done, by its difference."""
    told = thread(hub, model.id, num, diff=True)
    digits = marker_in(told.body.text) if told.body else None
    if digits is None:
        return None
    if told.pull_request.live:
        own = own_pull(hub, model, told)
    else:
        own = OwnPull(told.pull_request, digits, files_in_difference(told.diff or ""), told.body, told.commits)
    return own if any(path.startswith(f"{RESULTS_FOLDER}/") for path in own.files) else None
