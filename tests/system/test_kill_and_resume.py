"""Kill a real run at ten random moments; set-up and run again must end where an undisturbed run ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwright.arena import TaskSubset
from benchwright.bridge import open_arena
from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, run_local, setup_jobs
from benchwright.raw import find_results, load_result

ITEMS = 9
RUN = """
import sys
from benchwright.files import RunPaths
from benchwright.launch import run_local
run_local(RunPaths(sys.argv[1], "demo"))
"""


def plan(workspace):
    return BenchmarkPlan(
        benchmark_name="demo",
        arena="mini",
        model_jobs=[ModelJob(("KNN", 0), name="cpu")],
        path_setup=PathSetup(workspace),
        scheduler_setup=LocalSetup(bundle_size=4),
        task_subset=TaskSubset(dataset_names=open_arena("mini").spec.tasks.datasets[:3]),
    )


def count(workspace):
    return len(list(plan(workspace).paths.data.rglob("results.pkl")))


def results(workspace):
    found = find_results(plan(workspace).paths.data)
    assert found.problems == []
    return {(file.method, file.task_key, file.repeat, file.fold): load_result(file.path) for file in found.files}


def kill_at(moment, workspace):
    """Start a run and kill it some seconds after its start, or after its first new result; whether it was at work."""
    process = subprocess.Popen([sys.executable, "-c", RUN, str(workspace)], stderr=subprocess.DEVNULL)
    seconds, after_a_result = moment
    before = count(workspace)
    while after_a_result and count(workspace) == before and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    process.kill()
    return process.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_ten_kills_end_with_the_results_of_an_undisturbed_run(tmp_path):
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    setup_jobs(plan(undisturbed))
    assert run_local(plan(undisturbed)).ok == ITEMS

    setup_jobs(plan(disturbed))
    moments = random.Random(7)
    plans = [(moments.uniform(0, 1), True) if number % 2 else (moments.uniform(0, 2), False) for number in range(10)]
    assert sum(kill_at(moment, disturbed) for moment in plans) >= 5

    report = setup_jobs(plan(disturbed))
    assert report.problems == ()
    final = run_local(plan(disturbed))
    assert (final.ok, final.failed, final.left) == (report.approved, 0, 0)

    first, second = results(undisturbed), results(disturbed)
    assert first.keys() == second.keys()
    assert len(first) == ITEMS
    for place, result in first.items():
        assert second[place].metric_error == pytest.approx(result.metric_error, abs=1e-9), place
    assert [path.name for path in plan(disturbed).paths.data.rglob("*.tmp")] == []
    assert not any(map(mentions(disturbed), Path("/proc").glob("[0-9]*/cmdline")))


def mentions(workspace):
    def check(cmdline):
        try:
            return os.fsencode(workspace) in cmdline.read_bytes()
        except OSError:
            return False

    return check
