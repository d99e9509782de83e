"""From a model's name to its place, through a real cluster: set-up, the printed commands, a lost node, relaunch."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from slurm_arrays import AT_WORK, hurry, states_of
from slurm_cluster import SlurmCluster

from benchwright.cli import run_script
from benchwright.launch import PathSetup
from benchwright.launch.sbatch import SUBMIT_SCRIPT
from benchwright.leaderboard import EvalConfig, EvalMethod, run_eval
from benchwright.raw import find_results, load_result
from test_docs import load

ROOT = Path(__file__).resolve().parents[2]
NEW_BENCHMARK = ROOT / "scripts" / "new_benchmark.py"
PYTHONPATH = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
SECONDS = 300


@dataclass
class Story:
    """A benchmark in a workspace whose path has a space and what SLURM takes for a symbol, and its run script."""

    folder: Path
    cluster: SlurmCluster
    scheduler: str

    def __post_init__(self) -> None:
        self.workspace = self.folder / "50%A of a workspace"
        self.data = self.workspace / "output" / "demo" / "data"
        self.logs = self.workspace / "slurm_out" / "demo"
        self.scratch = self.folder / "tmp"
        self.scratch.mkdir(parents=True)
        words = ["LinearModel", "--arena", "mini", "--configs", "0", "--name", "demo"]
        words += ["--subset", "lite", "--subset", "classification"]
        words += ["--scheduler", self.scheduler, "--workspace", str(self.workspace), "--script-dir", str(self.folder)]
        module = load(NEW_BENCHMARK)
        assert run_script(module.build_parser(), module.new_benchmark, [*words, "--json"]) == 0
        (self.script,) = self.folder.glob("run_*.py")

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.cluster.environment, "PYTHONPATH": PYTHONPATH, "TMPDIR": str(self.scratch)}

    def start(self, *steps: str) -> subprocess.Popen[str]:
        """Take steps of the run script, one after another."""
        commands = [shlex.join([sys.executable, str(self.script), step, "--json"]) for step in steps]
        return subprocess.Popen(
            " && ".join(commands), shell=True, env=self.environment, stdout=subprocess.PIPE, text=True
        )

    def take(self, step: str) -> dict:
        """Take a step of the run script; its answer."""
        stdout, _ = self.start(step).communicate(timeout=SECONDS)
        return json.loads(stdout)

    def launch(self, command: str) -> int:
        """Run a command as it was printed, from a folder of somebody's; the array's id."""
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout.removeprefix("Submitted batch job "))

    def has_ended(self, job: int) -> bool:
        """Whether every task of an array has ended."""
        return not AT_WORK & set(hurry(self.cluster, job).values())

    def wait_for(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not done():
            assert time.monotonic() < deadline, self.cluster.output("squeue", "-t", "all")
            time.sleep(0.5)

    def count(self) -> int:
        return len(list(self.data.glob("*/*/*/results.pkl")))

    def log(self, job: int, task: int) -> str:
        return (self.logs / str(job) / f"slurm-{job}_{task}.out").read_text()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_demo_model_through_slurm_lands_where_the_local_run_lands(cluster, tmp_path):
    """Set-up, the array, a node lost under it, a task cancelled, its items launched again, and the evaluation."""
    local, story = Story(tmp_path / "local", cluster, "local"), Story(tmp_path / "slurm", cluster, "slurm")
    running = local.start("setup", "run")
    cluster.output("scontrol", "update", "partitionname=cpu", "state=down")
    try:
        job = launched(story)
    finally:
        cluster.output("scontrol", "update", "partitionname=cpu", "state=up")
    one_node_lost(story, job)
    launched_again(story, job)
    assert running.wait(SECONDS) == 0
    assert leftovers(story) == []
    first, second = (evaluated(one) for one in (local, story))
    assert first == second
    assert any(method.startswith("Linear [Rerun]") for method, *_ in first)
    assert predicted(local) == predicted(story)


def launched(story: Story) -> int:
    """Set up and run the command as it was printed; the last task is cancelled."""
    answer = story.take("setup")
    assert (
        answer["summary"] == "Approved 6 (experiment, dataset, fold, repeat) items -> 3 array tasks (max 2 items/task)."
    )
    (array,) = answer["data"]["arrays"]
    assert (array["tasks"], array["items"], answer["data"]["expected_results"]) == (3, 6, 6)
    assert answer["next"] == [array["command"]]
    words = shlex.split(array["command"])
    assert words[:4] == ["sbatch", "--array=0-2%100", "--job-name=demo", "--time=1:10:00"]
    logs = str(story.logs).replace("%", "%%")
    assert words[-3:-1] == [f"--output={logs}/slurm-%A_%a.out", str(SUBMIT_SCRIPT)]
    job = story.launch(array["command"])
    story.cluster.output("scancel", f"{job}_2")
    return job


def one_node_lost(story: Story, job: int) -> None:
    """Lose the node of the first tasks after their first result; what is requeued does the rest."""
    story.wait_for(lambda: story.count() >= 1)
    (node,) = story.cluster.output("squeue", "-h", "-t", "running", "-j", str(job), "-o", "%N").split()[:1]
    story.cluster.output("scontrol", "update", f"node={node}", "state=down", "reason=test")
    time.sleep(1.5)  # a node refuses a task in the second of its end
    story.wait_for(lambda: story.has_ended(job))
    story.cluster.run("scontrol", "update", f"node={node}", "state=resume")
    ended = states_of(story.cluster, job)
    assert (ended["0"], ended["1"]) == ("COMPLETED", "COMPLETED")
    assert story.count() == 4
    logs = [story.log(job, task) for task in range(2)]
    assert sum("DUE TO NODE FAILURE" in log for log in logs) >= 1
    assert sum(log.count("item skipped, its result is there") for log in logs) >= 1
    assert "item FAILED" not in "".join(logs)


def launched_again(story: Story, job: int) -> None:
    answer = story.take("setup")
    assert [answer["data"][name] for name in ("cached", "approved", "array_tasks", "expected_results")] == [4, 2, 1, 6]
    (command,) = answer["next"]
    again = story.launch(command)
    assert again != job
    story.wait_for(lambda: story.has_ended(again))
    assert states_of(story.cluster, again) == {"0": "COMPLETED"}
    assert story.log(again, 0).endswith("##### bundle summary: ok=2 failed=0\n")


def leftovers(story: Story) -> list[Path]:
    """Files on the nodes, and files among the results that are none."""
    strange = [path for path in story.data.rglob("*") if path.is_file() and path.name != "results.pkl"]
    return [*story.scratch.iterdir(), *strange]


def evaluated(story: Story) -> list[tuple[str, ...]]:
    """The leaderboards' rows without their times; the method's label comes first."""
    config = EvalConfig(
        benchmark_name="demo",
        arena="mini",
        methods=[EvalMethod("LinearModel", result_suffix=" [Rerun]")],
        path_setup=PathSetup(story.workspace),
        figure_output_dir=story.folder / "eval",
        figure_file_type=(),
        interactive_pages=False,
        task_subset=["lite", "classification"],
        num_cpus=1,
    )
    evaluation = run_eval(config)
    assert evaluation.outcome().exit == 0
    rows: list[tuple[str, ...]] = []
    for path in sorted((story.folder / "eval").glob("leaderboards/*.csv")):
        with path.open() as file:
            table = list(csv.DictReader(file))
        assert {name for name in table[0] if "time" in name} >= {"time_train_s", "time_infer_s"}
        rows += [(row["method"], *(row[name] for name in row if "time" not in name)) for row in table]
    return rows


def predicted(story: Story) -> dict[str, tuple[float, bytes]]:
    """Error and test predictions of every result."""
    found = find_results(story.data)
    assert found.problems == []
    results = {f"{file.method}/{file.task_key}": load_result(file.path) for file in found.files}
    assert len(results) == 6
    return {place: (one.metric_error, one.predictions.test.tobytes()) for place, one in results.items()}
