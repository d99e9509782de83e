"""A run beside the reference methods gives the published evaluation's numbers, subset by subset."""

import ast
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from leaderboard_data import GOLDEN

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure
from benchwright.leaderboard.comparison import Field, assemble, compare
from benchwright.leaderboard.evaluation import Evaluation, SkippedSubset, SubsetEvaluation
from benchwright.leaderboard.frame import IDENTITY
from benchwright.leaderboard.outputs import write_tables

SUITE = "local-2026-11-29"
SYSTEM = ("DemoLogisticSystem", SUITE)
REPORTER = GOLDEN / "reporter"


@pytest.fixture(scope="module")
def field(published_input) -> Field:
    """The published tables with one method taken for the run's: the system, which lacks regression."""
    is_new = published_input["ta_name"] == SYSTEM[0]
    return assemble(published_input[~is_new], published_input[is_new], {}, {SYSTEM: SYSTEM[0]})


@pytest.fixture(scope="module")
def full(field, arena) -> SubsetEvaluation:
    return evaluated(field, arena, [])


def evaluated(field, arena, expression) -> SubsetEvaluation:
    subset = compare(field, arena.tasks.select(expression), arena, label="some", n_bootstraps=200)
    assert isinstance(subset, SubsetEvaluation)
    return subset


def test_the_leaderboard_equals_the_published_one(full):
    golden = pd.read_csv(REPORTER / "tabarena_leaderboard.csv")

    assert list(full.leaderboard.columns) == list(golden.columns)
    assert len(golden.columns) == 37
    board = full.leaderboard.reset_index(drop=True)
    texts = ["method", *IDENTITY]
    assert board[texts].where(board[texts].notna(), "").equals(golden[texts].where(golden[texts].notna(), ""))
    numbers = golden.columns.difference(texts)
    pd.testing.assert_frame_equal(board[numbers], golden[numbers], rtol=1e-9, atol=1e-9)


def evaluation_of(subset: SubsetEvaluation, folder: Path) -> Evaluation:
    return Evaluation("some_run", "some arena", folder, (subset,), (), published_metadata(), (SYSTEM,), (), ())


def test_the_files_equal_the_published_ones(full, tmp_path):
    files = write_tables(evaluation_of(full, tmp_path), full)

    assert [str(path.relative_to(tmp_path)) for path in files] == [
        "leaderboards/some.csv",
        "subsets/some/tabarena_leaderboard.csv",
        "subsets/some/results_per_split.csv",
        "subsets/some/method_info.csv",
        "subsets/some/winrate_matrix.csv",
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
    for name, key in (("results_per_split", ["dataset", "fold", "method"]), ("method_info", ["method"])):
        ours = pd.read_csv(tmp_path / "subsets" / "some" / f"{name}.csv").sort_values(key, ignore_index=True)
        golden = pd.read_csv(REPORTER / f"{name}.csv").sort_values(key, ignore_index=True)
        pd.testing.assert_frame_equal(ours[list(golden.columns)], golden, check_dtype=False)
    matrix = pd.read_csv(tmp_path / "subsets" / "some" / "winrate_matrix.csv", index_col=0)
    pd.testing.assert_frame_equal(matrix, pd.read_csv(REPORTER / "winrate_matrix.csv", index_col=0))


def published_metadata() -> dict[tuple[str, str], MethodMetadata]:
    """The methods behind ``method_info.csv``, rebuilt from its cells."""
    info = pd.read_csv(REPORTER / "method_info.csv").drop_duplicates("ta_name").astype(object)
    methods = {}
    for cells in info.where(info.notna(), None).to_dict("records"):
        fields = {name: cell for name, cell in cells.items() if name not in ("method", "method_subtype", "config_type")}
        fields |= {"tags": ast.literal_eval(cells["tags"]), "cache_kwargs": ast.literal_eval(cells["cache_kwargs"])}
        fields |= {"method": fields.pop("ta_name"), "suite": fields.pop("ta_suite")}
        fields["method_type"] = "baseline" if cells["method_type"] == "baseline" else "config"
        method = MethodMetadata.from_dict(fields)
        methods[method.key] = method
    return methods


def test_positions_are_the_leaderboards(full):
    (position,) = full.positions

    assert (position.label, position.place, position.of) == ("DemoLogisticSystem", 1, 8)
    assert (position.elo, position.elo_plus, position.elo_minus) == (1256.3, 1229.0, 47.2)
    assert position.imputed_share == pytest.approx(1 / 3)
    assert (position.imputed_splits, position.n_splits) == (3, 9)


def test_a_subset_is_rated_on_its_own_splits(field, arena):
    subset = evaluated(field, arena, ["multiclass"])

    assert (subset.n_datasets, subset.n_splits) == (1, 3)
    assert set(subset.results["dataset"]) == {"local_wine-0ae0b9dbb2cc"}
    # Times per 1,000 rows divide by the dataset's mean over all of its splits, whatever the subset.
    rows = subset.results
    assert np.allclose(rows["time_train_s_per_1K"], rows["time_train_s"] * 1000 / ((118 + 119 + 119) / 3))


def test_a_method_without_results_in_a_subset_is_absent_from_it(field, arena):
    subset = evaluated(field, arena, ["regression"])

    assert subset.absent == ("DemoLogisticSystem",)
    assert subset.positions == ()
    assert "DemoLogisticSystem" not in set(subset.leaderboard["method"])


def test_a_subset_without_splits_is_skipped(field, arena):
    skipped = compare(field, arena.tasks.select("medium"), arena, label="medium", n_bootstraps=2)

    assert skipped == SkippedSubset("medium", "no split of the arena is in it")


def test_a_subset_that_the_fallback_has_no_result_in_is_skipped(published_input, arena):
    lost = (published_input["method"] == "RF (default)") & (published_input["problem_type"] == "regression")
    rows = published_input[~lost]
    field = assemble(rows, rows[:0], {}, {})

    skipped = compare(field, arena.tasks.select("regression"), arena, label="regression", n_bootstraps=2)

    assert skipped == SkippedSubset("regression", "RF (default) has no result on its 3 split(s)")


def test_a_subset_with_one_method_is_skipped(published_input, arena):
    rows = published_input[published_input["method"] == "RF (default)"]

    skipped = compare(assemble(rows, rows[:0], {}, {}), arena.tasks, arena, label="full", n_bootstraps=2)

    assert skipped == SkippedSubset("full", "only RF (default) has results on its splits")


def test_an_arena_that_calibrates_by_another_method_than_it_fills_with(field, arena):
    subset = evaluated(field, dataclasses.replace(arena, calibration_method="LR (default)"), [])

    elo = subset.leaderboard["elo"]
    assert elo["LR (default)"] == 1000
    assert elo["RF (default)"] == pytest.approx(1000 - (1148.6 - 1000), abs=0.11)


def test_a_rerun_of_a_reference_method_stands_beside_it(published_input, arena):
    rerun = published_input[published_input["config_type"] == "GBM"].assign(ta_suite="rerun_30112026")
    source = ("LightGBM", "rerun_30112026")
    display = {("LightGBM", SUITE): "LightGBM"}

    subset = evaluated(assemble(published_input, rerun, display, {source: "LightGBM [Rerun]"}), arena, [])

    names = set(subset.leaderboard["method"])
    assert {"LightGBM (default)", "LightGBM [Rerun] (default)", "LightGBM [Rerun] (tuned + ensemble)"} <= names
    assert [p.label for p in subset.positions] == [
        "LightGBM [Rerun] (default)",
        "LightGBM [Rerun] (tuned)",
        "LightGBM [Rerun] (tuned + ensemble)",
    ]
    elo = subset.leaderboard["elo"]
    assert elo["GBM (tuned) @ rerun_30112026"] == elo["GBM (tuned)"]


def test_two_results_on_one_split_are_refused(published_input):
    run = published_input[published_input["ta_name"] == SYSTEM[0]]

    with pytest.raises(Failure) as caught:
        assemble(published_input, pd.concat([run, run[:1]]), {}, {SYSTEM: SYSTEM[0]})

    assert str(caught.value) == (
        f"DemoLogisticSystem @ {SUITE}: more than one result on local_breast_cancer-498b8450f429 0, "
        "expected one on each split\n"
        "    fix: leave out all but one of each"
    )
