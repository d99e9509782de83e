"""What a leaderboard averages beside errors: times per 1,000 rows, and errors on a scale of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchwright.arena import Split

if TYPE_CHECKING:
    import pandas as pd

_SMALLEST_SPREAD = 1e-5
"""Below this distance between best and median error a task does not tell methods apart."""


def with_measures(results: pd.DataFrame, splits: Iterable[Split]) -> pd.DataFrame:
    """The results frame with the columns that the leaderboard averages, two pairs of them.

    ``time_train_s_per_1K`` and ``time_infer_s_per_1K``: seconds times 1,000 over the dataset's mean train (test) rows
    over all of its splits. ``normalized-error`` and ``normalized-error-task``: see ``normalized_errors``.

    ``splits`` are the arena's, all of them: a dataset's mean does not change with the subset at hand.
    """
    import pandas as pd

    sizes = pd.DataFrame([(s.dataset, s.train_rows, s.test_rows) for s in splits], columns=["dataset", "train", "test"])
    rows = sizes.groupby("dataset").mean()
    per_dataset, per_split = normalized_errors(results)
    return results.assign(
        **{
            "time_train_s_per_1K": results["time_train_s"] * 1000 / results["dataset"].map(rows["train"]),
            "time_infer_s_per_1K": results["time_infer_s"] * 1000 / results["dataset"].map(rows["test"]),
            "normalized-error": per_dataset,
            "normalized-error-task": per_split,
        }
    )


def normalized_errors(results: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Errors scaled so that the best method of the frame is at 0 and the median one at 1, clipped to that range.

    The first series does it per dataset, on each method's mean error over the splits, the second per split. Both are
    aligned with ``results``. This is TabArena's normalized error over whatever methods are in the frame.
    """
    mean_error = results.groupby(["method", "dataset"], sort=False)["metric_error"].mean().rename("error").reset_index()
    mean_error["scaled"] = _scaled(mean_error["error"], mean_error.groupby("dataset")["error"])
    by_dataset = mean_error.set_index(["method", "dataset"])["scaled"]
    per_dataset = results[["method", "dataset"]].join(by_dataset, on=["method", "dataset"])["scaled"]
    return per_dataset, _scaled(results["metric_error"], results.groupby(["dataset", "fold"])["metric_error"])


def _scaled(errors: pd.Series, groups: pd.core.groupby.SeriesGroupBy) -> pd.Series:
    best = groups.transform("min")
    spread = (groups.transform("median") - best).clip(lower=_SMALLEST_SPREAD)
    return ((errors - best) / spread).clip(0, 1)
