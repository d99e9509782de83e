"""Results loaded and aligned: genuine ones, old layouts, and every way to be wrong."""

from __future__ import annotations

import gzip
import math
import pickle
import sys
import types

import numpy as np
import pytest

from benchwright.contract import Exit, Failure
from benchwright.raw import find_results, iter_results, load_result, load_results
from benchwright.raw.metrics import metric_error


def problems(path) -> dict[str, str]:
    """What is wrong with a file: what was found, by code (each code at most once in these tests)."""
    with pytest.raises(Failure) as failure:
        load_result(path)
    assert failure.value.exit == Exit.NO
    found = {problem.code: problem.found for problem in failure.value.problems}
    assert len(found) == len(failure.value.problems), failure.value.problems
    return found


def codes(path) -> list[str]:
    with pytest.raises(Failure) as failure:
        load_result(path)
    return [problem.code for problem in failure.value.problems]


def same(one, other) -> None:
    """Two aligned results with equal arrays and numbers."""
    for key in ("framework", "dataset", "tid", "repeat", "fold", "split", "metric", "metric_error", "kind"):
        assert getattr(one, key) == getattr(other, key), key
    for key in ("val", "test", "y_val", "y_test", "y_val_index", "y_test_index"):
        np.testing.assert_array_equal(getattr(one.predictions, key), getattr(other.predictions, key))
    for key in ("test_per_child", "val_rows_per_child"):
        for left, right in zip(getattr(one.predictions, key), getattr(other.predictions, key), strict=True):
            np.testing.assert_array_equal(left, right)


# ---------------------------------------------------------------- genuine results


def test_bagged_config(genuine) -> None:
    result = load_result(genuine("multiclass"))
    assert (result.framework, result.dataset, result.tid) == (
        "LightGBM_c1_default_BAG_L1",
        "local_wine-0ae0b9dbb2cc",
        7504635427,
    )
    assert (result.repeat, result.fold, result.split, result.kind) == (0, 0, 0, "config")
    assert (result.problem_type, result.metric) == ("multiclass", "log_loss")
    assert (result.method_metadata["model_type"], result.warnings, result.not_close) == ("GBM", (), {})
    assert result.memory_usage["peak_mem_gpu"] is None
    predictions = result.predictions
    assert (predictions.val.shape, predictions.test.shape, predictions.val.dtype) == ((118, 3), (60, 3), np.float32)
    assert (predictions.num_classes, predictions.class_labels, predictions.label) == (3, ["w0", "w1", "w2"], "target")
    assert len(predictions.test_per_child) == 8
    assert sorted(np.concatenate(predictions.val_rows_per_child)) == list(range(118))


def test_system_has_no_predictions_and_no_validation_error(genuine) -> None:
    result = load_result(genuine("system"))
    assert (result.kind, result.predictions, result.metric_error_val) == ("baseline", None, None)
    assert result.experiment_metadata["method_cls"] == "DemoLogisticSystem"


def test_holdout_has_predictions_but_no_children(genuine) -> None:
    result = load_result(genuine("holdout"))
    assert (result.kind, result.predictions.is_bagged, result.predictions.test_per_child) == ("config", False, ())


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "holdout", "knn", "beyond"])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_pickles_of_any_protocol_load_the_same(genuine, content, written, name, protocol) -> None:
    same(load_result(written(content(name), compress=False, protocol=protocol)), load_result(genuine(name)))


# ---------------------------------------------------------------- old layouts


def test_artifacts_nested_in_dataset_and_split(genuine, content, written) -> None:
    value = content("binary")
    value["simulation_artifacts"] = {value["task_metadata"]["name"]: {0: value["simulation_artifacts"]}}
    same(load_result(written(value)), load_result(genuine("binary")))


def test_top_level_keys_before_task_metadata(genuine, content, written) -> None:
    value = content("binary")
    task = value.pop("task_metadata")
    value.update(fold=2, tid=task["tid"], dataset=task["name"], df_results="gone")
    result = load_result(written(value))
    assert (result.dataset, result.tid) == (task["name"], task["tid"])
    assert (result.repeat, result.fold, result.split) == (0, 2, 2)


def test_two_columns_of_binary_probabilities(genuine, content, written) -> None:
    value = content("binary")
    sim = value["simulation_artifacts"]
    del sim["bag_info"]
    name = value["framework"]
    expected = load_result(written(value, name="one.pkl"))
    for part in ("val", "test"):
        column = sim[f"pred_proba_dict_{part}"][name]
        sim[f"pred_proba_dict_{part}"][name] = np.stack([1 - column, column], axis=1)
    same(load_result(written(value)), expected)


def test_only_child_with_row_ids_instead_of_positions(genuine, content, written) -> None:
    value = content("knn")
    sim = value["simulation_artifacts"]
    expected = load_result(written(value, name="positions.pkl"))
    order = np.random.default_rng(0).permutation(len(sim["y_val_idx"]))
    sim["bag_info"]["val_idx_per_child"] = [sim["y_val_idx"][order]]
    result = load_result(written(value))
    np.testing.assert_array_equal(result.predictions.val_rows_per_child[0], order)
    np.testing.assert_array_equal(result.predictions.val, expected.predictions.val)
    sim["bag_info"]["val_idx_per_child"] = [sim["y_val_idx"] + 1_000]
    assert problems(written(value)) == {
        "contradiction": "simulation_artifacts.bag_info.val_idx_per_child[0] names rows that y_val_idx lacks"
    }


def test_aligned_copy_of_the_artifact_cache_loads_as_its_original(genuine, content, written) -> None:
    value = content("multiclass")
    expected = load_result(genuine("multiclass"))
    sim = value["simulation_artifacts"]
    for key in ("metric", "eval_metric", "problem_type", "problem_type_transform"):
        del sim[key]
    for part in ("val", "test"):
        sim[f"pred_{part}"] = sim.pop(f"pred_proba_dict_{part}")[value["framework"]]
    sim["pred_test"] = expected.predictions.test
    bag = sim["bag_info"]
    bag["pred_test_per_child"] = bag.pop("pred_proba_test_per_child")
    rows = expected.predictions.val_rows_per_child
    bag["pred_val_per_child"] = [expected.predictions.val[of_child] for of_child in rows]
    same(load_result(written(value, compress=False)), expected)


def test_missing_class_metadata_is_inferred(content, written) -> None:
    for name, count in (("binary", 2), ("multiclass", 3), ("regression", None)):
        value = content(name)
        for key in ("num_classes", "ordered_class_labels", "ordered_class_labels_transformed"):
            value["simulation_artifacts"].pop(key)
        predictions = load_result(written(value)).predictions
        assert predictions.num_classes == count
        assert predictions.class_labels == (None if count is None else list(range(count)))


def test_missing_method_metadata_makes_a_config_named_by_its_framework(content, written) -> None:
    value = content("binary")
    del value["method_metadata"]
    result = load_result(written(value))
    assert result.kind == "config"
    assert result.method_metadata == {
        "model_type": value["framework"],
        "model_hyperparameters": {},
        "name_prefix": value["framework"],
    }


def test_missing_validation_error_is_computed(content, written) -> None:
    for name in ("binary", "multiclass", "regression", "holdout", "knn"):
        value = content(name)
        recorded = value.pop("metric_error_val")
        if name == "regression":
            value["metric"] = "root_mean_squared_error"
        result = load_result(written(value))
        assert result.metric_error_val == pytest.approx(recorded, abs=1e-6)
        assert result.metric in {"roc_auc", "log_loss", "rmse"}


def test_validation_error_that_nobody_can_compute_is_a_problem(content, written) -> None:
    value = content("binary")
    del value["metric_error_val"]
    for key in ("metric", "eval_metric"):
        value["simulation_artifacts"][key] = "f1"
    value["metric"] = "f1"
    assert problems(written(value)) == {"missing-key": "no metric_error_val, and f1 is not computed here"}
    assert metric_error("roc_auc", np.zeros(3), np.zeros(3)) is None


class BaselineResult:
    def __init__(self, result) -> None:
        self.result = result


def test_object_around_the_dict_is_taken_off(genuine, content, written, monkeypatch) -> None:
    module = types.ModuleType("tabrepo")
    module.BaselineResult = BaselineResult
    monkeypatch.setitem(sys.modules, "tabrepo", module)
    monkeypatch.setattr(BaselineResult, "__module__", "tabrepo")
    path = written(BaselineResult(content("binary")))
    assert b"tabrepo" in gzip.decompress(path.read_bytes())
    same(load_result(path), load_result(genuine("binary")))
    assert problems(written(BaselineResult("nothing"))) == {"not-a-result": "holds an object of tabrepo.BaselineResult"}


def test_pandas_content_of_the_first_files_is_named(content, written) -> None:
    import pandas

    value = content("holdout")
    value["simulation_artifacts"]["y_val"] = pandas.Series([1, 2, 3])
    path = written(value)
    with pytest.raises(Failure) as failure:
        load_result(path)
    assert str(failure.value) == (
        f"{path}: simulation_artifacts.y_val is an object of pandas.core.series.Series, "
        "expected a 1-dimensional array of integers (objects are what the first versions of the runner stored)"
        "\n    fix: run this item again"
    )


# ---------------------------------------------------------------- children against what is stored


def test_stored_predictions_far_from_the_childrens_mean_are_replaced_and_told(genuine, content, written) -> None:
    value = content("regression")
    stored = value["simulation_artifacts"]["pred_proba_dict_test"][value["framework"]]
    stored[:8] *= np.float32(1.01)
    result = load_result(written(value))
    same(result, load_result(genuine("regression")))
    assert result.not_close == {"TEST": pytest.approx(0.1)}
    assert result.warnings == (
        "Not close TEST: local_diabetes-a3d1e20e7ed9, 0, LightGBM_c1_default_BAG_L1: 10.000% of the stored predictions "
        "are not close to the mean of the children, which is used instead",
    )


def test_stored_validation_predictions_far_from_given_children_are_told(content, written) -> None:
    value = content("binary")
    sim = value["simulation_artifacts"]
    stored = sim["pred_proba_dict_val"][value["framework"]]
    sim["bag_info"]["pred_val_per_child"] = [stored[rows] + 0.01 for rows in sim["bag_info"]["val_idx_per_child"]]
    result = load_result(written(value))
    assert result.not_close == {"VAL": 1.0}
    np.testing.assert_allclose(result.predictions.val, stored + 0.01, rtol=1e-6)


def test_a_difference_within_the_tolerance_is_none(content, written) -> None:
    value = content("regression")
    value["simulation_artifacts"]["pred_proba_dict_test"][value["framework"]] *= np.float32(1 + 4e-4)
    assert load_result(written(value)).warnings == ()


def test_folder_that_contradicts_the_file_is_told(genuine, tmp_path) -> None:
    path = tmp_path / "LightGBM_c2" / "task" / "0_1" / "results.pkl"
    path.parent.mkdir(parents=True)
    path.write_bytes(genuine("binary").read_bytes())
    assert load_result(path).warnings == (
        "lies in folder 0_1 but is repeat 0, fold 0",
        "lies in folder LightGBM_c2 but is of LightGBM_c1_default_BAG_L1",
    )


def test_negative_numbers_are_told(content, written) -> None:
    value = content("system")
    value.update(metric_error=-1e-9, time_infer_s=-0.5)
    assert load_result(written(value)).warnings == (
        "metric_error is negative: -1e-09",
        "time_infer_s is negative: -0.5",
    )


# ---------------------------------------------------------------- wrong content

SYSTEM_CHANGES = {
    "missing number": ({"metric_error": ...}, "missing-key", "no metric_error"),
    "NaN": ({"metric_error": math.nan}, "not-finite", "metric_error is nan"),
    "numpy NaN": ({"metric_error": np.float64("nan")}, "not-finite", "metric_error is nan"),
    "infinite time": ({"time_train_s": math.inf}, "not-finite", "time_train_s is inf"),
    "huge integer": ({"time_train_s": 10**400}, "not-finite", "time_train_s is inf"),
    "text for a number": ({"metric_error": "0.5"}, "wrong-type", "metric_error is '0.5'"),
    "truth for a number": ({"metric_error": True}, "wrong-type", "metric_error is True"),
    "complex": ({"metric_error": 1 + 0j}, "wrong-type", "metric_error is a value of type complex"),
    "array for a number": (
        {"metric_error": np.zeros(1)},
        "wrong-type",
        "metric_error is an array of float64 with shape (1,)",
    ),
    "no framework": ({"framework": ...}, "missing-key", "no framework"),
    "empty framework": ({"framework": ""}, "wrong-type", "framework is ''"),
    "framework that climbs": ({"framework": "../../evil"}, "bad-name", "framework is '../../evil'"),
    "framework with a line": ({"framework": "a\nb"}, "bad-name", "framework is 'a\\nb'"),
    "framework of a kilobyte": ({"framework": "x" * 1024}, "bad-name", f"framework is '{'x' * 60}'..."),
    "task metadata no dict": ({"task_metadata": [1]}, "wrong-type", "task_metadata is a value of type list"),
    "task metadata None": ({"task_metadata": None}, "wrong-type", "task_metadata is None"),
    "problem type": ({"problem_type": "ranking"}, "unknown-problem-type", "problem_type is 'ranking'"),
    "metric": ({"metric": 7}, "wrong-type", "metric is 7"),
    "method metadata": ({"method_metadata": "x"}, "wrong-type", "method_metadata is 'x'"),
    "memory usage": ({"memory_usage": 3.0}, "wrong-type", "memory_usage is 3.0"),
    "artifacts": ({"simulation_artifacts": "x", "metric_error_val": 0.5}, "wrong-type", "simulation_artifacts is 'x'"),
    "no artifacts": (
        {"simulation_artifacts": {}, "metric_error_val": 0.5},
        "missing-key",
        "simulation_artifacts is empty",
    ),
    "validation error": ({"metric_error_val": "x"}, "wrong-type", "metric_error_val is 'x'"),
}


@pytest.mark.parametrize("case", SYSTEM_CHANGES)
def test_wrong_value_at_the_top(content, written, case) -> None:
    changes, code, found = SYSTEM_CHANGES[case]
    value = content("system")
    for key, change in changes.items():
        if change is ...:
            del value[key]
        else:
            value[key] = change
    assert problems(written(value)) == {code: found}


def test_empty_task_metadata_lacks_every_key(content, written) -> None:
    value = content("system")
    value["task_metadata"] = {}
    assert codes(written(value)) == ["missing-key"] * 5


@pytest.mark.parametrize("value", [{}, [], "text", 7, None, {"a": 1}, np.zeros(3)])
def test_pickles_of_something_else_are_named(written, value) -> None:
    assert codes(written(value)) == ["not-a-result"]


@pytest.mark.parametrize(
    ("key", "change", "code"),
    [
        ("tid", ..., "missing-key"),
        ("tid", -1, "wrong-type"),
        ("tid", "363612", "wrong-type"),
        ("split_idx", 1.0, "wrong-type"),
        ("repeat", True, "wrong-type"),
        ("fold", None, "wrong-type"),
        ("name", "a/b", "bad-name"),
        ("name", "..", "bad-name"),
    ],
)
def test_wrong_value_in_task_metadata(content, written, key, change, code) -> None:
    value = content("system")
    value["task_metadata"][key] = change
    if change is ...:
        del value["task_metadata"][key]
    assert [*problems(written(value))] == [code]


SIM_CHANGES = {
    "no predictions": (lambda sim, _: sim.pop("pred_proba_dict_val"), "missing-key", "no {}pred_proba_dict_val"),
    "of another config": (
        lambda sim, name: sim.update(pred_proba_dict_val={"Other": sim["pred_proba_dict_val"][name]}),
        "contradiction",
        "{}pred_proba_dict_val is of 'Other'",
    ),
    "of nothing": (
        lambda sim, _: sim.update(pred_proba_dict_val={}),
        "contradiction",
        "{}pred_proba_dict_val is of nothing",
    ),
    "too large for float32": (
        lambda sim, name: sim["pred_proba_dict_test"].update({name: np.full((60, 3), 1e300)}),
        "not-finite",
        "{}pred_proba_dict_test[LightGBM_c1_default_HOLDOUT] has 180 NaN or infinite of 180",
    ),
    "NaN predictions": (
        lambda sim, name: sim["pred_proba_dict_test"][name].__setitem__(3, math.nan),
        "not-finite",
        "{}pred_proba_dict_test[LightGBM_c1_default_HOLDOUT] has 3 NaN or infinite of 180",
    ),
    "integers": (
        lambda sim, name: sim["pred_proba_dict_test"].update({name: np.zeros((60, 3), np.int8)}),
        "wrong-type",
        "{}pred_proba_dict_test[LightGBM_c1_default_HOLDOUT] is an array of int8 with shape (60, 3)",
    ),
    "one dimension": (
        lambda sim, name: sim["pred_proba_dict_test"].update({name: np.zeros(60, np.float32)}),
        "wrong-type",
        "{}pred_proba_dict_test[LightGBM_c1_default_HOLDOUT] is an array of float32 with shape (60,)",
    ),
    "lists": (
        lambda sim, name: sim["pred_proba_dict_test"].update({name: [0.5] * 60}),
        "wrong-type",
        "{}pred_proba_dict_test[LightGBM_c1_default_HOLDOUT] is a value of type list",
    ),
    "fewer labels": (
        lambda sim, _: sim.update(y_test=sim["y_test"][:-1]),
        "shape-mismatch",
        "60 predictions, 59 labels and 60 row ids on test rows",
    ),
    "no row ids": (lambda sim, _: sim.pop("y_val_idx"), "missing-key", "no {}y_val_idx"),
    "labels as texts": (
        lambda sim, _: sim.update(y_test=np.array(["w0"] * 60)),
        "wrong-type",
        "{}y_test is an array of <U2 with shape (60,)",
    ),
    "labels of another task": (
        lambda sim, _: sim.update(y_test=sim["y_test"] + np.int8(1)),
        "label-out-of-range",
        "{}y_test goes from 1 to 3",
    ),
    "four classes": (lambda sim, _: sim.update(num_classes=4), "contradiction", "{}num_classes is 4"),
    "classes of one part": (
        lambda sim, name: sim["pred_proba_dict_val"].update({name: np.zeros((24, 2), np.float32)}),
        "shape-mismatch",
        "pred_val (24, 2) and pred_test (60, 3)",
    ),
    "class labels": (
        lambda sim, _: sim.update(ordered_class_labels=["w0"]),
        "wrong-type",
        "{}ordered_class_labels is a value of type list",
    ),
    "other metric": (lambda sim, _: sim.update(eval_metric="accuracy"), "contradiction", "{}eval_metric is 'accuracy'"),
    "other problem": (lambda sim, _: sim.update(problem_type="binary"), "contradiction", "{}problem_type is 'binary'"),
    "object row ids": (
        lambda sim, _: sim.update(y_test_idx=np.array([None] * 60, dtype=object)),
        "wrong-type",
        "{}y_test_idx holds objects",
    ),
    "no rows": (
        lambda sim, name: (
            sim.update(y_val=sim["y_val"][:0], y_val_idx=sim["y_val_idx"][:0]),
            sim["pred_proba_dict_val"].update({name: np.zeros((0, 3), np.float32)}),
        ),
        "shape-mismatch",
        "no val rows",
    ),
}


@pytest.mark.parametrize("case", SIM_CHANGES)
def test_wrong_artifacts(content, written, case) -> None:
    change, code, found = SIM_CHANGES[case]
    value = content("holdout")
    change(value["simulation_artifacts"], value["framework"])
    assert problems(written(value)) == {code: found.format("simulation_artifacts.")}


BAG_CHANGES = {
    "no lists": (lambda bag: bag.clear(), ["missing-key", "missing-key"]),
    "no dict": (None, ["wrong-type", "missing-key", "missing-key"]),
    "a child less": (lambda bag: bag["val_idx_per_child"].pop(), ["shape-mismatch"]),
    "child without rows": (lambda bag: bag["val_idx_per_child"].__setitem__(2, None), ["wrong-type"]),
    "position too high": (lambda bag: bag["val_idx_per_child"][2].__setitem__(0, 127), ["shape-mismatch"]),
    "position negative": (lambda bag: bag["val_idx_per_child"][2].__setitem__(0, -1), ["shape-mismatch"]),
    "uncovered row": (lambda bag: bag["val_idx_per_child"].__setitem__(0, np.array([5])), ["shape-mismatch"]),
    "float positions": (
        lambda bag: bag["val_idx_per_child"].__setitem__(0, bag["val_idx_per_child"][0].astype(float)),
        ["wrong-type"],
    ),
    "child of other rows": (
        lambda bag: bag["pred_proba_test_per_child"].__setitem__(1, np.zeros((59, 3), np.float32)),
        ["shape-mismatch"],
    ),
    "child of one dimension": (
        lambda bag: bag["pred_proba_test_per_child"].__setitem__(1, np.zeros(60, np.float32)),
        ["wrong-type"],
    ),
    "NaN in a child": (
        lambda bag: bag["pred_proba_test_per_child"][3].__setitem__((0, 0), math.nan),
        ["not-finite"],
    ),
    "two children wrong": (
        lambda bag: bag["pred_proba_test_per_child"].__setitem__(slice(0, 2), ["x", 7]),
        ["wrong-type", "wrong-type"],
    ),
    "given children too few": (
        lambda bag: bag.update(pred_val_per_child=[np.zeros(3, np.float32)]),
        ["shape-mismatch"],
    ),
}


@pytest.mark.parametrize("case", BAG_CHANGES)
def test_wrong_children(content, written, case) -> None:
    change, expected = BAG_CHANGES[case]
    value = content("multiclass")
    if change is None:
        value["simulation_artifacts"]["bag_info"] = "x"
    else:
        change(value["simulation_artifacts"]["bag_info"])
    assert codes(written(value)) == expected


def test_every_problem_of_a_file_is_told_at_once(content, written) -> None:
    value = content("holdout")
    value["time_train_s"] = math.nan
    del value["task_metadata"]["tid"]
    value["simulation_artifacts"]["y_test"] = None
    value["simulation_artifacts"]["metric"] = "rmse"
    path = written(value)
    with pytest.raises(Failure) as failure:
        load_result(path)
    assert str(failure.value).splitlines()[::2] == [
        f"{path}: no task_metadata.tid, expected a whole number from 0",
        f"{path}: simulation_artifacts.metric is 'rmse', expected log_loss, as at the top",
        f"{path}: simulation_artifacts.y_test is None, expected a 1-dimensional array of integers",
        f"{path}: time_train_s is nan, expected a finite number",
    ]


def test_metadata_that_explodes_when_written_out_is_refused(content, written) -> None:
    value = content("system")
    wide = []
    for _ in range(40):
        wide = [wide, wide]
    value["method_metadata"] = {"model_hyperparameters": wide}
    assert problems(written(value)) == {"too-complex": "more than 200,000 values in its metadata"}
    deep = []
    for _ in range(150):
        deep = [deep]
    value["method_metadata"] = {"model_hyperparameters": deep}
    assert problems(written(value)) == {"too-complex": "values nested more than 100 deep in its metadata"}


def test_labels_of_odd_types_do_not_fail_a_result(content, written) -> None:
    value = content("binary")
    value["simulation_artifacts"].update(ordered_class_labels=[("a", 1), 7], label=12)
    predictions = load_result(written(value)).predictions
    assert (predictions.class_labels, predictions.label) == (["a value of type tuple", 7], "12")


# ---------------------------------------------------------------- many files


def test_bad_files_are_listed_among_the_good(genuine_files, tmp_path) -> None:
    for number, genuine in enumerate(genuine_files[:6]):
        path = tmp_path / genuine.parts[-4] / genuine.parts[-3] / f"0_{number}" / "results.pkl"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = genuine.read_bytes()
        path.write_bytes({1: data[:-9], 3: b""}.get(number, data))
    found = find_results(tmp_path)
    results, problems = load_results(found.files)
    assert [len(found.files), len(results), len(problems)] == [6, 4, 2]
    assert sorted(problem.code for problem in problems) == ["empty-file", "truncated"]


def test_loading_is_a_stream_with_problems_as_they_come(genuine, tmp_path) -> None:
    (tmp_path / "bad.pkl").write_bytes(b"no pickle")
    heard = []
    stream = iter_results([genuine("binary"), tmp_path / "bad.pkl", str(genuine("system"))], heard.append)
    assert (next(stream).kind, heard) == ("config", [])
    assert next(stream).kind == "baseline"
    assert [problem.code for problem in heard] == ["not-a-pickle"]
    assert list(stream) == []


def test_second_file_of_one_result_is_a_problem(genuine, content, written) -> None:
    again = written(content("binary"), name="again.pkl")
    results, problems = load_results([genuine("binary"), again])
    assert len(results) == 1
    assert str(problems[0]) == (
        f"{again}: LightGBM_c1_default_BAG_L1 on local_breast_cancer-498b8450f429, split 0, is also in "
        f"{genuine('binary')}, expected one file a result\n"
        "    fix: move the file that does not belong to this run out of its tree"
    )


def test_missing_file_is_a_problem_not_an_error(tmp_path) -> None:
    assert problems(tmp_path / "nowhere.pkl") == {"missing": "no such file"}


def test_result_survives_a_trip_to_another_process(genuine) -> None:
    for name in ("beyond", "multiclass", "system"):
        result = load_result(genuine(name))
        again = pickle.loads(pickle.dumps(result))
        assert again.metric_error == result.metric_error
        assert again.method_metadata.keys() == result.method_metadata.keys()
        if result.predictions is not None:
            same(again, result)
