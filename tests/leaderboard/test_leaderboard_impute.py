"""Missing results are taken from the fallback method, by the published rule."""

import pandas as pd
import pytest
from bencheval.evaluator import BenchmarkEvaluator
from leaderboard_data import GOLDEN

from benchwright.contract import Failure
from benchwright.leaderboard.frame import COLUMNS
from benchwright.leaderboard.impute import impute


def test_the_grid_equals_the_published_one(published_input):
    grid = impute(published_input, "RF (default)").results

    golden = pd.read_csv(GOLDEN / "reporter" / "results_per_split.csv")
    key = ["dataset", "fold", "method"]
    compared = [name for name in COLUMNS if name not in (*key, "impute_method")]
    grid, golden = (frame.sort_values(key).set_index(key)[compared] for frame in (grid, golden))
    assert grid.where(grid.notna(), "").equals(golden.where(golden.notna(), ""))


def test_the_grid_equals_what_bencheval_fills_in(published_input):
    fallback = published_input[published_input["method"] == "RF (default)"]
    evaluator = BenchmarkEvaluator(task_col="dataset", seed_column="fold")
    golden = evaluator.fillna_data(published_input, df_fillna=fallback, imputed_col="imputed")

    grid = impute(published_input, "RF (default)").results

    key, compared = ["dataset", "fold", "method"], ["metric_error", "time_train_s", "time_infer_s", "imputed"]
    pd.testing.assert_frame_equal(
        grid.set_index(key)[compared].sort_index(), golden.set_index(key)[compared].sort_index()
    )


def test_an_imputed_row_keeps_its_own_identity(published_input):
    rows = impute(published_input, "RF (default)").results.set_index(["method", "dataset", "fold"])

    filled = rows.loc[("GBM (tuned)", "local_diabetes-a3d1e20e7ed9", 0)]
    source = rows.loc[("RF (default)", "local_diabetes-a3d1e20e7ed9", 0)]
    assert filled["metric_error"] == source["metric_error"]
    assert filled["metric_error_val"] == source["metric_error_val"]
    assert (filled["imputed"], source["imputed"]) == (True, False)
    assert list(filled[["method_type", "method_subtype", "config_type", "ta_name"]]) == [
        "hpo",
        "tuned",
        "GBM",
        "LightGBM",
    ]


def test_rows_that_came_in_as_imputed_stay_marked(published_input):
    marked = published_input.copy()
    marked.loc[marked["method"] == "LR (tuned)", "imputed"] = True

    rows = impute(marked, "RF (default)").results

    assert rows.loc[rows["method"] == "LR (tuned)", "imputed"].all()
    assert not rows.loc[rows["method"] == "LR (default)", "imputed"].any()


def test_a_complete_grid_stays_as_it_is(published_input):
    complete = impute(published_input, "RF (default)").results

    pd.testing.assert_frame_equal(
        impute(complete, "RF (default)").results.reset_index(drop=True), complete.reset_index(drop=True)
    )


def test_splits_that_the_fallback_lacks_are_left_out_and_named(published_input):
    wine = published_input["dataset"].str.startswith("local_wine")
    lost = (published_input["method"] == "RF (default)") & wine & (published_input["fold"] > 0)

    imputation = impute(published_input[~lost], "RF (default)")

    assert imputation.without_fallback == (("local_wine-0ae0b9dbb2cc", 1), ("local_wine-0ae0b9dbb2cc", 2))
    left = imputation.results[imputation.results["dataset"] == "local_wine-0ae0b9dbb2cc"]
    assert set(left["fold"]) == {0}


def test_a_fallback_without_results_is_refused(published_input):
    with pytest.raises(Failure) as caught:
        impute(published_input, "XGB (default)")

    assert str(caught.value) == (
        "XGB (default): no result among those of DemoLogisticSystem, GBM (default), GBM (tuned + ensemble), "
        "GBM (tuned), LR (default), LR (tuned + ensemble), LR (tuned), RF (default), "
        "expected results of the method that stands in for missing ones\n"
        "    fix: add its results, or let another method stand in"
    )


def test_a_method_with_two_identities_is_refused(published_input):
    mixed = published_input.copy()
    mixed.loc[mixed.index[mixed["method"] == "GBM (tuned)"][0], ["config_type", "ta_suite"]] = ["XGB", "elsewhere"]

    with pytest.raises(Failure) as caught:
        impute(mixed, "RF (default)")

    assert str(caught.value) == (
        "GBM (tuned): rows that differ in config_type or ta_suite, "
        "expected one type, config type, artifact name and suite for each method\n"
        "    fix: give one of them a result_suffix of its own"
    )
