"""Whether a result is seen: shown by a view, proved to be shown by none, or not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from benchwright.contract import Exit, Failure
from benchwright.hub.boards import Board, BoardRow
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.ranks import Origin, is_result
from benchwright.hub.views import SHOWN, VIEWS, WIDEST, View

BoardOf = Callable[[View], Board]
"""The board of a result's task in a view; it raises ``Failure`` where that is not told."""


@dataclass(frozen=True)
class Shown:
    """A view shows the result in its top fifty: the linked one, or else the broadest. ``widest`` is its rank in all."""

    view: View
    rank: int
    widest: int | None = None


@dataclass(frozen=True)
class Hidden:
    """Every view was told, and none shows the result; ``ranks`` are those that it has, in the views that list it."""

    ranks: tuple[tuple[View, int], ...]

    @property
    def widest(self) -> int:
        """The rank in the view that every row is in."""
        return dict(self.ranks)[WIDEST]


@dataclass(frozen=True)
class Superseded:
    """The board has another result of the model, which has one row: ``row``."""

    row: BoardRow


@dataclass(frozen=True)
class Untold:
    """Nobody can tell. ``exit`` is what a failed request amounts to; `Exit.NO`: what was told does not fit together."""

    why: str
    exit: Exit = Exit.NO

    @classmethod
    def of(cls, failure: Failure) -> Untold:
        """What a failure leaves unknown."""
        return cls("; ".join(f"{one.where}: {one.found}" for one in failure.problems), failure.exit)


Sight = Shown | Hidden | Superseded | Untold


def sight(board_of: BoardOf, model: ModelRepo, value: Decimal, origin: Origin, linked: View | None) -> Sight:
    """Where a result is seen, by as few views as it takes; that it is seen nowhere takes all sixteen.

    The linked view comes first, then the others, the broadest first. A view that is not told ends the search: behind it
    there may be one that shows the result, and that would not be the broadest.
    """
    boards: dict[View, Board] = {}
    try:
        for view in dict.fromkeys([*([linked] if linked else []), *VIEWS]):
            boards[view] = board_of(view)
            row = boards[view].row_of(model.id)
            if row is not None and row.rank <= SHOWN and is_result(row, value, origin):
                return Shown(view, row.rank, _widest_rank(board_of, model.id))
    except Failure as failure:
        return Untold.of(failure)
    return _proof(boards, model, value, origin)


def _widest_rank(board_of: BoardOf, model: str) -> int | None:
    try:
        row = board_of(WIDEST).row_of(model)
    except Failure:
        return None
    return row.rank if row else None


def _proof(boards: Mapping[View, Board], model: ModelRepo, value: Decimal, origin: Origin) -> Sight:
    """That no view shows a result, where all sixteen boards agree on it.

    The row must be in the widest view, and in every other one that is for models of its size with or without a base. An
    empty view is believed only where none of the models that are known is of its size.
    """
    own = boards[WIDEST].row_of(model.id)
    if own is not None and not is_result(own, value, origin):
        return Superseded(own)
    ranks = []
    for view in VIEWS:
        row, of_all_sizes = boards[view].row_of(model.id), boards[View(None, view.base_only)].rows
        filled = not of_all_sizes or any(view.shows(one.parameters, has_base=False) for one in of_all_sizes)
        if filled and not boards[view].rows:
            return Untold(f"the board is empty ({view})")
        if row is None and (view == WIDEST or view.shows(model.parameters, has_base=bool(model.bases))):
            return Untold(f"the board does not list it ({view})")
        if row is not None and not is_result(row, value, origin):
            return Untold(f"views list different results of it ({view})")
        if row is not None:
            ranks.append((view, row.rank))
    return Hidden(tuple(ranks))
