"""Input that does not fit: every problem at once, or listed beside the tables."""

import dataclasses
import gc
import shutil
import weakref
from pathlib import Path

import numpy as np
import pytest
from processing_samples import DATASETS, METHODS, RAW, changed, genuine_files, genuine_results, process

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.processing import process_files, split
from benchwright.processing.split import SplitWork
from benchwright.raw import load_result

C1, R1 = "LightGBM_c1_default_BAG_L1", "LightGBM_r1_default_BAG_L1"
BREAST = DATASETS[0]


@pytest.fixture(scope="module")
def metadata():
    return MethodMetadata.from_yaml(METHODS / "LightGBM")


@pytest.fixture(scope="module")
def results():
    return genuine_results("LightGBM")


@pytest.fixture
def one_split(results):
    """The six results of one split."""
    return [result for result in results if (result.dataset, result.split) == (BREAST, 0)]


def problems_of(results, metadata):
    with pytest.raises(Failure) as caught:
        process(results, metadata)
    assert caught.value.exit == Exit.NO
    return {problem.code: problem for problem in caught.value.problems}


def test_no_results(metadata):
    problem = problems_of([], metadata)["no-results"]
    assert str(problem) == (
        "LightGBM: no result that can be read, expected the results of one method\n"
        "    fix: run its items again, then process again"
    )


def test_duplicates_name_both_files(results, metadata):
    again = changed(results[0], path=Path("elsewhere/results.pkl"))
    problem = problems_of([*results, again], metadata)["duplicate-result"]
    assert problem.where == "elsewhere/results.pkl"
    assert problem.found == f"{C1} on {BREAST}, split 0, is also in {results[0].path}"


def test_two_configs_of_a_system_are_duplicates_after_renaming():
    system = MethodMetadata.from_yaml(METHODS / "DemoLogisticSystem")
    first = genuine_results("DemoLogisticSystem")[0]
    second = changed(first, framework="DemoLogisticSystem_c2_default", path=Path("second"))
    assert problems_of([first, second], system)["duplicate-result"].found.startswith("DemoLogisticSystem on ")


def test_a_name_that_only_begins_alike_is_another_method(results, metadata):
    stranger = changed(
        results[0],
        framework="LightGBMv2_c1_default_BAG_L1",
        method_metadata={**results[0].method_metadata, "name_prefix": "LightGBMv2"},
    )
    problem = problems_of([*results, stranger], metadata)["foreign-method"]
    assert problem.where == "LightGBMv2_c1_default_BAG_L1"
    assert problem.found == f"1 results of method LightGBMv2 of family GBM, as {stranger.path}"
    assert problem.expected == "results of LightGBM of family GBM alone"
    assert problem.fix == "process LightGBMv2 with its own metadata, and name only the folders of one method here"


def test_results_of_another_family_are_not_renamed_into_this_method(results):
    forest = MethodMetadata.config(method="RandomForest", suite="s", ag_key="RF", can_hpo=False)
    with pytest.raises(Failure) as caught:
        process(results, forest)
    assert [problem.code for problem in caught.value.problems] == ["foreign-method"] * 6
    assert caught.value.problems[0].expected == "results of RandomForest of family RF alone"


def test_a_name_that_agrees_outweighs_a_family_that_the_registry_renamed(results, metadata):
    """KNeighbors is registered as KNN, while its class has called itself TA-KNN since."""
    renamed = [
        changed(result, method_metadata={**result.method_metadata, "model_type": "TA-GBM"}) for result in results
    ]
    assert process(renamed, metadata) == process(results, metadata)


def test_of_two_foreign_names_neither_is_taken_for_the_method(results):
    other = changed(
        results[0],
        framework="Booster_c1_default_BAG_L1",
        method_metadata={**results[0].method_metadata, "name_prefix": "Booster"},
    )
    renamed = MethodMetadata.config(method="Boost", suite="s", ag_key="GBM", can_hpo=False)
    with pytest.raises(Failure) as caught:
        process([*results, other], renamed)
    assert len([problem for problem in caught.value.problems if problem.code == "foreign-method"]) == 7


def test_a_default_that_is_not_in_the_data_names_the_nearest(results, metadata):
    missing = dataclasses.replace(metadata, config_default="LightGBM_c1_BAG_L1")
    problem = problems_of(results, missing)["missing-default"]
    assert problem.where == "LightGBM: config_default"
    assert problem.found == "'LightGBM_c1_BAG_L1', of which there is no result"
    assert C1 in problem.fix


def test_a_type_that_the_results_do_not_have(results):
    baseline = MethodMetadata.baseline(method="LightGBM", suite="s")
    problem = problems_of(results, baseline)["method-type"]
    assert problem.found == f"baseline declared, 54 of 54 results are of type config, as {results[0].path}"


def test_all_problems_come_at_once(one_split, metadata):
    wrong = dataclasses.replace(metadata, config_default="LightGBM_c9")
    system = changed(one_split[1], kind="baseline", predictions=None)
    again = changed(one_split[0], path=Path("again"))
    stranger = changed(
        one_split[2], framework="Other_c1", method_metadata={"name_prefix": "Other", "model_type": "OTHER"}
    )
    found = problems_of([*one_split[:1], system, again, stranger, *one_split[3:]], wrong)
    assert set(found) == {"duplicate-result", "foreign-method", "missing-default", "method-type"}


@pytest.mark.parametrize("part", ["y_val", "y_test", "y_val_index", "y_test_index"])
def test_configs_that_saw_other_rows_are_not_mixed(one_split, metadata, part):
    other = np.roll(getattr(one_split[1].predictions, part), 1)
    odd = changed(one_split[1], path=Path("odd"), predictions={part: other})
    problem = problems_of([one_split[0], odd, *one_split[2:]], metadata)["rows-differ"]
    assert problem.where == "odd"
    assert str(one_split[0].path) in problem.expected


def test_a_dataset_has_one_metric_on_all_its_splits(results, metadata):
    odd = [
        changed(result, metric="log_loss", path=Path("odd"))
        if (result.dataset, result.split) == (BREAST, 2)
        else result
        for result in results
    ]
    with pytest.raises(Failure) as caught:
        process(odd, dataclasses.replace(metadata, can_hpo=False))
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("metric-differs", "odd")
    assert problem.found == f"log_loss (binary) on {BREAST}"
    assert problem.expected == f"roc_auc (binary), as in {results[0].path}"


def test_a_result_of_another_metric_is_not_mixed(one_split, metadata):
    odd = changed(one_split[1], path=Path("odd"), metric="log_loss")
    assert set(problems_of([one_split[0], odd, *one_split[2:]], metadata)) == {"metric-differs"}


def test_a_file_in_the_folder_of_another_split(one_split, metadata, tmp_path):
    files = []
    for number, result in enumerate(one_split):
        source = Path(str(result.path).replace("/0_0/", "/0_1/")) if number == 3 else result.path
        path = tmp_path / result.framework / BREAST / "0_0" / "results.pkl"
        path.parent.mkdir(parents=True)
        shutil.copy(source, path)
        files.append(path)
    tables = process_files(files, metadata)
    assert [(finding.code, finding.where) for finding in tables.findings] == [("misplaced-result", str(files[3]))]
    assert (tables.findings[0].found, tables.findings[0].expected) == (
        f"a result of {one_split[3].framework}, repeat 0, fold 1",
        f"one of {one_split[3].framework}, 0_0, as its folders say",
    )
    assert tables.model_results.num_rows == 5


def test_a_result_of_another_split_is_not_mixed(one_split, metadata, results):
    (other,) = [
        result
        for result in results
        if (result.framework, result.dataset, result.split) == (one_split[3].framework, BREAST, 1)
    ]
    work = SplitWork(tune=True)
    for result in [*one_split[:3], other]:
        work.add(result)
    (problem,) = work.finish().problems
    assert (problem.code, problem.where) == ("split-differs", str(other.path))
    assert (problem.found, problem.expected) == (
        f"{BREAST}, split 1",
        f"{BREAST}, split 0, as in {one_split[0].path}",
    )
    assert work.outcome.tuned == []


def test_a_metric_without_ensembles_is_named_once(results, metadata):
    odd = [changed(result, metric="accuracy") if result.dataset == BREAST else result for result in results]
    problem = problems_of(odd, metadata)["unsupported-metric"]
    assert str(problem) == (
        f"accuracy: the metric of 1 datasets ({BREAST}), without ensembles, expected one of roc_auc, log_loss, rmse\n"
        "    fix: set can_hpo to False to get the default config's rows alone"
    )
    default_only = process(odd, dataclasses.replace(metadata, can_hpo=False))
    assert "accuracy" in default_only.hpo_results["metric"].to_pylist()


def test_labels_of_one_class_are_a_problem_of_their_file(one_split, metadata):
    ones = np.ones_like(one_split[0].predictions.y_val)
    odd = [changed(result, predictions={"y_val": ones}) for result in one_split]
    problem = problems_of(odd, metadata)["not-scorable"]
    assert problem.where == str(odd[0].path)
    assert problem.found == f"roc_auc: {len(ones)} labels of a single class"


def test_one_dataset_in_two_task_folders(one_split, metadata, tmp_path):
    files = []
    for number, result in enumerate(one_split):
        task = BREAST if number else "363621"
        path = tmp_path / result.framework / task / "0_0" / "results.pkl"
        path.parent.mkdir(parents=True)
        shutil.copy(result.path, path)
        files.append(path)
    with pytest.raises(Failure) as caught:
        process_files(files, metadata)
    (problem,) = caught.value.problems
    assert problem.code == "split-scattered"
    assert "363621/0_0" in problem.found + problem.expected
    assert f"{BREAST}/0_0" in problem.found


def test_missing_configs_are_listed_beside_the_tables(results, metadata):
    kept = [
        result
        for result in results
        if (result.framework, result.dataset, result.split) not in {(R1, BREAST, 0), (C1, BREAST, 1), (R1, BREAST, 1)}
    ]
    tables = process(kept, metadata)
    assert [(finding.code, finding.where, finding.found) for finding in tables.findings] == [
        ("configs-missing", f"{BREAST}, split 0", f"1 of 6 configs missing ({R1})"),
        (
            "configs-missing",
            f"{BREAST}, split 1",
            f"2 of 6 configs missing ({C1}, {R1}), the default among them: the split has no default row",
        ),
    ]
    assert tables.model_results.num_rows == 51
    assert tables.hpo_results.num_rows == 26
    rows = tables.hpo_results.to_pylist()
    assert [row["method_subtype"] for row in rows[3:5]] == ["tuned", "tuned_ensemble"]
    whole = process(results, metadata).hpo_results.to_pylist()
    assert [row for row in rows if row["dataset"] != BREAST] == [row for row in whole if row["dataset"] != BREAST]


def test_a_file_that_cannot_be_read_is_listed_and_the_rest_processed(metadata, tmp_path):
    shutil.copytree(RAW / C1, tmp_path / C1)
    shutil.copytree(RAW / R1, tmp_path / R1)
    bad = tmp_path / R1 / BREAST / "0_2" / "results.pkl"
    bad.write_bytes(bad.read_bytes()[:1000])
    tables = process_files(sorted(tmp_path.rglob("results.pkl")), metadata)
    assert [(finding.code, finding.where) for finding in tables.findings] == [
        ("truncated", str(bad)),
        ("configs-missing", f"{BREAST}, split 2"),
    ]
    assert tables.hpo_results.num_rows == 27


def test_a_declared_default_other_than_the_first_config_makes_the_default_rows(results, metadata):
    tables = process(results, dataclasses.replace(metadata, config_default=R1))
    assert [(finding.code, finding.where, finding.found) for finding in tables.findings] == [
        ("default-differs", R1, f"config_default {R1!r} makes the default rows")
    ]
    errors = {(row["dataset"], row["fold"], row["method"]): row for row in tables.model_results.to_pylist()}
    defaults = [row for row in tables.hpo_results.to_pylist() if row["method_subtype"] == "default"]
    assert len(defaults) == 9
    for row in defaults:
        assert row["metric_error"] == errors[row["dataset"], row["fold"], R1]["metric_error"]


def test_predictions_of_one_split_only_are_held_at_a_time(monkeypatch, metadata):
    held = {}

    def load(path):
        result = load_result(path)
        place = (result.dataset, result.split)
        if place not in held:
            gc.collect()
            assert not any(reference() is not None for references in held.values() for reference in references)
        held.setdefault(place, []).append(weakref.ref(result.predictions.val))
        return result

    monkeypatch.setattr(split, "load_result", load)
    process_files(genuine_files("LightGBM"), metadata)
    assert [len(references) for references in held.values()] == [6] * 9
