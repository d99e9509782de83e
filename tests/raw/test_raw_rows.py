"""Results reduced to rows."""

from __future__ import annotations

import pytest

from benchwright.raw import load_result, load_results, reduce_results, result_row, row_schema


def test_rows_of_all_genuine_files(genuine_files) -> None:
    results, problems = load_results(genuine_files)
    table = reduce_results(results)
    assert problems == []
    assert (table.num_rows, table.schema) == (114, row_schema())
    assert table.column("framework").to_pylist() == [result.framework for result in results]
    assert set(table.column("kind").to_pylist()) == {"config", "baseline"}


def test_no_results_make_an_empty_table_of_the_same_columns() -> None:
    table = reduce_results([])
    assert (table.num_rows, table.schema) == (0, row_schema())


def test_many_results_come_in_batches_and_in_order(genuine, monkeypatch) -> None:
    monkeypatch.setattr("benchwright.raw.rows.BATCH", 2)
    results = [load_result(genuine(name)) for name in ("binary", "system", "knn", "outer", "beyond")]
    table = reduce_results(iter(results))
    assert table.column("framework").to_pylist() == [result.framework for result in results]
    assert [len(chunk) for chunk in table.column("framework").chunks] == [2, 2, 1]


def test_row_of_a_config(genuine) -> None:
    row = result_row(load_result(genuine("binary")))
    path, labels = row.pop("path"), row.pop("labels")
    assert path == str(genuine("binary"))
    assert len(labels) == 16
    assert {key: row[key] for key in list(row)[:8]} == {
        "framework": "LightGBM_c1_default_BAG_L1",
        "dataset": "local_breast_cancer-498b8450f429",
        "split": 0,
        "repeat": 0,
        "fold": 0,
        "tid": 3033992533,
        "problem_type": "binary",
        "metric": "roc_auc",
    }
    assert {key: row[key] for key in list(row)[12:23]} == {
        "kind": "config",
        "method_cls": "AGSingleBagWrapper",
        "ag_key": "GBM",
        "model_type": "GBM",
        "name_prefix": "LightGBM",
        "num_cpus": 2.0,
        "num_gpus": 0.0,
        "disk_usage": row["disk_usage"],
        "children": 8,
        "protocol": "8x1",
        "protocol_note": "8 children, 8 folds x 1 repeat",
    }
    assert 0 <= row["metric_error"] < row["metric_error_val"] < 1
    assert row["peak_mem_cpu"] > 1e8
    assert row["peak_mem_gpu"] is None


def test_row_of_a_system_says_none_where_the_file_says_nothing(genuine) -> None:
    row = result_row(load_result(genuine("system")))
    silent = ("metric_error_val", "ag_key", "model_type", "name_prefix", "num_cpus", "num_gpus", "disk_usage", "labels")
    assert [row[key] for key in silent] == [None] * len(silent)
    assert (row["kind"], row["children"], row["protocol"]) == ("baseline", 0, "system")


def test_kept_key_of_a_renamed_model_type_wins(content, written) -> None:
    value = content("binary")
    value["method_metadata"].update(ag_key="GBM", model_type="GBM_MINE")
    row = result_row(load_result(written(value)))
    assert (row["ag_key"], row["model_type"]) == ("GBM", "GBM_MINE")


@pytest.mark.parametrize("value", ["2", None, [2], True, 10**400, 1 + 1j])
def test_numbers_of_wrong_types_are_none(content, written, value) -> None:
    result = content("binary")
    result["method_metadata"]["num_cpus"] = value
    assert result_row(load_result(written(result)))["num_cpus"] is None


def test_labels_tell_results_of_one_split_from_results_of_another(genuine, content, written) -> None:
    root = genuine("binary").parents[3]

    def labels(method: str, split: str, task: str = "local_breast_cancer-498b8450f429") -> str:
        return result_row(load_result(root / method / task / split / "results.pkl"))["labels"]

    assert labels("LightGBM_c1_default_BAG_L1", "0_0") == labels("RandomForest_c1_default_BAG_L1", "0_0")
    assert labels("LightGBM_c1_default_BAG_L1", "0_0") != labels("LightGBM_c1_default_BAG_L1", "0_1")
    wider = content("binary")
    sim = wider["simulation_artifacts"]
    sim["y_val"], sim["y_val_idx"] = sim["y_val"].astype("int64"), sim["y_val_idx"].astype("int32")
    assert result_row(load_result(written(wider)))["labels"] == labels("LightGBM_c1_default_BAG_L1", "0_0")
    sim["y_val"] = 1 - sim["y_val"]
    assert result_row(load_result(written(wider)))["labels"] != labels("LightGBM_c1_default_BAG_L1", "0_0")
