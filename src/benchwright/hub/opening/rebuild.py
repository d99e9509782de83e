"""The registry, read from the Hub again: pull requests by us with result files and our marker in the body."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Failures, Problem
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
from benchwright.hub.refusals import Forbidden, Gated
from benchwright.hub.registry import Record, Registry, check_addresses

_REPO = re.compile(rb'"repo": ?"([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)"')
_URL = re.compile(rb'"url": ?"(https?://[^"\\\s]+)"')
_MOST_BYTES = 2**28


@dataclass(frozen=True)
class Rebuilt:
    """The records that were found, and what could not be looked at; ``exit`` is what that amounts to."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...] = ()
    exit: Exit = Exit.DONE

    @property
    def whole(self) -> bool:
        """Whether another run would find no more; until then a registry is better left as it is."""
        return self.exit < Exit.REMOTE


def rebuild(
    boards: Boards,
    author: str,
    models: Iterable[str],
    done: Callable[[int, int], None] = lambda number, of: None,
    *,
    known: Sequence[Record] = (),
) -> Rebuilt:
    """The records of an author's pull requests of ``models``, and of all models that have one on a board.

    Those of ``known`` stay whose models cannot be looked at. A board behind a gate is a remark: whoever asks again does
    not pass it either.
    """
    failures, gates = Failures(), list[Problem]()
    names = {one.lower(): one for one in models}
    for dataset in official_benchmarks(boards.hub):
        with failures.collected():
            try:
                names |= {one.lower(): one for one in _on_boards(boards, dataset)}
            except Gated as gate:
                gates += gate.problems
    found: dict[tuple[str, int | None], Record] = {}
    untold = set(names)
    for number, (key, name) in enumerate(sorted(names.items())):
        done(number, len(names))
        with failures.collected():
            found |= {(one.repo, one.num): one for one in _records(boards.hub, name, author)}
            untold.remove(key)
    kept = [one for one in known if one.repo.lower() in untold and (one.repo, one.num) not in found]
    records = (*found.values(), *kept)
    try:
        failures.settle()
    except Failure as failure:
        return Rebuilt(records, (*failure.problems, *gates), failure.exit)
    return Rebuilt(records, tuple(gates))


def records_in(path: Path) -> tuple[Record, ...]:
    """The records of a registry; none of one that cannot be read."""
    try:
        return Registry.load(path).records
    except Failure:
        return ()


def models_in(path: Path, endpoint: str) -> frozenset[str]:
    """The models that a registry names, and those that were put aside, however damaged these are.

    A model that one rebuild could not look at is named by what it put aside alone.

    Raises:
        Failure: the registry is that of another Hub (`check_addresses`).
    """
    content = _content(path) or b""
    check_addresses(path, [match.decode() for match in _URL.findall(content)], endpoint)
    every = [content, *(held for aside in _asides(path) if (held := _content(aside)) is not None)]
    return frozenset(match.decode() for held in every for match in _REPO.findall(held))


def put_aside(path: Path) -> Path | None:
    """Keep what a registry's file holds under a name that is free; None where there is no file."""
    content = _content(path)
    if content is None:
        return None
    taken = _asides(path)
    aside = next(one for one in _names_aside(path) if one not in taken)
    write_bytes(aside, content)
    return aside


def _names_aside(path: Path) -> Iterator[Path]:
    yield path.with_name(f"{path.name}.before-rebuild")
    for number in itertools.count(2):
        yield path.with_name(f"{path.name}.before-rebuild-{number}")


def _asides(path: Path) -> list[Path]:
    """What was put aside before, the oldest first."""
    return list(itertools.takewhile(Path.exists, _names_aside(path)))


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path, limit=_MOST_BYTES)
    except FileNotFoundError:
        return None


def _on_boards(boards: Boards, dataset: str) -> Iterator[str]:
    """The models that a benchmark's boards show a pull request of."""
    benchmark = boards.benchmark(dataset)
    for task in benchmark.tasks:
        rows = boards.board(benchmark.dataset, task).rows
        yield from (row.model for row in rows if row.pull_request is not None)


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
