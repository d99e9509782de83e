"""Bad input: each oddity is listed with what it concerns, and either the rest is processed or the run refused."""

import gzip
import json
import os
import pickle
import shutil
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from artifact_samples import build, copied, files_of, metadata_of, task_rows
from processing_samples import DATASETS, changed, genuine_results

from benchwright.contract import Exit, Failure
from benchwright.processing import build_artifact, read_sidecar
from benchwright.processing.coverage import coverage_findings, task_problems
from benchwright.processing.quality import Quality
from benchwright.processing.task_metadata import SplitFacts, TaskTable
from benchwright.raw import find_results
from benchwright.raw.metrics import metric_error
from benchwright.raw.safe_pickle import loads

C1, R1 = (f"LightGBM_{number}_default_BAG_L1" for number in ("c1", "r1"))
BREAST, DIABETES, WINE = DATASETS


class Marker:
    """What would create a file, were it ever unpickled for real."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def plain(value):
    """Ordinary dicts and arrays in place of what the loader makes."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def run(tmp_path):
    """A results tree with two configs, and a way to change one of its results."""
    source = copied(tmp_path / "run", C1, R1)

    def edit(change, config=R1, task=WINE, split="0_1"):
        path = source / config / task / split / "results.pkl"
        content = plain(loads(gzip.decompress(path.read_bytes())))
        change(content)
        path.write_bytes(gzip.compress(pickle.dumps(content, 4)))
        return path

    return source, edit


def built(tmp_path, source, **options):
    return build("LightGBM", tmp_path / "cache", source=source, **{"trajectories": False, **options})


def refusal(tmp_path, source, **options):
    with pytest.raises(Failure) as caught:
        built(tmp_path, source, **options)
    assert caught.value.exit == Exit.NO
    assert not (tmp_path / "cache" / "artifacts").exists()
    return caught.value.problems


def damage(path, kind, tmp_path):
    content = path.read_bytes()
    path.write_bytes(
        {
            "truncated": content[:3_000],
            "empty-file": b"",
            "not-a-pickle": b"garbage",
            "trailing-data": gzip.compress(gzip.decompress(content) + b"more"),
            "dangerous-pickle": gzip.compress(pickle.dumps(Marker(tmp_path / "marker"))),
            "damaged": content[:-4] + (2**32 - 1).to_bytes(4, "little"),
        }[kind]
    )


@pytest.mark.parametrize("kind", ["truncated", "empty-file", "not-a-pickle", "trailing-data", "dangerous-pickle"])
def test_a_file_that_cannot_be_used_is_left_out_and_named(run, tmp_path, kind):
    source, _ = run
    damage(source / R1 / WINE / "0_1" / "results.pkl", kind, tmp_path)
    artifact = built(tmp_path, source)
    first, second = artifact.findings
    assert (first.code, first.severity) == (kind, "error")
    assert (first.dataset, first.split, first.framework) == (WINE, 1, R1)
    assert first.found.startswith("0_1/results.pkl: ")
    assert str(tmp_path) not in str(first.problem())
    assert (second.code, second.severity, second.where) == ("configs-missing", "warn", f"{WINE}, split 1")
    assert artifact.counts["results"] == 17
    assert read_sidecar(artifact.folder).findings == artifact.findings
    assert read_sidecar(artifact.folder).inputs.files == 17
    assert not (tmp_path / "marker").exists()
    assert not (artifact.folder / "raw" / R1 / WINE / "0_1").exists()


def test_the_split_of_a_later_repeat_is_left_to_its_name(run, tmp_path):
    source, _ = run
    place = source / R1 / WINE / "2_1" / "results.pkl"
    place.parent.mkdir()
    place.write_bytes(b"garbage")
    first = built(tmp_path, source).findings[0]
    assert (first.code, first.split, first.found[:3]) == ("not-a-pickle", None, "2_1")


def test_a_header_that_lies_about_its_length(run, tmp_path):
    source, _ = run
    damage(source / R1 / WINE / "0_1" / "results.pkl", "damaged", tmp_path)
    assert built(tmp_path, source).findings[0].code == "damaged"


def test_predictions_that_are_no_numbers(run, tmp_path):
    source, edit = run

    def change(content):
        content["simulation_artifacts"]["pred_proba_dict_test"][R1][3] = np.nan

    edit(change)
    finding = built(tmp_path, source).findings[0]
    assert (finding.code, finding.severity) == ("not-finite", "error")
    assert "has 3 NaN or infinite of 177" in finding.found


def test_an_error_that_is_no_number(run, tmp_path):
    source, edit = run
    edit(lambda content: content.update(metric_error=float("nan")))
    finding = built(tmp_path, source).findings[0]
    assert (finding.code, finding.severity, finding.found) == (
        "not-finite",
        "error",
        "0_1/results.pkl: metric_error is nan",
    )


def test_a_name_in_a_file_does_not_smuggle_a_path_into_the_sidecar(run, tmp_path):
    source, edit = run
    edit(lambda content: content.update(problem_type="/home/someone/tasks"))
    finding = built(tmp_path, source).findings[0]
    assert finding.found == "0_1/results.pkl: problem_type is '<path>'"


def test_labels_of_another_task_refuse_the_run(run, tmp_path):
    source, edit = run

    def change(content):
        content["simulation_artifacts"]["y_test"] = content["simulation_artifacts"]["y_test"][::-1].copy()

    path = edit(change)
    (problem,) = refusal(tmp_path, source)
    assert (problem.code, problem.where) == ("rows-differ", str(path))
    assert str(source / C1 / WINE / "0_1" / "results.pkl") in problem.expected


def test_labels_of_another_task_are_seen_where_nothing_is_mixed(run, tmp_path):
    source, edit = run

    def change(content):
        content["simulation_artifacts"]["y_test"] = content["simulation_artifacts"]["y_test"][::-1].copy()

    edit(change)
    (problem,) = refusal(tmp_path, source, metadata=metadata_of("LightGBM", can_hpo=False))
    assert problem.code == "rows-differ"


def test_two_files_for_one_result_refuse_the_run(run, tmp_path):
    source, _ = run
    shutil.copytree(source / C1 / WINE, source / C1 / "wine-again")
    problems = refusal(tmp_path, source)
    assert {problem.code for problem in problems} == {"duplicate-result", "split-scattered"}
    assert len(problems) == 6


def test_a_result_of_another_method_refuses_the_run(run, tmp_path):
    source, edit = run

    def change(content):
        content["method_metadata"]["name_prefix"] = "Other"
        content["framework"] = "Other_r1"
        for part in ("val", "test"):
            predictions = content["simulation_artifacts"][f"pred_proba_dict_{part}"]
            predictions["Other_r1"] = predictions.pop(R1)

    path = edit(change)
    artifact = built(tmp_path, source)
    assert artifact.findings[0].code == "misplaced-result"
    shutil.move(path.parents[1], source / "Other_r1" / WINE)
    with pytest.raises(Failure) as caught:
        build_artifact(find_results(source).files, metadata_of("LightGBM"), cache_root=tmp_path / "other", jobs=1)
    assert "foreign-method" in {problem.code for problem in caught.value.problems}


def test_negative_errors_and_times_are_doubtful(run, tmp_path):
    source, edit = run
    edit(lambda content: content.update(metric_error=-1e-17, time_infer_s=-0.5), C1, BREAST, "0_0")
    artifact = built(tmp_path, source)
    assert [(finding.code, finding.severity, finding.where) for finding in artifact.findings] == [
        ("negative-error", "warn", f"{BREAST}, split 0, {C1}"),
        ("negative-time", "warn", f"{BREAST}, split 0, {C1}"),
    ]
    assert artifact.findings[0].found == "metric_error is -1e-17"
    assert artifact.findings[0].fix == "run the item again; leaderboards refuse negative errors"


def test_predictions_far_from_their_childrens_mean(run, tmp_path):
    source, edit = run

    def change(content):
        stored = content["simulation_artifacts"]["pred_proba_dict_test"][R1]
        stored[:6] = stored[:6][:, ::-1]
        content["metric_error"] = metric_error("log_loss", content["simulation_artifacts"]["y_test"], stored)

    edit(change)
    (finding,) = built(tmp_path, source).findings
    assert (finding.code, finding.severity, finding.where) == ("not-close-test", "warn", f"{WINE}, split 1, {R1}")
    assert finding.found.startswith("Not close TEST: ")
    assert finding.found.endswith("% of its stored predictions")
    assert finding.expected == "the mean of its children, which is used instead"


def test_one_finding_a_kind_and_split_with_the_worst_of_it():
    quality = Quality()
    results = [result for result in genuine_results("LightGBM") if (result.dataset, result.split) == (WINE, 0)]
    for number, result in enumerate(results):
        shares = {"TEST": number / 1000} if number else {}
        quality.note(changed(result, not_close=shares, metric_error=-float(number)), had_secret=False)
    negative, not_close = sorted(quality.findings(), key=lambda finding: finding.code)
    assert not_close.found == "Not close TEST: 0.500% of its stored predictions (and 4 more of 6 results)"
    assert (not_close.severity, not_close.framework) == ("context", results[-1].framework)
    assert negative.found == "metric_error is -5.0 (and 4 more of 6 results)"


def test_splits_that_a_table_of_tasks_has_and_the_results_have_not(run, tmp_path):
    source, _ = run
    for config in (C1, R1):
        shutil.rmtree(source / config / WINE / "0_1")
        shutil.rmtree(source / config / BREAST)
    findings = built(tmp_path, source).findings
    assert [(finding.code, finding.severity, finding.dataset, finding.found) for finding in findings] == [
        ("splits-missing", "warn", WINE, "no results on 1 of 3 splits of the task (0_1)"),
        ("datasets-missing", "context", None, f"no results on 1 of 3 datasets ({BREAST})"),
    ]


def test_splits_that_are_missing_by_the_grid_of_the_others(run, tmp_path):
    source, _ = run
    for config in (C1, R1):
        shutil.rmtree(source / config / WINE / "0_1")
        shutil.rmtree(source / config / BREAST / "0_2")
    findings = built(tmp_path, source, task_rows=None).findings
    assert [(finding.severity, finding.dataset, finding.found) for finding in findings] == [
        ("warn", WINE, "no results on 1 of 3 splits by its repeats and folds (0_1)"),
        ("context", BREAST, "2 splits, where another dataset has 3"),
    ]


def test_a_stray_folder_does_not_make_a_list_of_millions():
    there = [facts("wine", 1, number) for number in (0, 3, 2_000_000)]
    before = time.process_time()
    (finding,) = coverage_findings([], None, there, TaskTable([]))
    assert finding.found == (
        "no results on 1,999,998 of 2,000,001 splits by its repeats and folds (0_1, 0_2, 0_4 and 1,999,995 more)"
    )
    assert time.process_time() - before < 0.1


def test_missing_splits_are_in_the_order_of_numbers():
    (finding,) = coverage_findings([], None, [facts("wine", 1, 3), facts("wine", 1, 11)], TaskTable([]))
    assert "(0_0, 0_1, 0_2 and 7 more)" in finding.found
    rows = [row for row in task_rows() if row["tabarena_task_name"] == WINE]
    rows = [row | {"fold": fold} for row, fold in zip(rows, ("0", "2", "10"), strict=True)]
    (finding,) = coverage_findings([], None, [facts(WINE, 1, 0)], TaskTable(rows))
    assert finding.found == "no results on 2 of 3 splits of the task (0_2, 0_10)"


@pytest.mark.parametrize(
    ("value", "stored"), [(2**63 - 1, 2**63 - 1), (2**64, 2.0**64), (10**400, None), (-(2**63), -(2.0**63))]
)
def test_numbers_that_no_table_can_hold_as_they_are(run, tmp_path, value, stored):
    source, edit = run
    for split in ("0_0", "0_1", "0_2"):
        edit(lambda content: content["method_metadata"].update(disk_usage=value), R1, WINE, split)
    configs = pq.read_table(built(tmp_path, source).folder / "processed" / "configs.parquet").to_pylist()
    (odd,) = {row["disk_usage"] for row in configs if (row["dataset"], row["framework"]) == (WINE, R1)}
    assert odd == stored


def test_hyperparameters_that_are_no_numbers_are_told_as_text(run, tmp_path):
    source, edit = run
    for task in DATASETS:
        for split in ("0_0", "0_1", "0_2"):
            edit(lambda content: content["method_metadata"]["model_hyperparameters"].update(x=np.nan), R1, task, split)
    text = (built(tmp_path, source).folder / "processed" / "configs_hyperparameters.json").read_text()
    assert json.loads(text)[R1]["hyperparameters"]["x"] == "nan"
    assert "NaN" not in text


@pytest.mark.parametrize("change", ["write", "remove"])
def test_a_file_that_changes_after_it_was_inspected_refuses_the_run(run, tmp_path, change):
    source, _ = run
    files = files_of("LightGBM", source)
    path = source / R1 / WINE / "0_1" / "results.pkl"
    if change == "write":
        path.write_bytes((source / R1 / WINE / "0_2" / "results.pkl").read_bytes())
    else:
        path.unlink()
    with pytest.raises(Failure) as caught:
        build_artifact(files, metadata_of("LightGBM"), cache_root=tmp_path / "cache", jobs=1)
    assert caught.value.exit == Exit.NO
    said = {"write": "written to since it was found", "remove": "gone since it was found"}[change]
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}: {said}, expected the file that was inspected\n"
        "    fix: wait until nothing writes there, then run this again"
    ]
    assert caught.value.problems[0].code == "input-changed"
    assert not (tmp_path / "cache" / "artifacts").exists()


def test_splits_without_the_default_will_be_imputed(run, tmp_path):
    source, _ = run
    shutil.rmtree(source / C1 / WINE / "0_1")
    shutil.rmtree(source / C1 / WINE / "0_2")
    findings = built(tmp_path, source).findings
    assert [finding.code for finding in findings] == ["configs-missing", "configs-missing", "imputation-needed"]
    assert str(findings[2].problem()) == (
        f"{WINE}, {C1}: no default row on 2 of 3 splits (1, 2), expected a row on each; leaderboards impute the row "
        "with another method's\n    fix: run the missing items, then process again"
    )


def facts(dataset, tid, split=0):
    return SplitFacts(dataset, tid, str(tid), 0, split, split, "binary", "y", 2, 10, 5)


def test_tasks_are_told_apart_by_their_ids():
    tasks = TaskTable([row for row in task_rows() if row["tabarena_task_name"] == WINE])
    found = [
        (problem.where, problem.found)
        for problem in task_problems([facts("a", 1), facts("a", 2, 1), facts("b", 1), facts(WINE, 7)], tasks)
    ]
    assert found == [
        ("a", "results with task ids 1 and 2"),
        ("b", "task id 1 is that of a too"),
        (WINE, "results with task ids 7 and 7504635427"),
    ]
    assert list(task_problems([facts("a", 1), facts("a", 1, 1), facts("b", 2)], tasks)) == []


def test_a_task_id_that_the_table_does_not_know_refuses_the_run(tmp_path):
    rows = [dict(row) for row in task_rows()]
    for row in rows:
        row["task_id_str"] = row["task_id_str"].replace("|7504635427|", "|1|")
    with pytest.raises(Failure) as caught:
        build("RandomForest", tmp_path, task_rows=rows)
    assert [str(problem) for problem in caught.value.problems] == [
        f"{WINE}: results with task ids 1 and 7504635427, expected one, that of the table of tasks\n"
        "    fix: run one of the tasks again"
    ]


def test_nothing_is_missing_where_all_is_there():
    assert list(coverage_findings([], None, [facts("a", 1), facts("b", 2)], TaskTable([]))) == []


def test_the_gravest_come_first(run, tmp_path):
    source, edit = run
    damage(source / R1 / WINE / "0_1" / "results.pkl", "truncated", tmp_path)
    edit(lambda content: content.update(time_infer_s=-1.0), task=BREAST)
    for config in (C1, R1):
        shutil.rmtree(source / config / DIABETES)
    severities = [finding.severity for finding in built(tmp_path, source).findings]
    assert severities == ["error", "warn", "warn", "context"]


def test_the_tree_the_results_come_from_is_not_touched(run, tmp_path):
    source, _ = run
    before = {path: path.stat().st_mtime_ns for path in source.rglob("*")}
    built(tmp_path, source)
    assert {path: path.stat().st_mtime_ns for path in source.rglob("*")} == before
