"""A run's methods beside the reference methods, rated on one subset of an arena at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchwright.arena import ArenaSpec, TaskSet
from benchwright.contract import Failure
from benchwright.leaderboard.evaluation import SkippedSubset, SubsetEvaluation
from benchwright.leaderboard.frame import SPLIT, names
from benchwright.leaderboard.impute import impute
from benchwright.leaderboard.labels import Source, row_labels
from benchwright.leaderboard.measures import with_measures
from benchwright.leaderboard.position import positions
from benchwright.leaderboard.ratings import rate, repeated_results, winrate_matrix

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Field:
    """Everyone on the leaderboard.

    ``results`` is one results frame over reference and run, with a unique name for each method variant; ``labels`` and
    ``sources`` are by those names, ``new`` are the run's own methods with their labels.
    """

    results: pd.DataFrame
    labels: Mapping[str, str]
    sources: Mapping[str, Source]
    new: Mapping[Source, str]

    @property
    def new_variants(self) -> frozenset[str]:
        """The unique names of the run's method variants."""
        return frozenset(name for name, source in self.sources.items() if source in self.new)


def assemble(
    reference: pd.DataFrame, run: pd.DataFrame, display: Mapping[Source, str], new: Mapping[Source, str]
) -> Field:
    """Join the rows of the reference methods and of the run's.

    A reference variant keeps its name in the tables, since arenas refer to it ("RF (default)"); one of the run's is
    told apart by its suite. ``display`` are the reference methods' labels, ``new`` those of the run's.

    Raises:
        Failure: a method variant has two results on one split.
    """
    import pandas as pd

    variant = pd.concat([reference["method"], run["method"]], ignore_index=True)
    results = pd.concat([reference, run.assign(method=run["method"] + " @ " + run["ta_suite"])], ignore_index=True)
    problems = repeated_results(results)
    if problems:
        raise Failure(problems)
    rows = results.assign(variant=variant).drop_duplicates("method")
    sources = {row.method: (row.ta_name, row.ta_suite) for row in rows.itertuples()}
    return Field(results, row_labels(rows, {**display, **new}), sources, dict(new))


def compare(
    field: Field, scope: TaskSet, arena: ArenaSpec, *, label: str, n_bootstraps: int
) -> SubsetEvaluation | SkippedSubset:
    """The leaderboard over the splits of ``scope``, a part of ``arena.tasks``.

    Methods without any result there are not on it; those with some have the rest imputed.

    Raises:
        Failure: the results cannot be rated.
    """
    inside = {(split.dataset, split.split) for split in scope}
    keys = zip(field.results["dataset"], field.results["fold"], strict=True)
    results = field.results[[key in inside for key in keys]]
    reason = _why_not(results, scope, arena)
    if reason:
        return SkippedSubset(label, reason)
    grid = with_measures(impute(results, arena.fillna_method).results, arena.tasks)
    board = rate(grid, calibration_method=arena.calibration_method, n_bootstraps=n_bootstraps)
    board = board.set_index("method", drop=False).rename_axis(None)
    board["method"] = board["method"].map(field.labels)
    present = {field.sources[name] for name in board.index[board["imputed"] < 1]}
    return SubsetEvaluation(
        label=label,
        leaderboard=board,
        results=grid.reset_index(drop=True),
        winrates=winrate_matrix(grid),
        labels={name: field.labels[name] for name in board.index},
        n_datasets=grid["dataset"].nunique(),
        n_splits=len(grid[list(SPLIT)].drop_duplicates()),
        positions=positions(board, grid, field.new_variants),
        absent=tuple(text for source, text in field.new.items() if source not in present),
    )


def _why_not(results: pd.DataFrame, scope: TaskSet, arena: ArenaSpec) -> str:
    """Why there can be no leaderboard over these results; empty if there can."""
    if not len(scope):
        return "no split of the arena is in it"
    present = set(results["method"])
    for method in dict.fromkeys((arena.fillna_method, arena.calibration_method)):
        if method not in present:
            return f"{method} has no result on its {len(scope)} split(s)"
    return f"only {names(present)} has results on its splits" if len(present) < 2 else ""
