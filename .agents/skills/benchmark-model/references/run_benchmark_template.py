"""Benchmark one model: set up, run, evaluate.

    setup   prepares the tasks, checks what is there already, writes the job files
    run     fits what is missing, on this machine
    eval    processes the results and says where the model landed among the arena's reference methods

The identities below are written once, so that setup, run and eval cannot drift apart. After a failure or an
interruption run setup again, then run: it fits exactly what is missing.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchwright.launch import BenchmarkPlan

BENCHMARK_NAME = "<benchmark_name>"  # EDIT: <model key>_<DDMMYYYY>
MODEL = "<model>"  # EDIT: the registry's name
NUM_CONFIGS = "<num_configs>"  # EDIT: "all", 0 for the default config alone, or a number of random configs beside it
ARENA = "<arena>"  # EDIT: "mini", "tabarena" or "beyondarena"
SUBSET = "<subset>"  # EDIT: [] for every split, ["lite"] for the first split of each task
EVAL_SUBSETS = "<eval_subsets>"  # EDIT: one leaderboard each; [] is the whole arena
JOB_NAME = "<job_name>"  # EDIT: "cpu" or "gpu"
RESOURCES = "<resources>"  # EDIT: {} for the CPU, {"num_gpus": 1, "fake_memory_for_estimates": <VRAM in GB>}
RESULT_SUFFIX = "<result_suffix>"  # EDIT: "", or " [Rerun]" for a model that the arena has results of
WORKSPACE = Path("<workspace>")  # EDIT: results, job files and logs go below it
PYTHON_PATH = "<python_path>"  # EDIT: the interpreter that fits, with the model's packages
EVAL_OUTPUT = Path(__file__).resolve().parent / "eval_output" / str(BENCHMARK_NAME)

try:
    import benchwright  # noqa: F401
except ModuleNotFoundError:
    for folder in Path(__file__).resolve().parents:
        if (folder / "src" / "benchwright").is_dir():
            sys.path.insert(0, str(folder / "src"))
            break
    else:
        print("benchwright is not installed; in its checkout: make setup", file=sys.stderr)
        raise SystemExit(3) from None

from benchwright.cli import ScriptParser, Shell, run_script
from benchwright.contract import Outcome


def plan(parallel: int = 1) -> BenchmarkPlan:
    """Return the whole benchmark as data."""
    from benchwright.arena import TaskSubset
    from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup

    return BenchmarkPlan(
        benchmark_name=BENCHMARK_NAME,
        arena=ARENA,
        model_jobs=[ModelJob(models=[(MODEL, NUM_CONFIGS)], name=JOB_NAME, resources=RESOURCES)],
        task_subset=TaskSubset(subset=SUBSET),
        path_setup=PathSetup(workspace=WORKSPACE, python_path=PYTHON_PATH),
        scheduler_setup=LocalSetup(parallel=parallel),
    )


def setup(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Prepare the tasks, check the cache, write the job files."""
    from benchwright.launch import setup_jobs

    with shell.progress("setup") as progress:
        report = setup_jobs(plan(), progress=progress)
    return report.outcome(next_command=shlex.join([PYTHON_PATH, __file__]))


def run(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Fit what is missing, on this machine."""
    from benchwright.launch import run_local

    with shell.progress("fits") as progress:
        report = run_local(plan(args.parallel), progress=progress)
    return report.outcome(next_command=shlex.join([PYTHON_PATH, __file__]))


def evaluate(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Process the results and say where the model landed."""
    from benchwright.leaderboard import EvalConfig, EvalMethod, run_eval

    config = EvalConfig(
        benchmark_name=BENCHMARK_NAME,
        arena=ARENA,
        methods=[EvalMethod(MODEL, result_suffix=RESULT_SUFFIX or None)],
        path_setup=plan().path_setup,
        figure_output_dir=EVAL_OUTPUT,
        subsets=EVAL_SUBSETS,
        task_subset=SUBSET,
    )
    with shell.progress("eval") as progress:
        return run_eval(config, progress=progress).outcome()


def build_parser() -> ScriptParser:
    """Return the parser of the three steps."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("step", choices=("setup", "run", "eval"))
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="fit N items side by side (default 1)")
    return parser


def main(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Refuse an unfilled script, then take the step."""
    from benchwright.launch import require_filled

    require_filled(__file__)
    return {"setup": setup, "run": run, "eval": evaluate}[args.step](args, shell)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), main))
