"""Where a run's methods landed: the closing block of an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchwright.contract import counted

if TYPE_CHECKING:
    import pandas as pd

    from benchwright.leaderboard.evaluation import SubsetEvaluation

TITLE = "Position of this run's methods"
_FEW_DATASETS = 5
"""Below this, resampled datasets often leave a method without a win or a loss, and intervals run to thousands."""


@dataclass(frozen=True, slots=True)
class Position:
    """One of the run's methods on one subset's leaderboard.

    ``place`` counts from 1 by Elo among the ``of`` methods that have results of their own there; methods of equal Elo
    share the better place. ``elo_plus`` and ``elo_minus`` are the distances to the ends of the 95% interval, None where
    a single dataset leaves nothing to resample. ``imputed_share`` (0 to 1) weighs datasets alike, as the leaderboard
    does; ``imputed_splits`` of ``n_splits`` counts splits.
    """

    label: str
    place: int
    of: int
    elo: float
    elo_plus: float | None
    elo_minus: float | None
    imputed_share: float
    imputed_splits: int
    n_splits: int

    def to_dict(self) -> dict[str, Any]:
        """The position in the JSON envelope's form."""
        return asdict(self)


def positions(board: pd.DataFrame, results: pd.DataFrame, new: Collection[str]) -> tuple[Position, ...]:
    """The places of the methods named in ``new``, best Elo first.

    ``board`` is a leaderboard whose index is the methods' names in ``results``, with their labels in ``method``. A
    method whose every result is imputed has no place.
    """
    ranked = board[board["imputed"] < 1].sort_values("elo", ascending=False, kind="stable")
    has_interval = results["dataset"].nunique() > 1
    imputed = results.groupby("method")["imputed"].agg(["sum", "size"])
    return tuple(
        Position(
            label=str(row.method),
            place=int((ranked["elo"] > row.elo).sum()) + 1,
            of=len(ranked),
            elo=float(row.elo),
            elo_plus=float(row["elo+"]) if has_interval else None,
            elo_minus=float(row["elo-"]) if has_interval else None,
            imputed_share=float(row.imputed),
            imputed_splits=int(imputed.at[name, "sum"]),
            n_splits=int(imputed.at[name, "size"]),
        )
        for name, row in ranked.iterrows()
        if name in new
    )


def position_block(subsets: Sequence[SubsetEvaluation]) -> list[str]:
    """The block's lines: the title, then for each subset its name and one line for each of the run's methods."""
    width = max((len(p.label) for subset in subsets for p in subset.positions), default=0)
    lines = [TITLE]
    for subset in subsets:
        few = few_datasets(subset)
        lines.append(f"{subset.label} ({size_of(subset)}{f'; {few}' if few else ''})")
        lines += [f"  {position_line(position, width)}" for position in subset.positions]
        lines += [f"  {label}: no result of its own here" for label in subset.absent]
    return lines


def position_line(position: Position, width: int = 0, separator: str = "  ") -> str:
    """A position in words: place, Elo with its interval, imputed share if any. ``width`` pads the label."""
    elo = f"Elo {position.elo:.0f}"
    if position.elo_plus is None or position.elo_minus is None:
        elo += " (a single dataset gives no interval)"
    else:
        elo += f" (+{position.elo_plus:.0f}/-{position.elo_minus:.0f})"
    parts = [f"{position.label:<{width}}", f"{position.place} of {position.of}", elo]
    if position.imputed_splits:
        share = f"{100 * position.imputed_share:.2f}% imputed"
        parts.append(f"{share} ({position.imputed_splits} of {counted(position.n_splits, 'split')})")
    return separator.join(parts)


def few_datasets(subset: SubsetEvaluation) -> str:
    """A warning for a subset whose ratings say little; empty for any other."""
    return "too few datasets for a steady Elo" if subset.n_datasets < _FEW_DATASETS else ""


def size_of(subset: SubsetEvaluation) -> str:
    """The datasets and splits of a subset, counted in words."""
    return f"{counted(subset.n_datasets, 'dataset')}, {counted(subset.n_splits, 'split')}"
