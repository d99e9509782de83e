"""Which result rows a leaderboard counts. What it leaves out is listed, row by reason, never dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchwright.arena import Split
from benchwright.contract import Problem
from benchwright.leaderboard.frame import SPLIT, names, split_names
from benchwright.leaderboard.ratings import unusable

if TYPE_CHECKING:
    import pandas as pd

_VARIANTS = (
    "(default)",
    "(tuned)",
    "(tuned + ensemble)",
    "(tuned) (4h)",
    "(tuned + ensemble) (4h)",
    "(best)",
    "(holdout)",
    "(tuned, holdout)",
    "(tuned + ensemble, holdout)",
)
"""How the published evaluation names the variants of a config family, after the family's config type."""


def keep_rows(results: pd.DataFrame, splits: Iterable[Split], *, arena: str) -> tuple[pd.DataFrame, list[Problem]]:
    """The rows that the leaderboard of an arena counts, and one problem for each reason that rows are left out.

    Left out are rows on splits that ``splits`` has not, rows scored with another metric than the arena's, rows without
    a usable error or time, ``best`` variants, and config rows whose name is no variant of their family: the published
    evaluation's rules. ``arena`` is its title, for messages.
    """
    import pandas as pd

    left_out = pd.Series(False, index=results.index)
    problems = []
    for code, applies, what, expected, fix in _reasons(results, splits, arena):
        rows = results[applies & ~left_out]
        if len(rows):
            found = f"{len(rows)} result(s) {what}, left out: {split_names(rows)}"
            problems.append(Problem(code, names(rows["method"].unique()), found, expected, fix))
        left_out |= applies
    return results[~left_out].reset_index(drop=True), problems


def _reasons(results: pd.DataFrame, splits: Iterable[Split], arena: str) -> list[tuple[str, pd.Series, str, str, str]]:
    """Why a row is left out, the first that applies: a problem's code, the rows, what they are, expected and fix."""
    import pandas as pd

    grid = pd.DataFrame(
        [(s.dataset, s.split, s.metric, s.problem_type) for s in splits],
        columns=["dataset", "fold", "arena_metric", "arena_type"],
    )
    placed = results[list(SPLIT)].merge(grid, on=list(SPLIT), how="left").set_axis(results.index)
    outside = placed["arena_metric"].isna()
    rescored = ~outside & (
        (results["metric"] != placed["arena_metric"]) | (results["problem_type"] != placed["arena_type"])
    )
    return [
        (
            "not-in-arena",
            outside,
            "on splits that the arena has not",
            f"splits of {arena}",
            "look at them by themselves: no leaderboard of this arena has a place for them",
        ),
        (
            "other-metric",
            rescored,
            "scored with another metric or problem type",
            f"the metrics of {arena}",
            "fit these splits again as the arena's own tasks",
        ),
        (
            "bad-result",
            unusable(results),
            "with a negative error, or an error or time that is not finite",
            "finite errors of at least 0 and finite times",
            "fit these splits again",
        ),
        (
            "best-variant",
            results["method_subtype"] == "best",
            "of a 'best' variant",
            "variants that are published",
            "read the tuned ones instead",
        ),
        (
            "unknown-variant",
            ~_is_published(results),
            "under a name that is no variant of their family",
            _expected_names(),
            "process the method again with scripts/run_process_method.py, which names them so",
        ),
    ]


def _is_published(results: pd.DataFrame) -> pd.Series:
    """Baselines, portfolios and single configs as they are; of a config family the variants with a known name."""
    is_single = results["method_type"].isin(["baseline", "portfolio"])
    is_single |= (results["method_type"] == "config") & results["method_subtype"].isna()
    family = results["config_type"].fillna("").astype(str)
    is_variant = results["method"].isin({f"{name} {variant}" for name in family.unique() for variant in _VARIANTS})
    return is_single | is_variant


def _expected_names() -> str:
    return "the config type followed by one of " + ", ".join(_VARIANTS)
