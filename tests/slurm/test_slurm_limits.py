"""Set-up against a real cluster: what it could never run is refused, with the figure, before anything is written."""

from __future__ import annotations

import getpass
import json
import shlex

import pytest
from slurm_cluster import MAX_ARRAY_SIZE, free_ports

from benchwright.arena import TaskSubset
from benchwright.contract import Exit, Failure
from benchwright.launch import BenchmarkPlan, ModelJob, PathSetup, SlurmSetup, setup_jobs
from benchwright.launch import cluster as launch_cluster


@pytest.fixture
def head_node(cluster, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(cluster.configuration))


def plan(workspace, *, resources=None, **setup):
    return BenchmarkPlan(
        benchmark_name="demo",
        arena="mini",
        model_jobs=[ModelJob(("KNN", 0), name="cpu", resources=resources or {})],
        path_setup=PathSetup(workspace),
        scheduler_setup=SlurmSetup(**setup),
        task_subset=TaskSubset(subset="lite"),
    )


def refused(a_plan, exit=Exit.USAGE):
    with pytest.raises(Failure) as caught:
        setup_jobs(a_plan)
    assert caught.value.exit == exit
    assert not a_plan.path_setup.workspace.exists()
    return [str(problem) for problem in caught.value.problems]


def test_a_partition_that_is_not_there(head_node, tmp_path):
    assert refused(plan(tmp_path / "w", cpu_partition="shorts")) == [
        "cpu: cpu_partition: no partition is called 'shorts', expected a partition of this cluster\n"
        "    fix: did you mean 'short'?"
    ]
    assert refused(plan(tmp_path / "w", cpu_partition="")) == [
        "cpu: cpu_partition: no partition is called '', expected a partition of this cluster\n"
        "    fix: one of closed, cpu, short"
    ]
    assert "'nope,cpu'" in refused(plan(tmp_path / "w", cpu_partition="nope,cpu"))[0]


def test_a_time_beyond_the_partitions(head_node, tmp_path):
    assert refused(plan(tmp_path / "w", cpu_partition="short", bundle_size=9, time_limit_overhead=1.5)) == [
        "cpu: cpu_partition: 2:15:00 for 9 items a task, expected at most 2:00:00 in short\n    fix: bundle_size 6"
    ]
    assert refused(plan(tmp_path / "w", cpu_partition="short", bundle_size=1, time_limit_overhead=2)) == [
        "cpu: cpu_partition: 2:05:00 for 1 items a task, expected at most 2:00:00 in short\n"
        "    fix: a partition that allows more, or a shorter time_limit"
    ]


def test_an_array_beyond_the_clusters(head_node, tmp_path):
    assert refused(plan(tmp_path / "w", max_array_size=MAX_ARRAY_SIZE + 1)) == [
        f"max_array_size: {MAX_ARRAY_SIZE + 1:,} tasks, more than an array of this cluster may have, "
        f"expected at most {MAX_ARRAY_SIZE:,}\n    fix: leave it out"
    ]


def test_more_than_a_node_has(head_node, tmp_path):
    resources = {"num_cpus": 17, "memory_limit": 63, "num_gpus": 1, "fake_memory_for_estimates": 80}
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path / "w", resources=resources, gpu_partition="short"))
    assert "1 GPU for KNN" in str(caught.value), "a model without use for the card is said first"
    del resources["num_gpus"], resources["fake_memory_for_estimates"]
    assert refused(plan(tmp_path / "w", resources=resources, cpu_partition="cpu,short")) == [
        "cpu: cpu_partition: 17 CPUs a task, expected at most 16, what a node of cpu,short has\n"
        "    fix: another partition",
        "cpu: cpu_partition: 64,512 MiB of memory a task, expected at most 64,000, what a node of cpu,short has\n"
        "    fix: another partition",
    ]


def test_a_gpu_on_a_cluster_without_one(head_node, tmp_path):
    a_plan = plan(tmp_path / "w")
    job = ModelJob(("TabM", 0), name="gpu", resources={"num_gpus": 1, "fake_memory_for_estimates": 80})
    object.__setattr__(a_plan, "model_jobs", [job])
    assert refused(a_plan) == [
        "gpu: gpu_partition: 1 GPUs a task, expected at most 0, what a node of cpu has\n    fix: another partition"
    ]


def test_a_controller_that_does_not_answer_is_asked_again_later(cluster, tmp_path, monkeypatch):
    silent = tmp_path / "slurm.conf"
    text = cluster.impatient.read_text()
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort="))
    silent.write_text(text.replace(port, f"SlurmctldPort={free_ports(1)[0]}"))
    monkeypatch.setenv("SLURM_CONF", str(silent))
    (problem,) = refused(plan(tmp_path / "w"), Exit.REMOTE)
    assert problem.startswith("scontrol: slurm_load_ctl_conf error: Unable to contact slurm controller")
    assert problem.endswith("expected the controller's answer\n    fix: run setup again later")


def test_what_the_cluster_takes_is_written_for_it(head_node, cluster, tmp_path):
    setup = {"cpu_partition": "short", "bundle_size": 2, "extra_gres": None}
    (command,) = setup_jobs(plan(tmp_path / "w", resources={"memory_limit": 2.5}, **setup)).commands
    words = shlex.split(command)
    assert words[:-3] == [
        *("sbatch", "--array=0-4%100", "--job-name=demo", "--partition=short", "--time=1:10:00"),
        *("--cpus-per-task=1", "--mem=2560M", "--requeue"),
    ]
    said = cluster.run("sbatch", "--test-only", *words[1:])
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(("named", "recorded"), [(None, "cpu"), ("short", None)])
def test_the_partition_that_the_cluster_chooses_is_recorded(head_node, tmp_path, named, recorded):
    report = setup_jobs(plan(tmp_path / "w", cpu_partition=named))
    assert json.loads(report.record.read_text())["default_partition"] == recorded


def test_jobs_of_the_same_name_elsewhere_are_not_this_benchmarks(head_node, cluster, tmp_path, monkeypatch):
    job = cluster.submit("sleep 60", "--job-name=demo", f"--output={tmp_path}/out", name="other")
    try:
        before = setup_jobs(plan(tmp_path / "w"))
        assert before.approved == 9
        (job_file,) = (tmp_path / "w" / "setup_out" / "demo").glob("slurm_run_data_*.json")
        link = tmp_path / "other name"
        link.symlink_to(tmp_path / "w")
        path = link / job_file.relative_to(tmp_path / "w")
        mine = int(
            cluster.output(
                *("sbatch", "--parsable", "--hold", "--job-name=demo", "--array=0-1"),
                *(str(cluster.folder / "other.sh"), str(path)),
            )
        )
        try:
            with pytest.raises(Failure) as caught:
                setup_jobs(plan(tmp_path / "w"))
            monkeypatch.setattr(launch_cluster, "this_user", lambda: "a colleague of whoever launched it")
            with pytest.raises(Failure) as of_another:
                setup_jobs(plan(tmp_path / "w"))
        finally:
            cluster.output("scancel", str(mine))
    finally:
        cluster.output("scancel", str(job))
    assert caught.value.exit == Exit.REFUSED
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("still-launched", "SLURM jobs called demo")
    assert (problem.found, problem.expected) == (f"{mine}_[0-1] PENDING", "no job of an earlier launch")
    assert problem.fix == (
        f"wait until they have ended (slurm_progress.sh says DONE), or scancel {mine}; then run setup again"
    )
    (array,) = before.outcome().data["arrays"]
    watch = array["watch"].replace("JOB_ID", str(mine))
    assert caught.value.next == (watch,), "whoever comes back knows neither"
    assert of_another.value.next == (f"{watch} --user {getpass.getuser()}",)


def test_what_lets_tasks_wait_is_said_and_does_not_stop_the_set_up(head_node, tmp_path):
    report = setup_jobs(plan(tmp_path / "w", cpu_partition="short,closed"))
    assert report.notes == ("partition closed is not up: what is sent there waits until it is",)
    assert report.approved == 9
