"""The real ``tabarena`` opens our artifacts, computes its own tables from them, and processes our raw copies."""

import csv
import dataclasses
from pathlib import Path

import pandas as pd
import pytest
from tabarena.benchmark.task.metadata import TaskMetadataCollection
from tabarena.contexts.abstract_arena_context import AbstractArenaContext
from tabarena.end_to_end import EndToEnd
from tabarena.models._method_metadata import MethodMetadata as TheirMetadata
from tabarena.models._method_simulator import MethodSimulator

from benchwright.arena import MethodMetadata
from benchwright.processing import build_artifact
from benchwright.raw import find_results

DATA = Path(__file__).parents[1] / "data"
METHODS = DATA / "tabarena_cache/artifacts/local-2026-11-29/methods"
TASKS = DATA / "tabflow_workspace/setup_out/demo_local/job_batch_demo_local_cpu/task_metadata.csv"
DATASETS = ["local_breast_cancer-498b8450f429", "local_diabetes-a3d1e20e7ed9", "local_wine-0ae0b9dbb2cc"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache with our artifacts; LinearModel's without any table of tasks."""
    root = tmp_path_factory.mktemp("cache")
    files = find_results(DATA / "tabarena_raw").files
    with TASKS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for method in ("LightGBM", "LinearModel", "RandomForest", "DemoLogisticSystem"):
        metadata = MethodMetadata.from_yaml((METHODS / method / "metadata.yaml").read_text())
        own = [file for file in files if file.method.startswith(f"{method}_")]
        build_artifact(own, metadata, cache_root=root, task_rows=None if method == "LinearModel" else rows, jobs=1)
    return root


def opened(cache, method):
    """Their record of a method, read from our folder."""
    return TheirMetadata.from_yaml(method=method, suite="local-2026-11-29", cache_root=cache)


@pytest.mark.parametrize("method", ["LightGBM", "LinearModel", "RandomForest"])
def test_its_own_ensembles_from_our_store_give_our_rows(cache, method):
    metadata = opened(cache, method)
    repository = metadata.load_processed()
    assert repository.datasets() == DATASETS
    hpo, model = MethodSimulator(metadata).generate_results(repo=repository, backend="native")
    order = ["dataset", "fold", "method"]
    ours = metadata.load_results().sort_values(order, ignore_index=True)
    theirs = hpo.sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(ours, theirs, rtol=0, atol=1e-9, check_like=True, check_dtype=False)
    pd.testing.assert_frame_equal(metadata.load_model_results(), model, rtol=0, atol=1e-9)


def test_its_own_trajectories_from_our_store_are_ours(cache):
    metadata = opened(cache, "LinearModel")
    theirs = MethodSimulator(metadata).generate_hpo_trajectories(backend="native")
    pd.testing.assert_frame_equal(metadata.load_hpo_trajectories(download=False), theirs, rtol=0, atol=1e-9)


def test_predictions_and_labels_of_a_split(cache):
    repository = opened(cache, "LightGBM").load_processed()
    genuine = dataclasses.replace(TheirMetadata.from_yaml(path=METHODS / "LightGBM"), artifact_dir=METHODS / "LightGBM")
    theirs = genuine.load_processed()
    for dataset in DATASETS:
        for part in ("val", "test"):
            ours, expected = (
                getattr(each, f"predict_{part}_multi")(dataset=dataset, fold=2, configs=each.configs())
                for each in (repository, theirs)
            )
            assert (ours == expected).all()
            labels, expected = (
                getattr(each, f"labels_{part}")(dataset=dataset, fold=2) for each in (repository, theirs)
            )
            assert (labels == expected).all()


def test_a_system_can_be_loaded_too(cache):
    """From the public pipeline's own artifact it cannot: that names no folds for one."""
    metadata = opened(cache, "DemoLogisticSystem")
    repository = metadata.load_processed()
    _, model = MethodSimulator(metadata).generate_results(repo=repository, backend="native")
    theirs = metadata.load_model_results()
    assert len(theirs) == 9
    pd.testing.assert_frame_equal(model[theirs.columns], theirs, rtol=0, atol=1e-9)


def test_the_hyperparameters_and_the_record(cache):
    for method in ("LightGBM", "DemoLogisticSystem"):
        metadata = opened(cache, method)
        genuine = TheirMetadata.from_yaml(path=METHODS / method)
        assert metadata.to_info_dict() == genuine.to_info_dict()
    configs = opened(cache, "LightGBM").load_configs_hyperparameters(download=False)
    assert configs["LightGBM_c1_default_BAG_L1"]["hyperparameters"]["num_boost_round"] == 60


def test_it_compares_methods_from_our_folders(cache):
    methods = [opened(cache, method) for method in ("LightGBM", "LinearModel", "RandomForest", "DemoLogisticSystem")]
    genuine = [
        dataclasses.replace(TheirMetadata.from_yaml(path=METHODS / method.method), artifact_dir=METHODS / method.method)
        for method in methods
    ]
    tasks = TaskMetadataCollection.from_source(str(TASKS))
    ours, theirs = (
        AbstractArenaContext(each, tasks, backend="native").compare(None, plot=False) for each in (methods, genuine)
    )
    assert len(ours) == 8
    pd.testing.assert_frame_equal(ours, theirs, rtol=0, atol=1e-9)


def test_it_processes_our_raw_copies_to_the_same_tables(cache, tmp_path):
    """Keyed by their task folders they are user tasks to it; its own copies, keyed by numbers, are not."""
    ours = opened(cache, "LightGBM")
    assert [type(result).__name__ for result in ours.load_raw(engine="sequential")] == ["AGBagResult"] * 54
    into = dataclasses.replace(ours, cache_root=tmp_path)
    EndToEnd.from_path_raw(
        path_raw=ours.path_raw,
        method_metadata=into,
        name=into.method,
        model_key=into.model_key,
        suite=into.suite,
        cache=True,
        cache_processed=True,
        backend="native",
        task_metadata=TaskMetadataCollection.from_source(str(TASKS)),
        verbose=False,
    )
    for load in ("load_results", "load_model_results"):
        pd.testing.assert_frame_equal(getattr(into, load)(), getattr(ours, load)(), rtol=0, atol=1e-9)
