"""Labels of other rows: told by the checksum beside other results, by the recorded errors in a result alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchwright.contract import Failure
from benchwright.raw import find_results, load_result
from benchwright.raw.labels import labels_checksum
from benchwright.raw.metrics import metric_error
from benchwright.raw.tree import inspect_tree
from raw_trees import add_result

MINE = "LightGBM_c1_default_BAG_L1"


def test_labels_tell_results_of_one_split_from_results_of_another(genuine, content, written) -> None:
    root = genuine("binary").parents[3]

    def labels(method: str, split: str, task: str = "local_breast_cancer-498b8450f429") -> str:
        return labels_of(root / method / task / split / "results.pkl")

    def labels_of(path) -> str:
        return labels_checksum(load_result(path).predictions)

    assert len(labels(MINE, "0_0")) == 16
    assert labels(MINE, "0_0") == labels("RandomForest_c1_default_BAG_L1", "0_0")
    assert labels(MINE, "0_0") != labels(MINE, "0_1")
    wider = content("binary")
    sim = wider["simulation_artifacts"]
    sim["y_val"], sim["y_val_idx"] = sim["y_val"].astype("int64"), sim["y_val_idx"].astype("int32")
    assert labels_of(written(wider)) == labels(MINE, "0_0")
    sim["y_val"] = 1 - sim["y_val"]
    wider["metric_error_val"] = 1 - wider["metric_error_val"]
    assert labels_of(written(wider)) != labels(MINE, "0_0")


OTHERS = {
    "binary": "metric_error is 0, and the roc_auc error of its test predictions is 0.451657",
    "multiclass": "metric_error is 0.141456, and the log_loss error of its test predictions is 2.85244",
    "regression": "metric_error is 59.9417, and the rmse error of its test predictions is 88.3239",
}


@pytest.mark.parametrize("task", OTHERS)
def test_labels_of_other_rows_are_told_of_a_lone_result(tmp_path, task) -> None:
    def turned(value) -> None:
        value["simulation_artifacts"]["y_test"] = value["simulation_artifacts"]["y_test"][::-1].copy()

    path = add_result(tmp_path, MINE, task=task, change=turned)
    assert add_result(tmp_path, MINE, task=task, split=1)
    (method,) = inspect_tree(find_results(tmp_path)).judged
    assert [str(problem) for problem in method.unusable] == [
        f"{path}: {OTHERS[task]}, expected the labels of the rows that were predicted\n    fix: run this item again"
    ]
    assert [result.split for result in method.method.results] == [1]


def test_labels_of_other_validation_rows_are_told_beside_those_of_test_rows(content, written) -> None:
    mine, other = content("beyond"), content("multiclass")
    rows = {part: len(mine["simulation_artifacts"][f"y_{part}"]) for part in ("val", "test")}
    for part, number in rows.items():
        labels = np.resize(other["simulation_artifacts"][f"y_{part}"], number)
        mine["simulation_artifacts"][f"y_{part}"] = np.roll(labels, number // 2)
    with pytest.raises(Failure) as failure:
        load_result(written(mine))
    assert [(problem.code, problem.found.split()[0]) for problem in failure.value.problems] == [
        ("labels-differ", "metric_error_val"),
        ("labels-differ", "metric_error"),
    ]


def test_errors_that_were_computed_before_rounding_are_those_of_the_result(content, written) -> None:
    value = content("binary")
    sim = value["simulation_artifacts"]
    labels = sim["y_test"]
    exact = 1 - 1e-12 * np.arange(len(labels), 0, -1.0)  # all of them are 1 as float32
    sim["pred_proba_dict_test"] = {value["framework"]: exact.astype(np.float32)}
    sim["bag_info"]["pred_proba_test_per_child"] = [exact.astype(np.float32)] * 8
    value["metric_error"] = metric_error("roc_auc", labels, exact)
    assert value["metric_error"] != metric_error("roc_auc", labels, exact.astype(np.float32)) == 0.5
    load_result(written(value))

    value = content("multiclass")
    sim = value["simulation_artifacts"]
    labels = sim["y_test"]
    exact = np.full((len(labels), 3), 1e-12)
    exact[:, 1] = 1 - 2e-12
    sim["pred_proba_dict_test"] = {value["framework"]: exact.astype(np.float32)}
    sim["bag_info"]["pred_proba_test_per_child"] = [exact.astype(np.float32)] * 8
    value["metric_error"] = metric_error("log_loss", labels, exact)
    assert value["metric_error"] > 1.5 * metric_error("log_loss", labels, exact.astype(np.float32))
    load_result(written(value))


def test_a_copy_that_was_aligned_before_is_not_scored_again(content, written) -> None:
    value = content("binary")
    sim, name = value["simulation_artifacts"], value["framework"]
    for part in ("val", "test"):
        sim[f"pred_{part}"] = sim.pop(f"pred_proba_dict_{part}")[name]
    value["metric_error"] = 0.3
    assert load_result(written(value)).metric_error == 0.3


def test_other_metrics_are_not_computed(content, written) -> None:
    value = content("binary")
    value["metric"] = value["simulation_artifacts"]["metric"] = value["simulation_artifacts"]["eval_metric"] = "f1"
    value["metric_error"] = 0.3
    assert load_result(written(value)).metric == "f1"
