"""Leaderboard numbers, computed by ``bencheval``: Elo with bootstrap intervals, ranks, win rates, improvability.

Formulas, weights and bootstrap seeds are ``bencheval`` 0.1.0's. What is ours is that input it cannot rate is refused
with every reason at once, before the work starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.leaderboard.frame import IDENTITY, SPLIT, names, split_names

if TYPE_CHECKING:
    import pandas as pd
    from bencheval.evaluator import BenchmarkEvaluator

CALIBRATION_ELO = 1000
N_BOOTSTRAPS = 200
_TINY_NEGATIVE = -1e-15
"""Errors down to here are rounding noise and count as zero: the threshold of ``bencheval``'s own cleaning."""
_NEEDED = ("method", *SPLIT, "metric", "problem_type", "metric_error", "time_train_s", "time_infer_s")
_AVERAGED = (
    "time_train_s",
    "time_infer_s",
    "time_train_s_per_1K",
    "time_infer_s_per_1K",
    "normalized-error",
    "normalized-error-task",
    "imputed",
)


def rate(
    results: pd.DataFrame,
    *,
    calibration_method: str,
    n_bootstraps: int = N_BOOTSTRAPS,
    elo_decimals: int | None = 1,
    every_metric: bool = False,
) -> pd.DataFrame:
    """One row per method, sorted by mean rank: the published leaderboard's columns, in its order.

    ``results`` is a results frame with every method on every split; the columns of ``with_measures`` and the identity
    columns are carried over where they are there (the published 37 columns need them all). Elo is shifted so that
    ``calibration_method`` has 1000; ``elo+`` and ``elo-`` are the distances to the 97.5th and 2.5th percentile of
    ``n_bootstraps`` resamples of the datasets. ``every_metric`` adds what ``bencheval`` knows beyond those columns:
    advantages over the calibration method and over the best other one, relative errors, mean and rescaled errors.

    Raises:
        Failure: the input cannot be rated; one problem for each reason.
    """
    results = _checked(results, calibration_method, n_bootstraps)
    _refuse_holes(results)
    extra = ("error", "rescaled_loss", "relative_error", "skill_score", "baseline_advantage", "frontier_advantage")
    evaluator = _evaluator(results)
    with _one_thread():
        board = evaluator.leaderboard(
            results,
            include_mrr=True,
            include_rank_counts=True,
            baseline_method=calibration_method,
            elo_kwargs=_elo_settings(calibration_method, n_bootstraps, elo_decimals),
            **{f"include_{name}": every_metric for name in extra},
        )
    identity = [name for name in IDENTITY if name in results]
    board = board.join(results.groupby("method")[identity].first()) if identity else board
    return board.reset_index().sort_values(["rank", "method"], ignore_index=True)


def elo_ratings(
    results: pd.DataFrame,
    *,
    calibration_method: str,
    n_bootstraps: int = N_BOOTSTRAPS,
    elo_decimals: int | None = 1,
) -> pd.DataFrame:
    """``method``, ``elo``, ``elo+`` and ``elo-`` alone, sorted by Elo; methods may lack splits.

    With holes it takes ``bencheval``'s slower path over every pair of methods, about ten times the time.

    Raises:
        Failure: the input cannot be rated; one problem for each reason.
    """
    results = _checked(results, calibration_method, n_bootstraps)
    evaluator = _evaluator(results)
    per_split = evaluator.compute_results_per_task(data=results, include_seed_col=True)
    settings = _elo_settings(calibration_method, n_bootstraps, elo_decimals)
    with _one_thread():
        return evaluator.compute_elo(per_split, **settings).reset_index()


def winrate_matrix(results: pd.DataFrame) -> pd.DataFrame:
    """How often the row's method beats the column's, ties counting half: a share of splits, each dataset alike.

    The diagonal is NaN, values are float32, and methods are sorted by their mean win rate.

    Raises:
        Failure: the input cannot be rated; one problem for each reason.
    """
    results = _checked(results, None, N_BOOTSTRAPS)
    evaluator = _evaluator(results)
    return evaluator.compute_winrate_matrix(evaluator.compute_results_per_task(data=results, include_seed_col=True))


def check_bootstraps(n_bootstraps: int) -> None:
    """Refuse a number of resamples that gives no interval (exit 2)."""
    if n_bootstraps < 2:
        expected = "at least 2, since intervals are their percentiles"
        raise usage_error("n_bootstraps", str(n_bootstraps), expected, f"leave it out to take {N_BOOTSTRAPS}")


def unusable(results: pd.DataFrame) -> pd.Series:
    """Which rows hold no result that could be rated: a negative or non-finite error, or a time that is not finite."""
    import numpy as np

    numbers = results[["metric_error", "time_train_s", "time_infer_s"]].to_numpy(dtype=float)
    return ~np.isfinite(numbers).all(axis=1) | (results["metric_error"] < _TINY_NEGATIVE)


def _evaluator(results: pd.DataFrame) -> BenchmarkEvaluator:
    from bencheval.evaluator import BenchmarkEvaluator

    return BenchmarkEvaluator(
        task_col="dataset",
        seed_column="fold",
        columns_to_agg_extra=[name for name in _AVERAGED if name in results],
        groupby_columns=["metric", "problem_type"],
    )


def _one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread: the bootstrap's fits are so small that waking others costs more than the work.

    To be entered once ``bencheval`` is imported: only libraries that are loaded by then are limited.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _elo_settings(calibration_method: str, n_bootstraps: int, decimals: int | None) -> dict[str, object]:
    return {
        "calibration_framework": calibration_method,
        "calibration_elo": CALIBRATION_ELO,
        "BOOTSTRAP_ROUNDS": n_bootstraps,
        "round_decimals": decimals,
    }


def _checked(results: pd.DataFrame, calibration_method: str | None, n_bootstraps: int) -> pd.DataFrame:
    """The results, rounding noise below zero lifted to it, or a failure with everything that is wrong with them."""
    check_bootstraps(n_bootstraps)
    missing = [name for name in _NEEDED if name not in results]
    if missing:
        found = f"no column {', '.join(missing)}"
        raise Failure(Problem("missing-columns", "results", found, fix="make it by results_frame"), exit=Exit.USAGE)
    unnamed = [name for name in ("method", *SPLIT, "metric", "problem_type") if results[name].isna().any()]
    if unnamed:
        found = f"rows without {', '.join(unnamed)}"
        raise Failure(Problem("missing-values", "results", found, fix="complete these rows, or leave them out"))
    problems = [*_bad_results(results), *repeated_results(results), *_mixed_metrics(results)]
    problems += _unfit_methods(results["method"].unique(), calibration_method)
    if problems:
        raise Failure(problems)
    return results.assign(metric_error=results["metric_error"].clip(lower=0))


def _unfit_methods(methods: Sequence[str], calibration_method: str | None) -> list[Problem]:
    problems = []
    if len(methods) < 2:
        found = f"{len(methods)} method(s)"
        problems.append(Problem("too-few-methods", "results", found, "two or more to compare", "add another's results"))
    if calibration_method is not None and calibration_method not in methods:
        found = f"no result among those of {names(methods)}"
        expected = f"results of the method whose Elo is set to {CALIBRATION_ELO}"
        fix = "add its results, or calibrate by one of those"
        problems.append(Problem("no-calibration-method", calibration_method, found, expected, fix))
    return problems


def _bad_results(results: pd.DataFrame) -> list[Problem]:
    return [
        Problem(
            "bad-result",
            str(method),
            f"a negative error, or an error or time that is not finite, on {split_names(rows)}",
            "finite errors of at least 0 and finite times",
            "fit these splits again, or leave them out",
        )
        for method, rows in results[unusable(results)].groupby("method")
    ]


def repeated_results(results: pd.DataFrame) -> list[Problem]:
    """A problem for each method that has more than one result on a split."""
    repeated = results[results.duplicated(["method", *SPLIT])]
    return [
        Problem(
            "repeated-result",
            str(method),
            f"more than one result on {split_names(rows)}",
            "one on each split",
            "leave out all but one of each",
        )
        for method, rows in repeated.groupby("method")
    ]


def _mixed_metrics(results: pd.DataFrame) -> list[Problem]:
    scored = results[["dataset", "metric", "problem_type"]].drop_duplicates()
    mixed = scored[scored["dataset"].duplicated(keep=False)]
    return [
        Problem(
            "mixed-metrics",
            str(dataset),
            "results scored as " + " and ".join(sorted(f"{r.metric} ({r.problem_type})" for r in rows.itertuples())),
            "one metric and problem type for each dataset",
            "leave out those that are scored by another",
        )
        for dataset, rows in mixed.groupby("dataset")
    ]


def _refuse_holes(results: pd.DataFrame) -> None:
    n_splits = len(results[list(SPLIT)].drop_duplicates())
    counts = results["method"].value_counts()
    problems = [
        Problem(
            "missing-results",
            str(method),
            f"{n_splits - count} of {n_splits} splits have no result",
            "every method on every split",
            "impute the missing results first",
        )
        for method, count in sorted(counts.items())
        if count < n_splits
    ]
    if problems:
        raise Failure(problems)
