"""Missing results, taken from the arena's fallback method and marked as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchwright.contract import Failure, Problem
from benchwright.leaderboard.frame import IDENTITY, SPLIT, names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Imputation:
    """A complete grid of methods by splits.

    ``results`` holds every method of the input on every split that the fallback has, sorted by dataset, split and the
    methods' first appearance. ``without_fallback`` are the splits that were left out, because the fallback itself has
    no result there.
    """

    results: pd.DataFrame
    without_fallback: tuple[tuple[str, int], ...]


def impute(results: pd.DataFrame, fallback_method: str) -> Imputation:
    """Give every method a row on every split of the fallback method.

    A missing row is the fallback's whole row, the method's own identity columns and name kept, with ``imputed`` True.
    Rows that are there stay as they are, including those that came in as imputed. This is TabArena's rule.

    Raises:
        Failure: the fallback has no results at all, or a method's identity differs between its rows.
    """
    import pandas as pd

    fallback = results[results["method"] == fallback_method]
    if fallback.empty:
        raise Failure(
            Problem(
                "no-fallback",
                fallback_method,
                f"no result among those of {names(results['method'].unique())}",
                "results of the method that stands in for missing ones",
                "add its results, or let another method stand in",
            )
        )
    identity = _identity(results)
    methods = pd.DataFrame({"method": results["method"].unique()})
    grid = fallback[list(SPLIT)].merge(methods, how="cross").sort_values(list(SPLIT), kind="stable")
    own = grid.merge(results, on=[*SPLIT, "method"], how="left", indicator="origin")
    is_missing = (own.pop("origin") == "left_only").to_numpy()

    filled = own.loc[is_missing, [*SPLIT, "method"]]
    filled = filled.reset_index().merge(fallback.drop(columns=["method", *IDENTITY]), on=list(SPLIT), how="left")
    filled = filled.set_index("index").join(identity, on="method").assign(imputed=True)
    complete = pd.concat([own[~is_missing].astype({"imputed": bool}), filled[own.columns]]).sort_index()
    outside = set(zip(results["dataset"], results["fold"], strict=True)) - set(
        zip(fallback["dataset"], fallback["fold"], strict=True)
    )
    return Imputation(complete, tuple(sorted((str(dataset), int(fold)) for dataset, fold in outside)))


def _identity(results: pd.DataFrame) -> pd.DataFrame:
    """The identity columns of each method, indexed by its name."""
    identity = results[["method", *IDENTITY]].drop_duplicates()
    ambiguous = identity.loc[identity["method"].duplicated(), "method"].unique()
    if len(ambiguous):
        raise Failure(
            [
                Problem(
                    "ambiguous-method",
                    str(method),
                    f"rows that differ in {' or '.join(_varying(identity[identity['method'] == method]))}",
                    "one type, config type, artifact name and suite for each method",
                    "give one of them a result_suffix of its own",
                )
                for method in ambiguous
            ]
        )
    return identity.set_index("method")


def _varying(rows: pd.DataFrame) -> list[str]:
    return [name for name in IDENTITY if rows[name].nunique(dropna=False) > 1]
