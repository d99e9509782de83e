"""Runs on the cluster: a workspace, its job files, arrays of bundle runners, and the watcher as its users call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from slurm_cluster import SlurmCluster

from waiting import PATIENCE, text_of, wait_until

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".claude/skills/benchmark-model/references/slurm_progress.sh"
SYSTEM_PATH = "/usr/bin:/bin"
BENCHMARK = "demo_30112026"


def write_job_file(path: Path, bundles: Iterable[list[str]], **defaults: str) -> None:
    """A job file of bundles, which are lists of experiments."""
    jobs = [
        {
            "items": [
                {"experiment": name, "dataset": "my data", "repeat": 0, "fold": fold, "task_key": "my_data-1"}
                for fold, name in enumerate(bundle)
            ]
        }
        for bundle in bundles
    ]
    defaults = {"python": sys.executable, "entry": "slurm_entries:run", **defaults}
    path.write_text(json.dumps({"defaults": defaults, "jobs": jobs}))


class SlurmRun:
    """A benchmark in a workspace of its own. A bundle is a list of experiments, whose fold is their place in it."""

    def __init__(self, cluster: SlurmCluster, workspace: Path) -> None:
        self.cluster = cluster
        self.workspace = workspace
        self.output = workspace / "output" / BENCHMARK
        self.data = self.output / "data"
        self.logs = workspace / "slurm_out" / BENCHMARK / "logs"
        self.setup = workspace / "setup_out" / BENCHMARK
        for folder in (self.data, self.logs, self.setup):
            folder.mkdir(parents=True)
        self.submit_script = workspace / "submit.sh"
        self.submit_script.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m benchwright.node.run_bundle "$1" "$SLURM_ARRAY_TASK_ID"\n'
        )

    def job_file(self, *bundles: list[str], label: str = "cpu") -> Path:
        path = self.setup / f"slurm_run_data_{BENCHMARK}_{label}.json"
        write_job_file(path, bundles, output_dir=str(self.output), preload="slurm_entries:preload")
        return path

    def submit(
        self, *bundles: list[str], options: tuple[str, ...] = (), throttle: int = 100, label: str = "cpu"
    ) -> int:
        """Submit an array as set-up's command does; its id."""
        job_file = self.job_file(*bundles, label=label)
        path = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
        return int(
            self.cluster.output(
                "env", f"PYTHONPATH={path}", "sbatch", "--parsable", f"--array=0-{len(bundles) - 1}%{throttle}",
                f"--output={self.logs}/slurm-%A_%a.out", *options, str(self.submit_script), str(job_file),
            )
        )  # fmt: skip

    def watch_command(self, job: int, tasks: int, *options: str, expected: int | None = None) -> list[str]:
        return [
            str(SCRIPT), str(job), str(tasks), "--results-dir", str(self.data),
            *(() if expected is None else ("--expected-results", str(expected))),
            "--log-dir", str(self.logs), *options,
        ]  # fmt: skip

    def watch(
        self, job: int, tasks: int, *options: str, expected: int | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Watch to the end, or once: by the system's Python, from a folder that is none of ours."""
        watcher = self.start_watch(job, tasks, "--interval", "0.5", *options, expected=expected, **environment)
        stdout, stderr = watcher.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(watcher.args, watcher.returncode, stdout, stderr)

    def start_watch(
        self, job: int, tasks: int, *options: str, expected: int | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.watch_command(job, tasks, *options, expected=expected),
            env={**os.environ, **self.cluster.environment, "PATH": SYSTEM_PATH, **environment},
            cwd=self.cluster.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def log(self, job: int, task: int) -> Path:
        return self.logs / f"slurm-{job}_{task}.out"

    def wait_for_line(self, job: int, task: int, line: str) -> None:
        wait_until(lambda: line in text_of(self.log(job, task)), shown=self.cluster.shown)

    def states(self, job: int) -> list[str]:
        """The states of the tasks that the queue lists."""
        return self.cluster.output("squeue", "-h", "-r", "-t", "all", "-j", str(job), "-o", "%T").split()

    def start_again(self, job: int, *tasks: int) -> None:
        """Let requeued tasks begin now and not in two minutes; a node refuses them in the second of their first end."""
        time.sleep(1.5)
        for task in tasks:
            self.cluster.output("scontrol", "update", f"jobid={job}_{task}", "StartTime=now")

    def wait_for(self, job: int, *states: str) -> None:
        """Wait until the queue shows the tasks in these states, in any order."""
        wait_until(lambda: sorted(self.states(job)) == sorted(states), shown=self.cluster.shown)
