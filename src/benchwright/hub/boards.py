"""Leaderboards as the Hub ranks them: each view of a task is read once a run."""

from __future__ import annotations

import functools
import itertools
import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from benchwright.contract import Failure
from benchwright.hub.benchmarks import Benchmark, benchmark
from benchwright.hub.client import Hub, api_path
from benchwright.hub.refusals import unavailable
from benchwright.hub.views import WIDEST, View

Unit = Literal["percent", "fraction", "other"]


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A row: a model with its best result. ``pull_request`` adds the file, None: it is on main."""

    rank: int
    model: str
    author_kind: Literal["org", "user"] | None
    value: Decimal
    filename: str
    verified: bool = False
    pull_request: int | None = None
    notes: str | None = None
    parameters: int | None = None
    source_url: str | None = None


@dataclass(frozen=True)
class Scale:
    """What a board's values look like. ``unit`` None: they do not tell. ``low`` and ``high`` are the extremes."""

    unit: Unit | None
    low: Decimal | None = None
    high: Decimal | None = None

    def fits(self, value: Decimal) -> bool | None:
        """Whether a value looks like one of the board's; None: that is not known.

        In percent 0.627 is none where the least is 30, and may be a fraction where the least is 0.4. Of other units a
        value is none that is ten times as far out as the extremes.
        """
        if self.unit is None or self.low is None or self.high is None:
            return None
        if self.unit == "fraction":
            return 0 <= value <= 1
        if self.unit == "percent":
            fits = min(self.low, Decimal(1)) <= value <= 100
            return None if fits and self.is_ambiguous(value) else fits
        spread = max(abs(self.low), abs(self.high)) * 10
        least = self.low / 10 if self.low > 0 else -spread
        return least <= value <= spread

    def is_ambiguous(self, value: Decimal) -> bool:
        """Whether a value may be a fraction, or percent: the board's other values do not say which it is."""
        return self.unit in (None, "percent") and 0 < abs(value) <= 1


@dataclass(frozen=True)
class Board:
    """A view of a task's leaderboard, ``rows`` as the Hub ranks them.

    ``lower_is_better`` is what the rows say, or what their order shows; None: neither tells.
    """

    dataset: str
    task: str
    view: View
    rows: tuple[BoardRow, ...] = field(repr=False)
    lower_is_better: bool | None

    @functools.cached_property
    def values(self) -> tuple[Decimal, ...]:
        """All values, ascending."""
        return tuple(sorted(row.value for row in self.rows))

    @functools.cached_property
    def _by_model(self) -> Mapping[str, BoardRow]:
        return {row.model.lower(): row for row in reversed(self.rows)}

    def row_of(self, model: str) -> BoardRow | None:
        """The row of a model, None where it has none; ids are compared as the Hub does, without regard to case."""
        return self._by_model.get(model.lower())

    def below(self, value: Decimal) -> int:
        """How many rows have a lower value."""
        return bisect_left(self.values, value)

    def above(self, value: Decimal) -> int:
        """How many rows have a higher value."""
        return len(self.values) - bisect_right(self.values, value)

    def scale(self) -> Scale:
        """The unit that the values look like: fractions up to 1, percent up to 100 with a median above 1, or others."""
        if not self.values:
            return Scale(None)
        low, high, median = self.values[0], self.values[-1], self.values[len(self.values) // 2]
        unit: Unit | None = None
        if low < 0 or high > 100:
            unit = "other"
        elif high <= 1:
            unit = "fraction" if high > 0 else None
        elif median > 1:
            unit = "percent"
        return Scale(unit, low, high)


class Boards:
    """The leaderboards of a Hub, each view asked for once, whoever asks. Safe for many threads."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._benchmarks: dict[str, Benchmark] = {}
        self._read: dict[tuple[str, str, View], Board | Failure] = {}
        self._locks: defaultdict[tuple[str, str, View], threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def benchmark(self, dataset: str) -> Benchmark:
        """The benchmark of a dataset's id; `benchmarks.benchmark` says what it raises."""
        if dataset not in self._benchmarks:  # to parse its eval.yaml takes longer than all else
            self._benchmarks[dataset] = benchmark(self.hub, dataset)
        return self._benchmarks[dataset]

    def board(self, dataset: str, task: str, view: View = WIDEST) -> Board:
        """A view. Where its rows do not show which values are better, the widest view's rows may.

        Raises:
            Failure: the dataset is not official (exit 1), has no such task (exit 2), or the board is not told (exit 4):
            then not until `forget` either.
        """
        told = self.benchmark(dataset)
        told.check_official()
        told.check_task(task)
        key = (told.dataset, task, view)
        with self._lock:
            lock = self._locks[key]
        with lock:
            if key not in self._read:
                try:
                    self._read[key] = read_board(self.hub, *key)
                except Failure as failure:
                    self._read[key] = failure
            board = self._read[key]
        if isinstance(board, Failure):
            raise board
        if board.lower_is_better is None and view != WIDEST:
            return replace(board, lower_is_better=self.board(dataset, task).lower_is_better)
        return board

    def forget(self, dataset: str, task: str) -> None:
        """Drop the views of a task, to ask for them again."""
        canonical = self.benchmark(dataset).dataset
        with self._lock:
            self._read = {key: board for key, board in self._read.items() if key[:2] != (canonical, task)}


def read_board(hub: Hub, dataset: str, task: str, view: View) -> Board:
    """A view, read now. A task that there is not has an empty board: ask `Boards`, which refuses it.

    Raises:
        Failure: it is not told; a row lacks what every row has (exit 4).
    """
    path = api_path("dataset", dataset, "leaderboard")
    told = list(hub.pages(path, cached=False, task_id=task, **view.query))
    where = f"datasets/{dataset}: {task}, {view}"
    try:
        rows = tuple(_row(one) for one in told)
    except (TypeError, KeyError, ValueError) as error:
        raise unavailable(where, f"a row without its {error}") from None
    said = {one["lower_is_better"] for one in told if isinstance(one.get("lower_is_better"), bool)}
    return Board(dataset, task, view, rows, direction(rows, said))


def direction(rows: Sequence[BoardRow], said: Set[bool]) -> bool | None:
    """Whether lower values are better, by what rows have said and by how they are ranked.

    None: nothing tells, or the two do not agree.
    """
    ranked = [row.value for row in sorted(rows, key=lambda row: row.rank)]
    shown: set[bool] = set()
    if len(ranked) > 1 and ranked[0] != ranked[-1]:
        better = ranked[0] < ranked[-1]
        shown = {better} if all(a == b or (a < b) == better for a, b in itertools.pairwise(ranked)) else {True, False}
    both = said | shown
    return next(iter(both)) if len(both) == 1 else None


def _row(told: Mapping[str, Any]) -> BoardRow:
    author, source = told["author"], told.get("source") or {}
    kind = author.get("type") if isinstance(author, dict) else None
    number = told.get("pullRequest")
    return BoardRow(
        rank=int(told["rank"]),
        model=str(told["modelId"]),
        author_kind=kind if kind in ("org", "user") else None,
        value=_number(told["value"]),
        filename=str(told["filename"]),
        verified=told.get("verified") is True,
        pull_request=None if number is None else int(number),
        notes=told.get("notes"),
        parameters=None if told.get("num_parameters") is None else int(told["num_parameters"]),
        source_url=source.get("url"),
    )


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("value")
    return Decimal(value)
