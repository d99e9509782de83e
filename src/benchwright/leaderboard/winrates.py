"""The win-rate matrix of a leaderboard: of every variant, and of the one that stands for each method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def best_variants(winrates: pd.DataFrame, board: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """The rows and columns of a win-rate matrix that stand for their methods, under short labels.

    "(tuned + ensemble)" is shortened to "(T+E)", as published. See ``representatives``.
    """
    best = representatives(winrates, board)
    short = {method: labels[method].replace("(tuned + ensemble)", "(T+E)") for method in best.index}
    return best.rename(index=short, columns=short)


def representatives(winrates: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """The rows and columns of a win-rate matrix that stand for their methods, by unique name.

    Of a config family that is its tuned and ensembled variant, or else its default; baselines, portfolios and single
    configs stand for themselves. ``board`` is a leaderboard whose index is the methods' names in ``winrates``. Rows
    are sorted by their mean against each other.
    """
    identity = board.loc[winrates.index]
    source = list(zip(identity["ta_name"], identity["ta_suite"], strict=True))
    subtype = list(identity["method_subtype"])
    ensembled = {source[i] for i, kind in enumerate(subtype) if kind == "tuned_ensemble"}
    chosen = [
        method
        for i, method in enumerate(winrates.index)
        if not isinstance(subtype[i], str)
        or subtype[i] == "tuned_ensemble"
        or (subtype[i] == "default" and source[i] not in ensembled)
    ]
    best = winrates.loc[chosen, chosen]
    order = best.mean(axis=1).sort_values(ascending=False, kind="stable").index
    return best.loc[order, order]
