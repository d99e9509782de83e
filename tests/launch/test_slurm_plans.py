"""Plans for a SLURM cluster on a machine that is none: what is refused, and what is written all the same."""

from __future__ import annotations

import dataclasses
import json
import shlex

import pytest
from launch_results import relabelled

from benchwright.arena import TaskSubset
from benchwright.bridge import open_arena
from benchwright.cli.shell import report as printed
from benchwright.contract import Exit, Failure
from benchwright.launch import (
    BenchmarkPlan,
    GCPSlurmSetup,
    LocalSetup,
    ModelJob,
    PathSetup,
    ResourcesSetup,
    SlurmSetup,
    group_jobs,
    identity_of,
    run_local,
    setup_jobs,
)
from benchwright.launch.sbatch import SUBMIT_SCRIPT
from benchwright.node import read_job_file

CARD = {"num_gpus": 1, "fake_memory_for_estimates": 96}


@pytest.fixture(autouse=True)
def no_client(monkeypatch, tmp_path):
    """No SLURM on the PATH; a Python is named by its whole path everywhere."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def plan(workspace, *jobs, **changes):
    facts = {
        "benchmark_name": "demo",
        "arena": "mini",
        "model_jobs": jobs or [ModelJob(("KNN", 0), name="cpu")],
        "path_setup": PathSetup(workspace),
        "scheduler_setup": SlurmSetup(bundle_size=2, ask_cluster=False),
        "task_subset": TaskSubset(subset="lite"),
    }
    return BenchmarkPlan(**facts | changes)


def refused(a_plan):
    with pytest.raises(Failure) as caught:
        setup_jobs(a_plan)
    return caught.value


@pytest.mark.parametrize(
    ("setup", "resources", "model", "card"),
    [
        (SlurmSetup(), {}, "KNN", ""),
        (GCPSlurmSetup(), CARD, "TabM", ", fake_memory_for_estimates, 96 GB, then being this machine's card's"),
    ],
)
def test_a_machine_that_is_no_head_node_is_said_to_be_none(tmp_path, setup, resources, model, card):
    job = ModelJob((model, 0), resources=resources)
    failure = refused(plan(tmp_path / "w", job, scheduler_setup=setup))
    assert failure.exit == Exit.ENVIRONMENT
    assert str(failure) == (
        "scontrol: not installed on this machine, or not on the PATH, expected a machine that submits to SLURM\n"
        f"    fix: run setup on the head node; or setup --scheduler local{card}; "
        "or SlurmSetup(ask_cluster=False), to write job files and commands unchecked"
    )
    assert list(tmp_path.iterdir()) == []


def test_without_asking_job_files_and_commands_are_written(tmp_path):
    a_plan = plan(tmp_path)
    report = setup_jobs(a_plan)
    (array,) = report.arrays
    folder = tmp_path / "setup_out" / "demo"
    assert array.job_file == folder / f"slurm_run_data_demo_cpu-{report.identity}.json"
    assert (array.tasks, array.items, array.largest) == (5, 9, 2)
    assert array.command == (
        f"sbatch --array=0-4%100 --job-name=demo --time=1:10:00 --cpus-per-task=1 --requeue "
        f"--output={tmp_path}/slurm_out/demo/%A/slurm-%A_%a.out {SUBMIT_SCRIPT} {array.job_file}"
    )
    outcome = report.outcome("python run_knn.py")
    assert outcome.next == [array.command]
    watch = (
        f"{a_plan.path_setup.python} -P -m benchwright.node.slurm_progress JOB_ID 5 "
        f"--results-dir {a_plan.paths.data} --expected-results 9 --log-dir {a_plan.paths.logs}/JOB_ID"
    )
    figures = {"job_file": str(array.job_file), "tasks": 5, "items": 9, "largest": 2}
    assert outcome.data["arrays"] == [{**figures, "command": array.command, "watch": watch}]
    assert outcome.data["eval"] == "python run_knn.py eval"
    assert (outcome.data["expected_results"], outcome.data["logs"]) == (9, f"{tmp_path}/slurm_out/demo")
    json.dumps(outcome.envelope("run_knn"))
    assert printed(outcome).splitlines() == [
        "Approved 9 (experiment, dataset, fold, repeat) items -> 5 array tasks (max 2 items/task).",
        "the cluster was not asked: see yourself that it takes these arrays, and has none of before at work",
        "0 of 9 items have their result already",
        "Run the following 1 command(s) to launch the jobs:",
        f"    {array.command}",
        "Watch each, by its id and its number of tasks:",
        f"    {watch.replace(' 5 ', ' TASKS ')}",
        "When all have ended:",
        "    python run_knn.py eval",
    ]
    assert a_plan.paths.logs.is_dir(), "a log in a folder that is not there fails its task"


def test_the_sheet_for_another_person_holds_the_same(tmp_path):
    report = setup_jobs(plan(tmp_path))
    (array,) = report.arrays
    assert report.steps("python run_knn.py") == [
        array.command,
        "# when all of them have ended:",
        "python run_knn.py eval",
    ]
    assert report.facts[:4] == [
        "missing: 9 of 9 items",
        f"results in the end: 9 in {tmp_path}/output/demo/data",
        f"logs: below {tmp_path}/slurm_out/demo",
        f"tasks of {array.job_file.name}: 5",
    ]
    assert report.checks[-1] == "complete: 9 results, and a second setup that approves nothing"


def test_groups_sizes_and_long_arrays_are_apart(tmp_path):
    datasets = list(open_arena("mini").spec.tasks.datasets[:2])
    setup = SlurmSetup(
        bundle_size=2, bundle_size_per_dataset={datasets[0]: 1}, max_array_size=2, ask_cluster=False, cpu_partition="c"
    )
    jobs = [
        ModelJob(("KNN", 0), name="cpu"),
        ModelJob(("TabM", 0), name="gpu", resources=CARD, scheduler={"gpu_partition": "g", "array_job_limit": 7}),
    ]
    scope = TaskSubset(dataset_names=datasets)
    report = setup_jobs(plan(tmp_path, *jobs, scheduler_setup=setup, task_subset=scope))
    identity = report.identity
    assert [(array.job_file.name, array.tasks, array.items) for array in report.arrays] == [
        (f"slurm_run_data_demo_cpu-{identity}_size1_batch0.json", 2, 2),
        (f"slurm_run_data_demo_cpu-{identity}_size1_batch1.json", 1, 1),
        (f"slurm_run_data_demo_cpu-{identity}_size2.json", 2, 3),
        (f"slurm_run_data_demo_gpu-{identity}_size1_batch0.json", 2, 2),
        (f"slurm_run_data_demo_gpu-{identity}_size1_batch1.json", 1, 1),
        (f"slurm_run_data_demo_gpu-{identity}_size2.json", 2, 3),
    ]
    asked = [shlex.split(array.command)[1:6] for array in report.arrays]
    assert asked[0] == ["--array=0-1%100", "--job-name=demo", "--partition=c", "--time=1:05:00", "--cpus-per-task=1"]
    assert asked[2][3] == "--time=1:10:00"
    assert asked[5] == ["--array=0-1%7", "--job-name=demo", "--partition=g", "--gres=gpu:1", "--time=1:10:00"]
    assert report.outcome().next_title == "Run the following 6 command(s) to launch the jobs:"
    memory = [read_job_file(array.job_file).defaults["memory_limit"] for array in report.arrays]
    assert memory == [None] * 3 + [96] * 3


def test_only_what_is_missing_is_launched_again_and_results_of_others_are_counted(tmp_path):
    a_plan = plan(tmp_path)
    first = setup_jobs(a_plan)
    items = [item for array in first.arrays for bundle in read_job_file(array.job_file).bundles for item in bundle]
    stranger = dataclasses.replace(items[0], experiment="XGBoost_c1_default_BAG_L1")
    for item in (*items[:8], stranger):
        path = a_plan.paths.result(item.experiment, item.task_key, item.repeat, item.fold)
        path.parent.mkdir(parents=True)
        path.write_bytes(relabelled(item))
    report = setup_jobs(a_plan)
    assert (report.approved, report.array_tasks, report.expected_results) == (1, 1, 10)
    assert "--array=0-0%100" in report.commands[0]
    again = dataclasses.replace(a_plan, model_jobs=[ModelJob(("KNN", 0), name="cpu", ignore_cache=True)])
    assert (setup_jobs(again).approved, setup_jobs(again).expected_results) == (9, 10)


def test_a_set_up_for_a_cluster_is_not_run_here(tmp_path):
    a_plan = plan(tmp_path)
    setup_jobs(a_plan)
    with pytest.raises(Failure) as caught:
        run_local(a_plan)
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"{tmp_path}/setup_out/demo: a set-up for SLURM, which its own commands launch, expected one for this machine\n"
        "    fix: setup --scheduler local, then run"
    )


def test_a_set_up_for_this_machine_says_that_it_could_not_ask_about_the_launch_before(tmp_path):
    setup_jobs(plan(tmp_path))
    report = setup_jobs(plan(tmp_path, scheduler_setup=LocalSetup()))
    assert report.notes == (
        "an earlier set-up was for SLURM, which cannot be asked here: not installed on this machine, "
        "or not on the PATH",
    )
    assert setup_jobs(plan(tmp_path, scheduler_setup=LocalSetup())).notes == ()


def test_jobs_with_and_without_a_gpu_agree_with_the_cards_memory(tmp_path):
    failure = refused(
        plan(
            tmp_path,
            ModelJob("TabM", resources={"num_gpus": 1}),
            ModelJob("KNN", resources={"fake_memory_for_estimates": 80}),
        )
    )
    assert failure.exit == Exit.USAGE
    assert [str(problem) for problem in failure.problems] == [
        "model_jobs[0].resources: 1 GPU and no fake_memory_for_estimates, expected the card's memory in GB, so that "
        "parallel folds are planned by it and not by the machine's RAM\n"
        "    fix: put it beside num_gpus in the run script, as nvidia-smi shows it where the card is",
        "model_jobs[1].resources: fake_memory_for_estimates 80 and no GPU, expected both or neither: without a GPU, "
        "estimates are held against the machine's RAM\n"
        "    fix: put num_gpus beside it in the run script, or take it out",
    ]


def test_models_are_launched_on_what_they_run_on(tmp_path):
    failure = refused(plan(tmp_path, ModelJob(["KNN", "TabM"], name="both"), ModelJob(["Linear"], "gpu", CARD)))
    assert [str(problem) for problem in failure.problems] == [
        "model job both: no GPU for TabM, which runs on one, expected a GPU\n"
        "    fix: give it a ModelJob with num_gpus and fake_memory_for_estimates in the run script",
        "model job gpu: 1 GPU for Linear, which runs on the CPU, expected none\n"
        "    fix: give it a ModelJob without num_gpus and fake_memory_for_estimates in the run script",
    ]


def test_values_that_cannot_be_meant_are_all_named(tmp_path):
    setup = SlurmSetup(
        cpu_partition=3,
        extra_gres="a\nb",
        exclusive_node=1,
        time_limit_overhead=-1,
        max_array_size=0,
        array_job_limit=0,
    )
    job = ModelJob("KNN", scheduler={"ask_cluster": False, "cpu_partition": None, "max_array_size": None})
    failure = refused(plan(tmp_path, job, scheduler_setup=setup, offline_weights="no"))
    assert [f"{problem.where} | {problem.found} | {problem.expected}" for problem in failure.problems] == [
        "offline_weights | 'no' | True or False",
        "scheduler_setup: cpu_partition | 3 | a text, or None",
        "scheduler_setup: extra_gres | 'a\\nb' | a text, or None",
        "scheduler_setup: exclusive_node | 1 | True or False",
        "scheduler_setup: time_limit_overhead | -1 | hours, a number of at least 0",
        "scheduler_setup: max_array_size | 0 | a whole number of at least 1",
        "scheduler_setup: array_job_limit | 0 | a whole number of at least 1",
        "model_jobs[0].scheduler: ask_cluster | no such field | ",
    ]


def test_a_python_that_the_submit_script_could_not_read_is_refused(tmp_path):
    failure = refused(plan(tmp_path, path_setup=PathSetup(tmp_path, '/my "bin"/python')))
    assert str(failure) == (
        "python_path: '/my \"bin\"/python', expected a path without quotes and backslashes\n"
        "    fix: link its environment to a plain name with ln -s, and give PYTHON_PATH the Python below that"
    )


def test_a_workspace_whose_logs_slurm_could_not_name_is_refused(tmp_path):
    failure = refused(plan(tmp_path / "back\\slash"))
    assert str(failure) == (
        f"workspace: '{tmp_path}/back\\\\slash/slurm_out/demo', expected a path without backslashes\n"
        "    fix: give the run script another WORKSPACE"
    )


def test_a_jobs_time_is_not_what_the_plan_runs(tmp_path):
    plain, longer = (
        plan(tmp_path),
        plan(tmp_path, resources_setup=ResourcesSetup(time_limit_for_model_agnostic_preprocessing=900)),
    )
    assert identity_of(plain, group_jobs(plain)) == identity_of(longer, group_jobs(longer))
    assert "--time=1:40:00" in setup_jobs(longer).commands[0]


@pytest.mark.parametrize(
    ("model", "changes", "offline"),
    [
        ("TabICLv2", {}, True),
        ("TabICLv2", {"offline_weights": False}, False),
        ("TabM", {}, False),
    ],
    ids=["fetched", "off for this run", "nothing to fetch"],
)
def test_items_do_without_the_hub_once_their_weights_are_fetched(tmp_path, monkeypatch, model, changes, offline):
    monkeypatch.setattr("benchwright.bridge.prefetch_weights", lambda models: [f"weights of {' '.join(models)}"])
    report = setup_jobs(plan(tmp_path, ModelJob((model, 0), name="gpu", resources=CARD), **changes))
    assert read_job_file(report.job_files[0]).defaults["offline_weights"] is offline
    assert "the cluster was not asked" in report.notes[0]


def test_weights_that_were_not_fetched_leave_the_hub_open(tmp_path):
    job = ModelJob(("TabICLv2", 0), name="gpu", resources=CARD)
    report = setup_jobs(plan(tmp_path, job, prefetch_model_weights=False))
    assert read_job_file(report.job_files[0]).defaults["offline_weights"] is False
