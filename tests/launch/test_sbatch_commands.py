"""The commands that launch arrays, to the letter."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from benchwright.arena import Item, Resources
from benchwright.launch import BenchmarkPlan, GCPSlurmSetup, ModelJob, PathSetup, SlurmSetup
from benchwright.launch.arrays import split
from benchwright.launch.bundles import Bundles
from benchwright.launch.groups import group_jobs
from benchwright.launch.sbatch import SUBMIT_SCRIPT, as_time, minutes_of, sbatch_command

V01 = Resources(time_limit=3600.0, num_cpus=8, num_gpus=0, memory_limit=32.0)
BEYOND = Resources(time_limit=14400.0, num_cpus=None, num_gpus=0, memory_limit=None)
CARD = {"num_gpus": 1, "fake_memory_for_estimates": 96}


def command(
    setup, resources=V01, *, job=None, tasks=5, largest=4, name="demo", logs="/w/slurm_out/demo", own_logs=True
):
    plan = BenchmarkPlan("demo", "tabarena", [ModelJob("X", resources=job or {})], PathSetup("/w"), setup)
    (group,) = group_jobs(plan)
    if group.resources.num_gpus:
        resources = Resources(
            resources.time_limit, resources.num_cpus, group.resources.num_gpus, resources.memory_limit
        )
    return sbatch_command(
        group,
        resources,
        setup,
        name=name,
        tasks=tasks,
        largest=largest,
        logs=Path(logs),
        own_logs=own_logs,
        job_file=Path("/w/jobs.json"),
    )


def options(*args, **kwargs):
    """The command's words between what every command begins and ends with."""
    words = shlex.split(command(*args, **kwargs))
    assert words[:3] == ["sbatch", "--array=0-4%100", "--job-name=demo"]
    assert words[-4:] == [
        "--requeue",
        "--output=/w/slurm_out/demo/%A/slurm-%A_%a.out",
        str(SUBMIT_SCRIPT),
        "/w/jobs.json",
    ]
    return words[3:-4]


def test_a_whole_command():
    assert SUBMIT_SCRIPT.is_file()
    assert command(GCPSlurmSetup(), tasks=31, name="lightgbm_30112026", largest=2) == (
        "sbatch --array=0-30%100 --job-name=lightgbm_30112026 --partition=cpun416mtspotinteractive --time=3:00:00 "
        "--mem=0 --nodes=1 --exclusive --requeue --output=/w/slurm_out/demo/%A/slurm-%A_%a.out "
        f"{SUBMIT_SCRIPT} /w/jobs.json"
    )


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        (GCPSlurmSetup(), "--partition=cpun416mtspotinteractive --time=5:00:00 --mem=0 --nodes=1 --exclusive"),
        (
            SlurmSetup(cpu_partition="c", extra_gres="localtmp:100", mem_per_handle=True),
            "--partition=c --gres=localtmp:100 --time=5:00:00 --cpus-per-task=8 --mem-per-cpu=4G",
        ),
        (SlurmSetup(cpu_partition="c"), "--partition=c --time=5:00:00 --cpus-per-task=8 --mem=32G"),
    ],
)
def test_options_are_those_of_the_public_launcher(setup, expected):
    """Its own commands for four items a task of an hour each, as its console showed them."""
    assert options(setup) == expected.split()


def test_gpu_jobs_have_their_partition_and_their_nodes_memory_not_the_cards():
    assert " ".join(options(GCPSlurmSetup(extra_gres="localtmp:100"), job=CARD)) == (
        "--partition=gpurtxpro6000flex --gres=gpu:1,localtmp:100 --time=5:00:00 --mem=0 --nodes=1 --exclusive"
    )
    assert " ".join(options(SlurmSetup(gpu_partition="g"), job=CARD)) == (
        "--partition=g --gres=gpu:1 --time=5:00:00 --cpus-per-task=8 --mem=32G"
    )
    two = {**CARD, "num_gpus": 2}
    assert options(SlurmSetup(gpu_partition="g", mem_per_handle=True), job=two)[-1] == "--mem-per-gpu=16G"


def test_what_has_no_value_is_left_out_and_what_is_empty_is_kept():
    assert options(SlurmSetup(), BEYOND) == ["--time=17:00:00"]
    assert options(SlurmSetup(mem_per_handle=True), BEYOND) == ["--time=17:00:00"]
    assert options(SlurmSetup(cpu_partition="", extra_gres=""), BEYOND) == [
        "--partition=",
        "--gres=",
        "--time=17:00:00",
    ]
    assert options(SlurmSetup(extra_gres="", gpu_partition="g"), BEYOND, job=CARD)[1] == "--gres=gpu:1"


@pytest.mark.parametrize(
    ("memory", "cpus", "per_handle", "expected"),
    [
        (30.0, 8, True, "--mem-per-cpu=3840M"),
        (10.0, 3, True, "--mem-per-cpu=3414M"),
        (32.0, None, True, "--mem=32G"),
        (1.5, 1, False, "--mem=1536M"),
        (0.0001, 1, False, "--mem=1M"),
    ],
)
def test_memory_is_never_less_than_the_limit(memory, cpus, per_handle, expected):
    setup = SlurmSetup(mem_per_handle=per_handle)
    assert options(setup, Resources(3600.0, cpus, 0, memory))[-1] == expected


@pytest.mark.parametrize(
    ("limit", "preprocessing", "items", "overhead", "expected"),
    [
        (1800.0, None, 5, 1, "3:30:00"),
        (5400.0, None, 5, 1, "8:30:00"),
        (3600.0, None, 1, 1, "2:00:00"),
        (3600.0, 900.0, 4, 1, "6:00:00"),
        (0.5, None, 3, 0, "0:01:00"),
        (60.0, None, 1, 0, "0:01:00"),
        (59.9, None, 10, 0.5, "0:40:00"),
        (60.1, None, 10, 0.5, "0:41:00"),
        (14400.0, None, 20, 1, "81:00:00"),
    ],
)
def test_time_is_reckoned_in_seconds_and_rounded_up_once(limit, preprocessing, items, overhead, expected):
    """Hours that are rounded down before they are multiplied cost a task half of its time."""
    job = {"time_limit": limit, "time_limit_for_model_agnostic_preprocessing": preprocessing}
    setup = SlurmSetup(time_limit_overhead=overhead)
    (group,) = group_jobs(BenchmarkPlan("b", "mini", [ModelJob("X", resources=job)], PathSetup("/w"), setup))
    assert as_time(minutes_of(group, Resources(limit), setup, items)) == expected


def test_the_command_of_a_path_with_spaces_can_be_typed():
    words = shlex.split(command(SlurmSetup(), logs="/my work/it's", own_logs=False))
    assert words[-3] == "--output=/my work/it's/slurm-%A_%a.out"


def test_a_per_cent_sign_in_a_path_is_no_symbol_of_slurms():
    words = shlex.split(command(SlurmSetup(), logs="/my 100%/50%A"))
    assert words[-3] == "--output=/my 100%%/50%%A/%A/slurm-%A_%a.out"


@pytest.mark.parametrize(
    ("most", "expected"), [(None, [5]), (5, [5]), (4, [4, 1]), (2, [2, 2, 1]), (1, [1, 1, 1, 1, 1])]
)
def test_arrays_are_cut_in_order(most, expected):
    bundles = Bundles(1, tuple((Item("E", "d", 0, fold, "d"),) for fold in range(5)))
    parts = list(split(bundles, most))
    assert [len(part.bundles) for part in parts] == expected
    assert tuple(bundle for part in parts for bundle in part.bundles) == bundles.bundles
