"""Our aligned results against those of the benchmark's own loader (imports ``tabarena``: some five seconds)."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from benchwright.raw import load_result
from benchwright.raw.metrics import metric_error

TOLERANCE = {"roc_auc": 1e-12, "rmse": 1e-12, "log_loss": 1e-6}
"""Multiclass log loss is computed in float32, where two libraries' logarithms may differ in the last bit."""


def theirs(path):
    from tabarena.benchmark.result.raw_loading import load_and_align

    return load_and_align(path)


def assert_same_bits(ours, other, what: str) -> None:
    assert type(ours) is np.ndarray, what
    assert ours.dtype == other.dtype, what
    assert np.ascontiguousarray(ours).tobytes() == np.ascontiguousarray(other).tobytes(), what


def compare(path) -> None:
    ours, other = load_result(path), theirs(path)
    task = other.task_metadata
    assert (ours.framework, ours.dataset, ours.tid) == (other.framework, other.dataset, task["tid"])
    assert (ours.repeat, ours.fold, ours.split) == (other.repeat, other.fold, other.split_idx)
    assert (ours.problem_type, ours.metric) == (other.problem_type, other.result["metric"])
    for key in ("metric_error", "time_train_s", "time_infer_s", "metric_error_val"):
        assert getattr(ours, key) == other.result.get(key), key
    assert ours.kind == ("config" if type(other).__name__ != "BaselineResult" else "baseline")
    if ours.predictions is None:
        return
    compare_predictions(ours.predictions, other)
    assert ours.method_metadata["model_hyperparameters"].keys() == other.hyperparameters["hyperparameters"].keys()


def compare_predictions(predictions, other) -> None:
    sim = other.simulation_artifacts
    for ours, key in (
        (predictions.val, "pred_val"),
        (predictions.test, "pred_test"),
        (predictions.y_val, "y_val"),
        (predictions.y_test, "y_test"),
        (predictions.y_val_index, "y_val_idx"),
        (predictions.y_test_index, "y_test_idx"),
    ):
        assert_same_bits(ours, sim[key], key)
    assert (predictions.label, predictions.num_classes) == (sim["label"], sim["num_classes"])
    assert predictions.class_labels == sim["ordered_class_labels"]
    assert predictions.is_bagged == (type(other).__name__ == "AGBagResult")
    if not predictions.is_bagged:
        return
    for ours, key in (
        (predictions.test_per_child, "pred_test_per_child"),
        (predictions.val_rows_per_child, "val_idx_per_child"),
    ):
        assert len(ours) == other.num_children
        for child, expected in zip(ours, sim["bag_info"][key], strict=True):
            assert_same_bits(child, expected, key)


def test_all_genuine_files_align_to_the_same_bits(genuine_files) -> None:
    assert len(genuine_files) == 114
    for path in genuine_files:
        compare(path)


def nested(value) -> None:
    value["simulation_artifacts"] = {value["task_metadata"]["name"]: {0: value["simulation_artifacts"]}}


def before_task_metadata(value) -> None:
    task = value.pop("task_metadata")
    value.update(fold=task["split_idx"], tid=task["tid"], dataset=task["name"], df_results=None)


def without_class_metadata(value) -> None:
    for key in ("num_classes", "ordered_class_labels", "ordered_class_labels_transformed"):
        del value["simulation_artifacts"][key]


def without_validation_error(value) -> None:
    del value["metric_error_val"]


def without_method_metadata(value) -> None:
    del value["method_metadata"]


def other_alias(value) -> None:
    if value["metric"] == "rmse":
        value["metric"] = value["simulation_artifacts"]["metric"] = "root_mean_squared_error"


def negative_zeros(value) -> None:
    for part in ("val", "test"):
        stored = value["simulation_artifacts"][f"pred_proba_dict_{part}"][value["framework"]]
        stored[:5] *= np.float32(-0.0)
        error = metric_error(value["metric"], value["simulation_artifacts"][f"y_{part}"], stored)
        value["metric_error_val" if part == "val" else "metric_error"] = error


def row_ids(value) -> None:
    bag = value["simulation_artifacts"].get("bag_info")
    if bag and len(bag["val_idx_per_child"]) == 1:
        bag["val_idx_per_child"] = [value["simulation_artifacts"]["y_val_idx"][::-1].copy()]


def overlapping_children(value) -> None:
    """Rows that two children predict, and differently: the mean is a real one."""
    sim = value["simulation_artifacts"]
    stored = sim["pred_proba_dict_val"][value["framework"]]
    if "bag_info" in sim:
        rng = np.random.default_rng(0)
        rows = [np.arange(len(stored)), *sim["bag_info"]["val_idx_per_child"][1:]]
        sim["bag_info"]["val_idx_per_child"] = rows
        sim["bag_info"]["pred_val_per_child"] = [
            (stored[each] * rng.uniform(0.9, 1.1, stored[each].shape)).astype(np.float32) for each in rows
        ]


CHANGES = [
    nested, before_task_metadata, without_class_metadata, without_validation_error, without_method_metadata,
    other_alias, negative_zeros, row_ids, overlapping_children,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "holdout", "knn", "beyond"])
def test_old_and_odd_layouts_align_to_the_same_bits(content, written, name, change) -> None:
    value = content(name)
    change(value)
    path = written(value)
    if change is without_validation_error:
        ours, other = load_result(path), theirs(path)
        assert ours.metric_error_val == pytest.approx(other.result["metric_error_val"], abs=TOLERANCE[ours.metric])
        compare_predictions(ours.predictions, other)
    elif change is without_method_metadata:
        ours, other = load_result(path), theirs(path)
        assert ours.method_metadata == other.result["method_metadata"]
        compare_predictions(ours.predictions, other)
    else:
        compare(path)


@pytest.mark.parametrize("factor", [1.0, 1.0004, 1.0006, 1.01])
def test_the_same_differences_are_told(content, written, capsys, factor) -> None:
    value = content("regression")
    stored = value["simulation_artifacts"]["pred_proba_dict_test"][value["framework"]]
    stored[: len(stored) // 3] *= np.float32(factor)
    path = written(value)
    capsys.readouterr()
    theirs(path)
    told = capsys.readouterr().out
    ours = load_result(path)
    assert bool(told) == bool(ours.warnings) == (factor > 1.0005)
    if told:
        assert f"{ours.not_close['TEST']:.3%} of".replace("%", "") in told.replace("%", "").replace("\t", " ")


def test_aligned_copies_of_theirs_load_as_the_original(genuine, tmp_path) -> None:
    for name in ("binary", "multiclass", "regression", "holdout", "knn", "beyond"):
        result = theirs(genuine(name))
        result.to_dir(tmp_path)
        (copied,) = (tmp_path / result.framework).glob(f"{result.task_metadata['tid']}/*/results.pkl")
        ours = load_result(copied)
        compare_predictions(ours.predictions, copy.deepcopy(result))
        assert ours.warnings == ()
        copied.unlink()


def test_computed_errors_equal_theirs() -> None:
    from autogluon.core.metrics import get_metric

    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 8, 500).astype(np.float32) / 8
    labels = rng.integers(0, 2, 500)
    classes = rng.integers(0, 4, 500)
    wide = rng.dirichlet(np.ones(4), 500).astype(np.float32)
    wide[:9] = np.eye(4, dtype=np.float32)[rng.integers(0, 4, 9)]
    target = rng.normal(size=500) * 1e4
    for name, problem_type, truth, predicted in (
        ("roc_auc", "binary", labels, coarse),
        ("log_loss", "binary", labels, coarse),
        ("log_loss", "multiclass", classes, wide),
        ("rmse", "regression", target, (target + 3).astype(np.float32)),
    ):
        expected = get_metric(name, problem_type).error(truth, predicted)
        assert metric_error(name, truth, predicted) == pytest.approx(expected, rel=TOLERANCE[name]), name
