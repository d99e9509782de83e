"""A run's raw results become leaderboards beside the reference methods, and what the numbers hide is said."""

import dataclasses
import json
import shutil

import pandas as pd
import pytest
from leaderboard_data import CACHE, DATA, LocalArena, local_arena
from leaderboard_runs import BENCHMARK, Workspace, evaluate, workspace

from benchwright.arena import MethodMetadata, TaskSet
from benchwright.contract import Exit, Failure
from benchwright.leaderboard import EvalConfig, EvalMethod, Evaluation, run_eval

CANCER, WINE, DIABETES = "local_breast_cancer-498b8450f429", "local_wine-0ae0b9dbb2cc", "local_diabetes-a3d1e20e7ed9"


def refusal(where: Workspace, *methods: EvalMethod, **settings: object) -> Failure:
    with pytest.raises(Failure) as caught:
        evaluate(where, *methods, **settings)
    return caught.value


def found(evaluation: Evaluation) -> dict[str, list[str]]:
    problems: dict[str, list[str]] = {}
    for problem in evaluation.problems:
        problems.setdefault(problem.code, []).append(f"{problem.where}: {problem.found}")
    return problems


def test_the_runs_rows_are_the_published_ones(evaluation):
    published = pd.read_parquet(CACHE / "LightGBM" / "results" / "hpo_results.parquet")

    rows = evaluation.subsets[0].results
    rows = rows[rows["ta_suite"] == BENCHMARK].assign(method=lambda frame: frame["method"].str.split(" @").str[0])

    key, compared = ["dataset", "fold", "method"], ["metric_error", "metric_error_val", "time_train_s", "time_infer_s"]
    pd.testing.assert_frame_equal(
        rows.set_index(key)[compared].sort_index(), published.set_index(key)[compared].sort_index(), rtol=1e-9
    )


def test_a_clean_run_has_no_problems_and_a_place_in_every_subset(evaluation):
    assert evaluation.problems == ()
    assert [(s.label, [p.of for p in s.positions]) for s in evaluation.subsets] == [
        ("full", [7, 7, 7]),
        ("classification", [7, 7, 7]),
        ("regression", [7, 7, 7]),
    ]
    assert [(s.label, s.reason) for s in evaluation.skipped] == [("medium", "no split of the arena is in it")]


def test_the_files_are_where_the_skill_says(evaluation, booster):
    out = booster.workspace / "out"
    tables = ("tabarena_leaderboard", "results_per_split", "method_info", "winrate_matrix")
    expected = {out / "leaderboards" / f"{label}.csv" for label in ("full", "classification", "regression")}
    expected |= {out / "subsets" / s.label / f"{name}.csv" for s in evaluation.subsets for name in tables}

    assert set(evaluation.files) == expected | {evaluation.report}
    assert evaluation.files[:2] == (out / "report.md", out / "leaderboards" / "full.csv")
    assert all(path.is_file() for path in evaluation.files)
    board = pd.read_csv(evaluation.files[1])
    assert len(board.columns) == 37
    assert board.loc[board["ta_suite"] == BENCHMARK, "method"].str.startswith("LightGBM (").all()


def test_the_processed_tables_are_kept_as_artifacts(evaluation, booster):
    folder = booster.workspace / "out" / "artifacts" / BENCHMARK / "methods" / "LightGBM"

    metadata = MethodMetadata.from_yaml(folder)

    assert metadata.key == ("LightGBM", BENCHMARK)
    assert (metadata.config_type, metadata.can_hpo, metadata.is_bag) == ("GBM", True, True)
    assert metadata.config_default == "LightGBM_c1_default_BAG_L1"
    assert len(pd.read_parquet(folder / "results" / "model_results.parquet")) == 54
    assert len(pd.read_parquet(folder / "results" / "hpo_results.parquet")) == 27


def test_the_outcome_ends_with_the_block_and_is_json(evaluation):
    outcome = evaluation.outcome()

    assert outcome.exit == Exit.DONE
    assert outcome.summary == (
        f"LightGBM (default) is 4 of 7 on full of the local arena; the report is {evaluation.report}"
    )
    assert list(outcome.closing) == ["", *evaluation.position_block()]
    assert outcome.details[1] == "Leaderboard full"
    envelope = json.loads(json.dumps(outcome.envelope("eval"), allow_nan=False))
    assert envelope["data"]["subsets"][0]["positions"][0]["of"] == 7


def test_a_second_evaluation_writes_the_same_bytes(booster, evaluation, tmp_path):
    again = evaluate(booster, EvalMethod("LightGBM"), figure_output_dir=tmp_path)

    out = booster.workspace / "out"
    assert [path.relative_to(tmp_path) for path in again.files] == [path.relative_to(out) for path in evaluation.files]
    for ours, first in zip(again.files, evaluation.files, strict=True):
        assert ours.read_bytes() == first.read_bytes()


def test_tables_of_an_earlier_evaluation_are_read_back(booster, evaluation):
    shut = Workspace(booster.workspace / "nowhere")

    again = evaluate(
        shut, EvalMethod("LightGBM", only_load_cache=True), figure_output_dir=booster.workspace / "out", subsets=[[]]
    )

    pd.testing.assert_frame_equal(again.subsets[0].leaderboard, evaluation.subsets[0].leaderboard)


def test_tables_that_were_never_made_cannot_be_read_back(booster, tmp_path):
    failure = refusal(booster, EvalMethod("LightGBM", only_load_cache=True), figure_output_dir=tmp_path)

    folder = tmp_path / "artifacts" / BENCHMARK / "methods" / "LightGBM"
    assert str(failure) == (
        f"{folder}: no complete tables of LightGBM, expected what an earlier evaluation processed\n"
        "    fix: evaluate once without only_load_cache"
    )


def test_a_damaged_table_is_named(booster, evaluation, tmp_path):
    shutil.copytree(booster.workspace / "out", tmp_path / "out")
    table = tmp_path / "out" / "artifacts" / BENCHMARK / "methods" / "LightGBM" / "results" / "hpo_results.parquet"
    table.write_bytes(table.read_bytes()[:500])

    (problem,) = refusal(
        booster, EvalMethod("LightGBM", only_load_cache=True), figure_output_dir=tmp_path / "out"
    ).problems

    assert (problem.code, problem.where) == ("damaged-table", str(table))


def test_missing_splits_are_imputed_and_listed(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1_")
    shutil.rmtree(where.data / "LightGBM_c1_default_BAG_L1" / WINE / "0_1")
    shutil.rmtree(where.data / "LightGBM_c1_default_BAG_L1" / DIABETES / "0_2")

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[], ["binary"]])

    assert found(evaluation) == {
        "missing-splits": [f"LightGBM: 2 of 9 splits have no result, imputed from RF (default): {DIABETES} 2; {WINE} 1"]
    }
    full, binary = evaluation.subsets
    assert (full.positions[0].imputed_splits, full.positions[0].n_splits) == (2, 9)
    assert full.positions[0].imputed_share == pytest.approx(2 / 9)
    assert binary.positions[0].imputed_splits == 0
    assert "22.22% imputed (2 of 9 splits)" in evaluation.position_block()[2]


# Defect 21 of the peer: its ratings take ten times as long as soon as one row is missing.
def test_missing_splits_do_not_make_the_ratings_slow(tmp_path, monkeypatch):
    """With a hole in the grid ``bencheval`` counts battles pair by pair, ten times slower; imputed there is none."""
    from bencheval.elo_utils import EloHelper

    def count_battles(*_, **__):
        raise AssertionError("the slow way")

    monkeypatch.setattr(EloHelper, "compute_elo_ratings", count_battles)
    where = workspace(tmp_path, "LightGBM_c1_")
    shutil.rmtree(where.data / "LightGBM_c1_default_BAG_L1" / WINE / "0_1")
    (full,) = evaluate(where, EvalMethod("LightGBM"), subsets=[[]]).subsets
    assert full.positions[0].imputed_splits == 1


def test_only_valid_tasks_narrows_instead_of_imputing(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1_")
    shutil.rmtree(where.data / "LightGBM_c1_default_BAG_L1" / WINE)

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[], ["multiclass"]], only_valid_tasks=True)

    (full,) = evaluation.subsets
    assert (full.n_datasets, full.n_splits) == (2, 6)
    assert not full.results["imputed"].any()
    assert found(evaluation)["missing-splits"] == [
        f"LightGBM: 3 of 9 splits have no result, left out of every leaderboard: {WINE} 0, 1, 2"
    ]
    assert [s.label for s in evaluation.skipped] == ["multiclass"]


def test_a_damaged_file_is_listed_among_the_good_ones(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1_", "LightGBM_r1_")
    cut = where.result("LightGBM_r1_default_BAG_L1", CANCER, "0_0")
    cut.write_bytes(cut.read_bytes()[:1000])
    empty = where.result("LightGBM_c1_default_BAG_L1", WINE, "0_2")
    empty.write_bytes(b"")

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[]])

    problems = found(evaluation)
    assert any(str(cut) in text for text in problems["truncated"])
    assert any(str(empty) in text for text in problems["empty-file"])
    assert len(problems["configs-missing"]) == 2
    by_label = {p.label: p.imputed_splits for p in evaluation.subsets[0].positions}
    assert by_label == {"LightGBM (default)": 1, "LightGBM (tuned)": 0, "LightGBM (tuned + ensemble)": 0}


def test_a_tree_without_the_method_names_what_is_there(tmp_path):
    where = workspace(tmp_path, "RandomForest_", "LinearModel_c1")

    failure = refusal(where, EvalMethod("LightGBM"))

    assert str(failure) == (
        f"{where.data}: no result of LightGBM; there is LinearModel, RandomForest, "
        "expected results in folders named LightGBM_c1... or LightGBM_r1...\n"
        "    fix: take the run script's setup and run steps (python tmp_scripts/run_lightgbm.py setup), "
        "or say what it is called there: EvalMethod(..., ag_name_override=...)"
    )
    assert failure.exit == Exit.NO


def test_a_run_that_never_was_is_wrong_usage(tmp_path):
    where = Workspace(tmp_path)
    failure = refusal(where, EvalMethod("LightGBM"))

    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        f"{where.data}: no results: nothing has been run, expected a run's results\n"
        "    fix: take the run script's setup and run steps first"
    )


def test_results_of_another_benchmark_are_called_so(booster):
    spec = local_arena()
    other = TaskSet(dataclasses.replace(split, dataset=f"other_{split.tid}") for split in spec.tasks)

    failure = refusal(booster, EvalMethod("LightGBM"), arena=LocalArena(dataclasses.replace(spec, tasks=other)))

    assert str(failure.problems[0]) == (
        f"LightGBM: results of another benchmark, on {CANCER}, {DIABETES}, {WINE}, "
        "expected results on other_0, other_1, other_2\n"
        "    fix: evaluate it in the arena that it was run on, or run setup and run for this one"
    )


def test_a_rerun_without_suffix_is_warned_about(tmp_path):
    where = workspace(tmp_path, "RandomForest_")

    evaluation = evaluate(where, EvalMethod("RandomForest"), subsets=[[]])

    (problem,) = evaluation.problems
    assert str(problem) == (
        "RandomForest (default): the label of this run's RandomForest and of RandomForest in suite local-2026-11-29, "
        "expected a label of its own for each method\n"
        "    fix: EvalMethod('RandomForest', result_suffix=\" [Rerun]\")"
    )
    labels = list(evaluation.subsets[0].leaderboard["method"])
    assert labels.count("RandomForest (default)") == 2


def test_a_suffix_and_an_override_make_the_label(tmp_path):
    where = workspace(tmp_path, "RandomForest_")
    method = EvalMethod("RandomForest", result_suffix=" [Rerun]", display_name_override="Forest")

    evaluation = evaluate(where, method, subsets=[[]])

    assert evaluation.problems == ()
    assert [p.label for p in evaluation.subsets[0].positions] == ["Forest [Rerun] (default)"]
    assert (where.workspace / "out" / "artifacts" / BENCHMARK / "methods" / "RandomForest [Rerun]").is_dir()


def test_a_system_outside_the_registry_is_a_baseline(tmp_path):
    where = workspace(tmp_path, "DemoLogisticSystem_")
    method = EvalMethod("Demo", ag_name_override="DemoLogisticSystem", display_name_override="Demo system")

    evaluation = evaluate(where, method, subsets=[[]])

    (position,) = evaluation.subsets[0].positions
    assert position.label == "Demo system"
    board = evaluation.subsets[0].leaderboard
    assert list(board.loc[board["ta_name"] == "Demo", "method_type"]) == ["baseline"]


def test_a_run_of_a_part_of_the_arena_is_rated_on_that_part(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1")
    for split in ("0_1", "0_2"):
        for folder in where.data.glob(f"*/*/{split}"):
            shutil.rmtree(folder)

    whole = evaluate(where, EvalMethod("LightGBM"), subsets=[[]])
    lite = evaluate(where, EvalMethod("LightGBM"), subsets=[[], ["regression"]], task_subset=["lite"])

    assert "missing-splits" in found(whole)
    assert lite.problems == ()
    assert [(subset.label, subset.n_splits) for subset in lite.subsets] == [("lite", 3), ("lite_regression", 1)]
    assert [position.imputed_splits for position in lite.subsets[0].positions] == [0]


def test_results_validated_in_another_way_than_the_arenas_are_said_to_be(tmp_path):
    where = Workspace(tmp_path)
    shutil.copytree(DATA / "tabarena_raw_protocols" / "holdout" / "data", where.data)

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[]])

    (problem,) = [problem for problem in evaluation.problems if problem.code == "protocol-differs"]
    assert problem.where == "LightGBM"
    assert problem.found.startswith("validated as holdout:0.2 (")
    assert problem.expected == "8x1, as the local arena does"


def test_results_of_another_method_in_a_methods_folders_are_not_rated_as_its_own(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1")
    own = where.result("LightGBM_c1_default_BAG_L1", WINE, "0_1")
    shutil.copyfile(DATA / "tabarena_raw/data/LinearModel_c1_default_BAG_L1" / WINE / "0_1" / "results.pkl", own)

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[]])

    (stray,) = [problem for problem in evaluation.problems if problem.code == "misplaced-result"]
    assert stray.where == str(own)
    assert stray.found == "a result of LinearModel_c1_default_BAG_L1, repeat 0, fold 1"
    assert evaluation.subsets[0].positions[0].imputed_splits == 1


def test_configs_that_ran_on_other_tasks_alone_do_not_count_as_tuned(tmp_path):
    where = workspace(tmp_path, "LightGBM_c1")
    source = DATA / "tabarena_raw" / "data" / "LightGBM_r1_default_BAG_L1" / WINE
    shutil.copytree(source, where.data / "LightGBM_r1_default_BAG_L1" / "other-0123456789ab")

    evaluation = evaluate(where, EvalMethod("LightGBM"), subsets=[[]])

    assert [position.label for position in evaluation.subsets[0].positions] == ["LightGBM (default)"]
    (problem,) = evaluation.problems
    assert str(problem) == (
        f"{where.data}: 3 results of LightGBM on tasks of another arena, left out: other-0123456789ab, "
        "expected results on the arena's tasks\n    fix: move them to a benchmark of their own"
    )


def test_two_methods_of_one_run(tmp_path):
    where = workspace(tmp_path, "DemoLogisticSystem_", "LightGBM_c1")

    evaluation = evaluate(
        where, EvalMethod("LightGBM"), EvalMethod("Demo", ag_name_override="DemoLogisticSystem"), subsets=[[]]
    )

    assert {p.label for p in evaluation.subsets[0].positions} == {"LightGBM (default)", "Demo"}


def test_every_wrong_setting_of_methods_is_named_at_once(booster):
    failure = refusal(
        booster,
        EvalMethod("LightBGM"),
        EvalMethod("LightGBM"),
        EvalMethod("LightGBM"),
        EvalMethod("RandomForest", result_suffix="a/b"),
    )

    assert failure.exit == Exit.USAGE
    assert [problem.code for problem in failure.problems] == ["unknown-model", "usage", "repeated-method"]
    assert "LightGBM" in failure.problems[0].fix


def test_unknown_subsets_and_no_methods_are_wrong_usage(booster):
    assert refusal(booster, EvalMethod("LightGBM"), subsets=[["regresion"]]).exit == Exit.USAGE
    assert str(refusal(booster)) == (
        "methods: none, expected at least one EvalMethod\n    fix: put EvalMethod(MODEL) into methods of the run script"
    )
    assert refusal(booster, EvalMethod("LightGBM"), subsets=[]).exit == Exit.USAGE


def test_progress_ends_with_every_subset_rated_and_drawn(booster, tmp_path):
    calls: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, *, failed: int = 0, note: str = "") -> None:
        calls.append((done, total, note))

    config = EvalConfig(
        BENCHMARK,
        LocalArena(local_arena()),
        [EvalMethod("LightGBM")],
        booster,
        tmp_path,
        [[], ["binary"]],
        n_bootstraps=2,
        figure_file_type=(),
        interactive_pages=False,
    )
    run_eval(config, progress)

    assert (9, 9, "processing LightGBM") in calls
    assert calls[-6:-3] == [(0, 2, "rating full"), (1, 2, "rating binary"), (2, 2, "")]
    assert calls[-3:] == [(0, 2, "drawing full"), (1, 2, "drawing binary"), (2, 2, "")]


def test_a_figure_format_that_is_not_one_is_refused(booster, tmp_path):
    problem = refusal(booster, EvalMethod("LightGBM"), figure_output_dir=tmp_path, figure_file_type=("png", "gif"))

    assert problem.exit == Exit.USAGE
    assert str(problem.problems[0].found) == "'gif'"
    assert problem.problems[0].expected == "formats among pdf, png, svg"


def test_fits_that_took_the_time_limit_are_said(booster, tmp_path):
    arena = local_arena()
    hurried = dataclasses.replace(arena, resources=dataclasses.replace(arena.resources, time_limit=1e-3))

    problems = found(evaluate(booster, EvalMethod("LightGBM"), arena=LocalArena(hurried), figure_output_dir=tmp_path))

    assert problems["time-limit"][0].startswith("LightGBM: 9 of 9 fits took the time limit of 0 s: ")
