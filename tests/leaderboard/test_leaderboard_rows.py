"""Rows that the published evaluation drops in silence are left out here too, and listed."""

import pandas as pd
import pyarrow as pa
import pytest

from benchwright.contract import Failure
from benchwright.leaderboard.frame import COLUMNS, names, results_frame, split_names
from benchwright.leaderboard.rows import keep_rows

WINE, CANCER = "local_wine-0ae0b9dbb2cc", "local_breast_cancer-498b8450f429"


def kept(results, arena):
    return keep_rows(results, arena.tasks, arena=arena.title)


def test_everything_published_is_kept(published_input, arena):
    rows, problems = kept(published_input, arena)

    pd.testing.assert_frame_equal(rows, published_input)
    assert problems == []


def test_rows_of_splits_that_the_arena_has_not_are_listed(published_input, arena):
    alien = published_input.assign(dataset=published_input["dataset"].replace(WINE, "titanic"))

    rows, (problem,) = kept(alien, arena)

    assert set(rows["dataset"]) == {CANCER, "local_diabetes-a3d1e20e7ed9"}
    assert str(problem) == (
        "DemoLogisticSystem, GBM (default), GBM (tuned + ensemble), GBM (tuned), LR (default), LR (tuned + ensemble), "
        "LR (tuned), RF (default): 21 result(s) on splits that the arena has not, left out: titanic 0, 1, 2, "
        "expected splits of the local arena\n"
        "    fix: look at them by themselves: no leaderboard of this arena has a place for them"
    )


def test_rows_scored_by_another_metric_are_listed(published_input, arena):
    rescored = published_input.copy()
    rescored.loc[(rescored["method"] == "GBM (tuned)") & (rescored["dataset"] == WINE), "metric"] = "accuracy"

    rows, (problem,) = kept(rescored, arena)

    assert len(rows) == len(published_input) - 2
    assert (problem.code, problem.where) == ("other-metric", "GBM (tuned)")
    assert problem.found == f"2 result(s) scored with another metric or problem type, left out: {WINE} 0, 1"


@pytest.mark.parametrize(
    ("column", "value"),
    [("metric_error", -0.1), ("metric_error", float("nan")), ("time_train_s", float("inf"))],
)
def test_rows_without_a_usable_number_are_listed(published_input, arena, column, value):
    broken = published_input.copy()
    broken.loc[broken.index[broken["method"] == "LR (default)"][:1], column] = value

    rows, (problem,) = kept(broken, arena)

    assert len(rows) == len(published_input) - 1
    assert (problem.code, problem.where) == ("bad-result", "LR (default)")
    assert problem.found == (
        "1 result(s) with a negative error, or an error or time that is not finite, left out: " + CANCER + " 0"
    )


def test_best_variants_and_unknown_names_are_listed(published_input, arena):
    lr = published_input[published_input["method"] == "LR (tuned)"]
    best = lr.assign(method="LR (best)", method_subtype="best")
    odd = lr.assign(method="LR (tuned harder)", method_subtype="tuned_harder")

    rows, problems = kept(pd.concat([published_input, best, odd], ignore_index=True), arena)

    pd.testing.assert_frame_equal(rows, published_input)
    assert [(problem.code, problem.where) for problem in problems] == [
        ("best-variant", "LR (best)"),
        ("unknown-variant", "LR (tuned harder)"),
    ]


def test_single_configs_and_portfolios_are_kept(published_input, arena):
    rf = published_input[published_input["method"] == "RF (default)"]
    single = rf.assign(method="RandomForest_c7_BAG_L1", method_subtype=None)
    portfolio = rf.assign(method="Portfolio-N200", method_type="portfolio", method_subtype=None, config_type=None)

    rows, problems = kept(pd.concat([single, portfolio], ignore_index=True), arena)

    assert (len(rows), problems) == (18, [])


def test_columns_that_a_table_lacks_take_the_published_defaults():
    table = pa.table(
        {
            "dataset": ["d"],
            "fold": [0],
            "method": ["m"],
            "metric_error": [0.1],
            "time_train_s": [1.0],
            "time_infer_s": [1.0],
            "metric": ["rmse"],
            "problem_type": ["regression"],
            "method_metadata": [{"n_iterations": 1.0}],
        }
    )

    frame = results_frame([table], where="t")

    assert tuple(frame.columns) == COLUMNS
    assert (frame.at[0, "method_type"], frame.at[0, "imputed"], frame.at[0, "config_type"]) == ("baseline", False, None)


AGAIN = "process the method again with scripts/run_process_method.py, or fetch it with scripts/fetch_method.py"


def refusal(table: pa.Table) -> str:
    with pytest.raises(Failure) as caught:
        results_frame([table], where="model_results")
    return str(caught.value)


def test_a_table_of_something_else_is_refused():
    assert refusal(pa.table({"dataset": ["d"], "score": [1.0]})) == (
        "model_results: no column fold, method, metric_error, time_train_s, time_infer_s, metric, problem_type "
        "among dataset, score, expected the columns of hpo_results or model_results tables\n"
        f"    fix: {AGAIN}"
    )


def test_columns_of_the_wrong_type_are_named_at_once(published_input):
    odd = published_input.assign(metric_error="0.1", fold=0.5, method=7)

    assert refusal(pa.Table.from_pandas(odd)).splitlines() == [
        "model_results: fold: values of type double, expected whole numbers",
        f"    fix: {AGAIN}",
        "model_results: method: values of type int64, expected text",
        f"    fix: {AGAIN}",
        "model_results: metric_error: values of type string, expected numbers",
        f"    fix: {AGAIN}",
    ]


def test_a_row_without_its_method_is_refused(published_input):
    holes = published_input.assign(method=[None, *published_input["method"][1:]])

    assert refusal(pa.Table.from_pandas(holes)) == (
        f"model_results: method: 1 row(s) without it, expected complete rows\n    fix: {AGAIN}"
    )


def test_text_in_a_dictionary_is_text(published_input):
    table = pa.Table.from_pandas(published_input.astype({"method": "category", "config_type": "category"}))

    pd.testing.assert_frame_equal(results_frame([table], where="t"), published_input)


def test_long_lists_are_cut_in_messages():
    frame = pd.DataFrame({"dataset": ["b"] * 5 + ["a"] * 5, "fold": [*range(5), *range(5)]})

    assert split_names(frame) == "a 0, 1, 2, 3, 4; b 0 and 4 more"
    assert names([f"m{i}" for i in range(14)]).endswith("m6, m7 and 2 more")
