"""Array tasks on a real cluster, through the submit script: preempted, cancelled, failed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from slurm_arrays import hurry, states_of
from slurm_run import write_job_file

from benchwright.launch.sbatch import SUBMIT_SCRIPT
from waiting import text_of, wait_until

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Array:
    """An array of bundles, submitted as set-up's command does; a bundle is a list of experiments."""

    def __init__(self, cluster, folder, *bundles):
        self.cluster = cluster
        self.data = folder / "output" / "data"
        self.logs = folder / "slurm_out"
        self.scratch = folder / "tmp"
        self.scratch.mkdir()
        self.logs.mkdir()
        job_file = folder / "jobs.json"
        write_job_file(job_file, bundles, output_dir=str(self.data.parent), slurm_log_dir=str(self.logs))
        environment = {
            **os.environ,
            **cluster.environment,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(HERE)]),
            "TMPDIR": str(self.scratch),
        }
        command = [
            *("sbatch", "--parsable", f"--array=0-{len(bundles) - 1}%100", "--requeue"),
            *(f"--output={self.logs}/slurm-%A_%a.out", str(SUBMIT_SCRIPT), str(job_file)),
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        self.job = int(done.stdout)

    def wait_for(self, **states):
        """Wait until the queue shows these tasks in these states."""
        wanted = {task.removeprefix("task"): state for task, state in states.items()}
        wait_until(lambda: wanted.items() <= states_of(self.cluster, self.job).items(), shown=self.cluster.shown)

    def log(self, task):
        """The task's log, where its readers look for it."""
        return text_of(self.logs / str(self.job) / f"slurm-{self.job}_{task}.out")

    def wait_for_line(self, task, line, times=1):
        wait_until(lambda: self.log(task).count(line) == times, shown=self.cluster.shown)

    def results(self):
        return sorted(path.parents[2].name for path in self.data.rglob("*") if path.is_file())


@pytest.fixture
def submit(cluster, tmp_path):
    return lambda *bundles: Array(cluster, tmp_path, *bundles)


def test_a_preempted_task_keeps_what_is_done_and_a_cancelled_one_leaves_nothing(submit, cluster):
    array = submit(["write-a", "hang-b"], ["fail-c", "write-d"], ["fail-e", "fail-f", "fail-g", "write-h"])
    job = array.job
    array.wait_for_line(0, "item 2/2 started")
    cluster.output("scontrol", "requeue", f"{job}_0")
    array.wait_for(task0="PENDING", task1="FAILED", task2="FAILED")
    first = array.log(0)
    assert "DUE TO JOB REQUEUE" in first
    assert "##### item stopped by SIGTERM: experiment=hang-b dataset=my data repeat=0 fold=1\n" in first
    assert first.endswith("##### bundle summary: ok=1 failed=0\n")
    assert array.results() == ["write-a", "write-d"]
    assert list(array.scratch.iterdir()) == []

    assert "##### item FAILED (exit 1): experiment=fail-c dataset=my data repeat=0 fold=0\n" in array.log(1)
    assert array.log(1).endswith("##### bundle summary: ok=1 failed=1\n")
    assert "##### three failures in a row: this bundle stops, 1 of its items are not run\n" in array.log(2)
    assert array.log(2).endswith("##### bundle summary: ok=0 failed=3\n")
    wait_until(
        lambda: hurry(cluster, job)["0"] == "RUNNING", pause=1, seconds=180, shown=cluster.shown
    )  # SLURM's own: 120
    array.wait_for_line(0, "item 2/2 started", times=2)
    cluster.output("scancel", f"{job}_0")
    array.wait_for(task0="CANCELLED")
    second = array.log(0).removeprefix(first)
    assert second.startswith("##### item skipped, its result is there: experiment=write-a")
    assert "##### item stopped by SIGTERM: experiment=hang-b" in second
    assert array.results() == ["write-a", "write-d"]
    assert list(array.scratch.iterdir()) == []
