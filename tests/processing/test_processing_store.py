"""The processed store: what the public pipeline maps into memory, byte for byte where bytes are defined."""

import csv
import dataclasses
import json
import zipfile

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from artifact_samples import ALL_METHODS, build, contents, copied, files_of, metadata_of, task_rows
from processing_samples import DATA, DATASETS, METHODS

from benchwright.bridge.task_tables import task_table
from benchwright.contract import Failure, Redaction
from benchwright.processing import artifact_split, build_artifact
from benchwright.processing.stored_split import _csv
from benchwright.processing.task_metadata import SplitFacts, TaskTable, task_metadata
from benchwright.raw import find_results

BREAST, DIABETES, WINE = DATASETS
C1 = "LightGBM_c1_default_BAG_L1"


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The folder ``processed`` of every genuine method, by the method's name."""
    root = tmp_path_factory.mktemp("cache")
    return {method: build(method, root, trajectories=False).folder / "processed" for method in ALL_METHODS}


@pytest.mark.parametrize("method", ALL_METHODS)
def test_predictions_and_documents_are_the_public_ones(stores, method):
    ours, theirs = contents(stores[method]), contents(METHODS / method / "processed")
    assert ours.keys() == theirs.keys()
    for name in theirs:
        if name.endswith((".dat", "metadata.json", "configs_hyperparameters.json")):
            assert ours[name] == theirs[name], name
        if name.endswith(".csv.zip"):
            mine, other = (
                zipfile.ZipFile(folder / name) for folder in (stores[method], METHODS / method / "processed")
            )
            assert mine.namelist() == other.namelist() == [name.rpartition("/")[2].removesuffix(".zip")]
            assert mine.read(mine.namelist()[0]) == other.read(other.namelist()[0])


# Defect 16 of the peer: it publishes the absolute path of its cache.
@pytest.mark.parametrize("method", ALL_METHODS)
def test_the_context_names_no_folder_of_this_machine(stores, method):
    ours, theirs = (
        json.loads((folder / "context.json").read_text()) for folder in (stores[method], METHODS / method / "processed")
    )
    assert theirs["benchmark_paths"].pop("relative_path").startswith("/data/bench")
    assert ours["benchmark_paths"].pop("relative_path") is None
    if method == "DemoLogisticSystem":  # without folds the public reader finds no baseline
        assert (theirs.pop("folds"), ours.pop("folds")) == ([], [0, 1, 2])
    assert ours == theirs


def test_class_references_in_hyperparameters_are_told_by_name(tmp_path):
    files = find_results(DATA / "tabarena_raw_protocols/beyond/data").files
    metadata = metadata_of("LightGBM", can_hpo=False, config_default="LightGBM_c1_BAG_L1")
    built = build_artifact(files, metadata, cache_root=tmp_path, jobs=1)
    told = (built.folder / "processed" / "configs_hyperparameters.json").read_text()
    assert (
        '"tabarena.benchmark.preprocessing.model_specific_default_preprocessing.ModelSpecificFeatureGenerator"' in told
    )
    assert json.loads(told)["LightGBM_c1_BAG_L1"]["model_cls"] == "LGBModel"


def test_labels_with_odd_names_and_texts_as_row_ids(tmp_path):
    text = _csv('the "target", x', np.array(["row 1", "b,c"]), np.array([0.1, 1e-7]))
    expected = pd.Series([0.1, 1e-7], index=["row 1", "b,c"], name='the "target", x').to_csv()
    assert text == expected


def test_a_baseline_with_a_validation_error(tmp_path):
    files = find_results(DATA / "tabarena_raw_protocols/autogluon/data").files
    metadata = metadata_of("DemoLogisticSystem", method="AutoGluon_demo")
    built = build_artifact(files, metadata, cache_root=tmp_path, jobs=1)
    table = pq.read_table(built.folder / "processed" / "baselines.parquet")
    assert table.column_names == [
        "dataset", "fold", "framework", "metric_error", "metric", "time_train_s", "time_infer_s", "metric_error_val",
        "task", "tid", "problem_type",
    ]  # fmt: skip
    assert set(table["framework"].to_pylist()) == {"AutoGluon_demo"}
    assert table["metric_error_val"].null_count == 0


def test_resources_that_no_result_records_have_no_column(tmp_path, monkeypatch):
    def bare(place, version):
        loaded = load_file(place, version)
        method = {"model_type": "GBM", "name_prefix": "LightGBM", "num_cpus": 0.5}
        return dataclasses.replace(loaded, result=dataclasses.replace(loaded.result, method_metadata=method))

    load_file = artifact_split.load_file
    monkeypatch.setattr(artifact_split, "load_file", bare)
    metadata = metadata_of("LightGBM", can_hpo=False)
    files = [file for file in files_of("LightGBM") if file.method == C1]
    built = build_artifact(files, metadata, cache_root=tmp_path, jobs=1, cache_raw=False, trajectories=False)
    table = pq.read_table(built.folder / "processed" / "configs.parquet")
    assert table.column_names[-3:] == ["tid", "num_cpus", "task"]
    assert str(table.schema.field("num_cpus").type) == "double"


class TestTaskMetadata:
    """``task_metadata.parquet``, from a table of splits or from the results alone."""

    @pytest.mark.parametrize("suite", ["TabArena-v0.1", "BeyondArena"])
    def test_the_columns_and_values_of_the_public_frame(self, suite, tmp_path):
        from tabarena.benchmark.task.metadata import TaskMetadataCollection

        with task_table(suite).open(newline="") as file:
            rows = list(csv.DictReader(file))
        datasets = sorted({row["tabarena_task_name"] for row in rows})[::7]  # theirs takes 15 ms a split
        rows = [row for row in rows if row["tabarena_task_name"] in datasets and row["repeat"] in "01"]
        pd.DataFrame(rows).to_csv(tmp_path / "tasks.csv", index=False)
        TaskMetadataCollection.from_source(str(tmp_path / "tasks.csv")).to_legacy_df().to_parquet(tmp_path / "theirs")
        ours, theirs = task_metadata(TaskTable(rows), [], Redaction({})), pq.read_table(tmp_path / "theirs")
        assert ours.schema == theirs.schema.remove_metadata()
        pd.testing.assert_frame_equal(ours.to_pandas(), theirs.to_pandas(), rtol=0, atol=1e-9)

    def test_what_the_results_say_of_themselves(self, tmp_path):
        source = copied(tmp_path / "run", C1)
        metadata = metadata_of("LightGBM", can_hpo=False)
        built = build("LightGBM", tmp_path / "cache", source=source, metadata=metadata, task_rows=None)
        table = pq.read_table(built.folder / "processed" / "task_metadata.parquet")
        theirs = pq.read_table(METHODS / "LightGBM" / "processed" / "task_metadata.parquet")
        assert table.column_names == theirs.column_names
        ours, expected = ({row["dataset"]: row for row in each.to_pylist()} for each in (table, theirs))
        assert list(ours) == sorted(ours) == sorted(DATASETS)
        known = ["dataset", "name", "tabarena_task_name", "problem_type", "is_classification", "target_name"]
        known += ["n_classes", "num_instances", "tid", "n_folds", "n_repeats"]
        known += ["n_samples_train_per_fold", "n_samples_test_per_fold"]
        for dataset, row in ours.items():
            assert {name: row[name] for name in known} == {name: expected[dataset][name] for name in known}
            assert {row[name] for name in row if name not in known} == {None}

    def test_rows_first_then_what_is_not_among_them(self, tmp_path):
        rows = [row for row in task_rows() if row["tabarena_task_name"] == WINE]
        built = build("RandomForest", tmp_path, task_rows=rows)
        table = pq.read_table(built.folder / "processed" / "task_metadata.parquet")
        assert table["dataset"].to_pylist() == [WINE, BREAST, DIABETES]
        assert table["n_features"].to_pylist() == [13, None, None]
        assert str(table.schema.field("n_features").type) == "double"

    def test_a_system_says_little(self, tmp_path):
        built = build("DemoLogisticSystem", tmp_path, task_rows=None)
        row = pq.read_table(built.folder / "processed" / "task_metadata.parquet").to_pylist()[0]
        assert {name: value for name, value in row.items() if value is not None} == {
            "dataset": BREAST,
            "name": BREAST,
            "tabarena_task_name": BREAST,
            "problem_type": "binary",
            "is_classification": True,
            "tid": 3033992533,
            "n_folds": 3,
            "n_repeats": 1,
        }

    @pytest.mark.parametrize(
        "row",
        [
            {},
            {"tabarena_task_name": "x", "task_id_str": "one", "repeat": "0", "fold": "0"},
            {"tabarena_task_name": "x", "task_id_str": "UserTask|x|y", "repeat": "0", "fold": "0"},
            {"tabarena_task_name": "x", "task_id_str": "1", "repeat": "", "fold": "0"},
        ],
    )
    def test_rows_of_something_else(self, row):
        with pytest.raises(Failure) as caught:
            TaskTable([row])
        (problem,) = caught.value.problems
        assert (problem.code, problem.where) == ("bad-task-row", row.get("tabarena_task_name", "task rows"))

    def test_an_openml_task_without_rows(self):
        facts = SplitFacts("churn", 363623, "363623", 0, 0, 0, "binary", "target", 2, 100, 50)
        row = task_metadata(TaskTable([]), [facts], Redaction({})).to_pylist()[0]
        assert (row["task_id_str"], row["tid"], row["num_instances"]) == (363623, 363623, 150)
