"""Ranks: where a result would land on leaderboards, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from benchwright.hub.boards import Board, BoardRow, Boards
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.views import SHOWN, VIEWS, View


@dataclass(frozen=True)
class Prediction:
    """The rank at worst that a result would have in a view. ``lower_is_better`` None: either way, at worst."""

    view: View
    rank: int
    lower_is_better: bool | None


@dataclass(frozen=True)
class Sighting:
    """A view that shows a result, with its rank as the Hub tells it."""

    view: View
    rank: int
    row: BoardRow


@dataclass(frozen=True)
class Standing:
    """A model's row in a view, None where the view does not have it."""

    view: View
    row: BoardRow | None


@dataclass(frozen=True)
class Rival:
    """A result of another model that is about to be on the same board."""

    value: Decimal
    parameters: int | None
    has_base: bool


Origin = int | Literal["main", "any"]
"""Where a row's file is: in the pull request of that number, on main, or wherever."""


def predicted_rank(board: Board, value: Decimal, model: str, rivals: Sequence[Rival] = ()) -> int:
    """The rank of a new result of a model, behind all its equals; the row that the model has is none of them.

    ``rivals`` count where the view shows them. Where the board does not tell which values are better, it is the worse
    of both ranks.
    """
    own = board.row_of(model)
    below = board.below(value) - (own is not None and own.value < value)
    above = board.above(value) - (own is not None and own.value > value)
    equal = len(board.rows) - (own is not None) - below - above
    seen = [one for one in rivals if board.view.shows(one.parameters, has_base=one.has_base)]
    below += sum(one.value < value for one in seen)
    above += sum(one.value > value for one in seen)
    equal += sum(one.value == value for one in seen)
    better = {True: below, False: above, None: max(below, above)}[board.lower_is_better]
    return 1 + better + equal


def predicted_view(
    boards: Boards, dataset: str, task: str, value: Decimal, model: ModelRepo, *, rivals: Sequence[Rival] = ()
) -> Prediction | None:
    """The broadest view that would show a new result, None where none would: nothing of a person's is ever listed.

    Views are read until one is found.

    Raises:
        Failure: the benchmark or its task is none, or a view is not told (`Boards.board`).
    """
    boards.benchmark(dataset).check_task(task)
    if model.kind == "user" or model.private or model.disabled:
        return None
    views = (view for view in VIEWS if view.shows(model.parameters, has_base=bool(model.bases)))
    return first_visible((boards.board(dataset, task, view) for view in views), value, model.id, rivals)


def first_visible(
    boards: Iterable[Board], value: Decimal, model: str, rivals: Sequence[Rival] = ()
) -> Prediction | None:
    """The first view that would show a new result of a model."""
    for board in boards:
        rank = predicted_rank(board, value, model, rivals)
        if rank <= SHOWN:
            return Prediction(board.view, rank, board.lower_is_better)
    return None


def visible_view(
    boards: Boards, dataset: str, task: str, model: str, value: Decimal, *, pull_request: Origin = "any"
) -> Sighting | None:
    """The broadest view that shows this very result now: the model's row, this value, from that place.

    None is proved in every view: a view that is not told raises.

    Raises:
        Failure: the benchmark or its task is none, or a view is not told (`Boards.board`).
    """
    for view in VIEWS:
        row = boards.board(dataset, task, view).row_of(model)
        if row is not None and row.rank <= SHOWN and is_result(row, value, pull_request):
            return Sighting(view, row.rank, row)
    return None


def is_result(row: BoardRow, value: Decimal, origin: Origin = "any") -> bool:
    """Whether a row shows this value, as the Hub keeps numbers (binary64), from that place."""
    here = {"any": True, "main": row.pull_request is None}.get(str(origin), row.pull_request == origin)
    return here and float(row.value) == float(value)


def ranks_everywhere(boards: Boards, dataset: str, task: str, model: str) -> tuple[Standing, ...]:
    """A model's row in each view, the broadest first.

    Raises:
        Failure: the benchmark or its task is none, or a view is not told (`Boards.board`).
    """
    return tuple(Standing(view, boards.board(dataset, task, view).row_of(model)) for view in VIEWS)
