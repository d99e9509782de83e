"""Bundles and job files, held against those that the public launcher wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.arena import Item, Resources, Split
from benchwright.files import RunPaths
from benchwright.launch.bundles import make_bundles
from benchwright.launch.groups import group_jobs
from benchwright.launch.job_file import job_defaults, write_job_file
from benchwright.launch.plan import BenchmarkPlan, ModelJob, PathSetup, SchedulerSetup, SlurmSetup
from benchwright.node import read_job_file

GENUINE = Path(__file__).resolve().parents[1] / "data" / "tabflow_workspace" / "setup_out"


def genuine(benchmark):
    """The public launcher's items of a group, in order, and the job files it cut them into."""
    folder = GENUINE / benchmark
    jobs = json.loads((folder / f"job_batch_{benchmark}_cpu" / "jobs.json").read_text())["jobs"]
    files = [json.loads(path.read_text()) for path in sorted(folder.glob("slurm_run_data_*.json"))]
    return [Item(**job, task_key=job["dataset"]) for job in jobs], files


def split(dataset, **changes):
    facts = {
        "dataset": dataset,
        "task_key": dataset,
        "tid": 1,
        "repeat": 0,
        "fold": 0,
        "split": 0,
        "problem_type": "binary",
        "metric": "roc_auc",
        "n_features": 10,
        "n_classes": 2,
        "train_rows": 200.0,
        "test_rows": 100.0,
        "categorical_share": 0.0,
    }
    return Split(**facts | changes)


def items(*datasets):
    return [Item("E", dataset, 0, fold, dataset) for fold, dataset in enumerate(datasets)]


@pytest.mark.parametrize(("benchmark", "size"), [("demo_local", 5), ("demo_slurm", 4)])
def test_bundles_are_those_of_the_public_launcher(benchmark, size):
    ours, files = genuine(benchmark)
    (bundles,) = make_bundles(ours, SchedulerSetup(bundle_size=size), [])
    theirs = [job["items"] for file in files for job in file["jobs"]]
    assert [[without(item.to_dict()) for item in bundle] for bundle in bundles.bundles] == theirs


@pytest.mark.parametrize("benchmark", ["demo_local", "demo_slurm"])
def test_a_job_file_has_the_public_launchers_form(tmp_path, benchmark):
    ours, files = genuine(benchmark)
    theirs = files[0]["defaults"]
    plan = BenchmarkPlan("demo", "mini", [ModelJob("KNN")], PathSetup(tmp_path))
    (group,) = group_jobs(plan)
    (bundles,) = make_bundles(ours, group.scheduler, [])
    defaults = job_defaults(
        group,
        Resources(time_limit=3600, num_cpus=8, num_gpus=0, memory_limit=32),
        python=theirs["python"],
        job_batch=Path(theirs["job_batch_dir"]),
        paths=RunPaths(Path(theirs["output_dir"]).parents[1], benchmark),
        offline=True,
    )
    write_job_file(tmp_path / "jobs.json", bundles, defaults)
    written = json.loads((tmp_path / "jobs.json").read_text())["defaults"]
    assert written["entry"] == "benchwright.bridge.item:run_item"
    assert written["preload"] == "benchwright.bridge.item:preload"
    assert written["offline_weights"] is True
    assert written["slurm_log_dir"] == theirs["output_dir"].replace("/output/", "/slurm_out/")
    different = {"run_script", "setup_ray_for_slurm_shared_resources_environment"}
    assert list(written) == [*theirs, "entry", "preload", "offline_weights", "slurm_log_dir"]
    assert {name: written[name] for name in theirs if name not in different} == {
        name: value for name, value in theirs.items() if name not in different
    }
    read = read_job_file(tmp_path / "jobs.json")
    assert [[item.label() for item in bundle] for bundle in read.bundles] == [
        [item.label() for item in bundle] for bundle in bundles.bundles
    ]


def test_a_gpu_models_memory_is_the_cards(tmp_path):
    job = ModelJob("TabM", resources={"num_gpus": 1, "fake_memory_for_estimates": 96})
    (group,) = group_jobs(BenchmarkPlan("demo", "mini", [job], PathSetup(tmp_path)))
    resources = Resources(time_limit=3600, num_cpus=8, num_gpus=1, memory_limit=32)
    paths = RunPaths(tmp_path, "demo")
    defaults = job_defaults(group, resources, python="python", job_batch=tmp_path, paths=paths, offline=False)
    assert defaults["memory_limit"] == 96


@pytest.mark.parametrize(
    ("setup", "wanted"),
    [
        (SlurmSetup(), True),
        (SlurmSetup(setup_ray_for_slurm_shared_resources_environment=False), False),
        (SchedulerSetup(), False),
    ],
)
def test_a_ray_session_of_its_own_is_for_nodes_that_are_shared(tmp_path, setup, wanted):
    plan = BenchmarkPlan("demo", "mini", [ModelJob("KNN")], PathSetup(tmp_path), scheduler_setup=setup)
    (group,) = group_jobs(plan)
    paths = RunPaths(tmp_path, "demo")
    defaults = job_defaults(group, Resources(60), python="python", job_batch=tmp_path, paths=paths, offline=False)
    assert defaults["setup_ray_for_slurm_shared_resources_environment"] is wanted


def test_sizes_go_from_small_to_large_and_explicit_ones_win():
    setup = SchedulerSetup(bundle_size=3, bundle_size_per_dataset={"wide": 2, "slow": 4}, large_dataset_n_features=50)
    splits = [split("wide", n_features=51), split("many", train_rows=70_000.0, test_rows=30_001.0), split("slow")]
    made = make_bundles(items("a", "wide", "many", "b", "slow", "wide", "a", "b", "wide"), setup, splits)
    assert [(one.size, [[item.dataset for item in bundle] for bundle in one.bundles]) for one in made] == [
        (1, [["many"]]),
        (2, [["wide", "wide"], ["wide"]]),
        (3, [["a", "b", "a"], ["b"]]),
        (4, [["slow"]]),
    ]


def test_a_dataset_at_the_limits_is_not_large():
    at_the_limits = split("at", n_features=5000, train_rows=66_666.7, test_rows=33_333.3)
    (made,) = make_bundles(items("at", "at"), SchedulerSetup(), [at_the_limits])
    assert made.size == 5


def test_nothing_makes_no_bundle():
    assert make_bundles([], SchedulerSetup(), []) == []


def without(record):
    return {name: value for name, value in record.items() if name != "task_key"}
