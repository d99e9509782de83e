"""Ratings equal the golden leaderboards, and input that cannot be rated is refused with every reason."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from leaderboard_data import GOLDEN

from benchwright.contract import Exit, Failure
from benchwright.leaderboard.ratings import elo_ratings, rate, winrate_matrix


def refusal(results: pd.DataFrame, calibration_method: str = "m1", **settings: int) -> Failure:
    with pytest.raises(Failure) as caught:
        rate(results, calibration_method=calibration_method, **settings)
    return caught.value


def test_the_leaderboard_equals_the_golden_one(golden_results):
    board = rate(golden_results, calibration_method="m1", elo_decimals=None, every_metric=True)

    golden = pd.read_csv(GOLDEN / "leaderboard_fast.csv")
    assert list(board.columns) == list(golden.columns)
    pd.testing.assert_frame_equal(board, golden, check_dtype=False, rtol=1e-9, atol=1e-9)


def test_elo_over_a_grid_with_holes_equals_the_golden_one():
    results = pd.read_csv(GOLDEN / "results_holes.csv")

    elo = elo_ratings(results, calibration_method="m1", elo_decimals=None)

    golden = pd.read_csv(GOLDEN / "elo_holes_unimputed.csv")
    pd.testing.assert_frame_equal(elo, golden, rtol=1e-9, atol=1e-9)


def test_the_winrate_matrix_equals_the_golden_one(golden_results):
    golden = pd.read_csv(GOLDEN / "winrate_matrix.csv", index_col=0).astype(np.float32)

    pd.testing.assert_frame_equal(winrate_matrix(golden_results), golden, check_names=False, rtol=0, atol=0)


def test_the_same_results_in_another_order_rate_the_same(golden_results):
    shuffled = golden_results.sample(frac=1, random_state=3)

    board = rate(golden_results, calibration_method="m1", n_bootstraps=20)

    pd.testing.assert_frame_equal(rate(shuffled, calibration_method="m1", n_bootstraps=20), board, rtol=1e-9)


def test_methods_of_equal_rank_are_in_order_of_their_names(golden_results):
    twins = pd.concat([golden_results, golden_results[golden_results["method"] == "m4"].assign(method="m40")])

    board = rate(twins, calibration_method="m1", n_bootstraps=2)

    names = list(board["method"])
    assert names.index("m40") == names.index("m4") + 1


def test_rounding_noise_below_zero_counts_as_zero(golden_results):
    noisy = golden_results.copy()
    noisy.loc[0, "metric_error"] = -1e-16
    exact = golden_results.copy()
    exact.loc[0, "metric_error"] = 0.0

    pd.testing.assert_frame_equal(
        rate(noisy, calibration_method="m1", n_bootstraps=2), rate(exact, calibration_method="m1", n_bootstraps=2)
    )


def test_a_single_dataset_is_rated_without_width_of_its_intervals(golden_results):
    board = rate(golden_results[golden_results["dataset"] == "d0"], calibration_method="m1", n_bootstraps=5)

    assert (board["elo+"] == 0).all()
    assert (board["elo-"] == 0).all()
    assert board.set_index("method").at["m1", "elo"] == 1000


def test_every_reason_is_given_at_once(golden_results):
    bad = golden_results.copy()
    bad.loc[0, "metric_error"] = -0.25
    bad.loc[1, "metric_error"] = np.nan
    bad.loc[2, "time_train_s"] = np.inf
    bad.loc[bad["dataset"] == "d3", "metric"] = ["rmse"] + ["log_loss"] * ((bad["dataset"] == "d3").sum() - 1)
    bad = pd.concat([bad, bad[(bad["method"] == "m5") & (bad["dataset"] == "d1") & (bad["fold"] == 1)]])

    problems = refusal(bad, "RF (default)").problems

    numbers = "a negative error, or an error or time that is not finite"
    assert [(p.code, p.where, p.found) for p in problems] == [
        ("bad-result", "m0", f"{numbers}, on d0 0"),
        ("bad-result", "m1", f"{numbers}, on d0 0"),
        ("bad-result", "m2", f"{numbers}, on d0 0"),
        ("repeated-result", "m5", "more than one result on d1 1"),
        ("mixed-metrics", "d3", "results scored as log_loss (binary) and rmse (binary)"),
        ("no-calibration-method", "RF (default)", "no result among those of m0, m1, m2, m3, m4, m5, m6, m7"),
    ]


def test_holes_are_refused_method_by_method():
    problems = refusal(pd.read_csv(GOLDEN / "results_holes.csv")).problems

    assert str(problems[0]) == (
        "m5: 120 of 166 splits have no result, expected every method on every split"
        "\n    fix: impute the missing results first"
    )
    assert [p.where for p in problems] == ["m5", "m6"]


def test_one_method_alone_is_refused(golden_results):
    alone = golden_results[golden_results["method"] == "m1"]

    assert str(refusal(alone)) == (
        "results: 1 method(s), expected two or more to compare\n    fix: add another's results"
    )


def test_fewer_than_two_bootstraps_are_wrong_usage(golden_results):
    failure = refusal(golden_results, n_bootstraps=1)

    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "n_bootstraps: 1, expected at least 2, since intervals are their percentiles\n    fix: leave it out to take 200"
    )


def test_a_missing_column_is_named(golden_results):
    failure = refusal(golden_results.drop(columns=["time_infer_s"]))

    assert str(failure) == "results: no column time_infer_s\n    fix: make it by results_frame"


def test_rows_without_a_name_are_refused(golden_results):
    unnamed = golden_results.astype({"fold": float})
    unnamed.loc[3, ["method", "fold"]] = None

    assert str(refusal(unnamed)) == (
        "results: rows without method, fold\n    fix: complete these rows, or leave them out"
    )


def test_the_first_rating_of_a_process_runs_on_one_thread():
    program = f"""
import sys
import pandas as pd
import threadpoolctl
from benchwright.leaderboard.ratings import rate

limit = threadpoolctl.threadpool_limits

def watched(*args, **options):
    print(*args, options, "scipy.optimize" in sys.modules)  # a library that is loaded later would not be limited
    return limit(*args, **options)

threadpoolctl.threadpool_limits = watched
rate(pd.read_csv({str(GOLDEN / "results.csv")!r}), calibration_method="m1", n_bootstraps=2)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert out.stdout == "{'limits': 1, 'user_api': 'blas'} True\n"


def test_nothing_is_printed(golden_results, capfd):
    rate(golden_results, calibration_method="m1", n_bootstraps=2)

    assert capfd.readouterr() == ("", "")
