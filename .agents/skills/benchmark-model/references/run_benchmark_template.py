"""Benchmark <model> on <title>.

    smoke   fits the model on toy data, on this machine
    setup   fetches weights, prepares the tasks, checks what is there already, writes the job files
    run     fits what is missing, on this machine
    eval    processes the results: leaderboards, figures, pages, and where the model landed

<notes>

The identities below are written once, so that the steps cannot drift apart. After a failure or an interruption run
setup again, then run: it fits exactly what is missing.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

BENCHMARK_NAME = "<benchmark_name>"  # EDIT: <model key>_<DDMMYYYY>
WORKSPACE = "<workspace>"  # EDIT: results, job files and logs go below it
PYTHON_PATH = "<python_path>"  # EDIT: the interpreter that fits, with the model's packages
ARENA = "<arena>"  # EDIT: "mini", "tabarena" or "beyondarena"
MODEL = "<model>"  # EDIT: the registry's name
NUM_CONFIGS = "<num_configs>"  # EDIT: "all", 0 for the default config alone, or a number of random configs beside it
SMOKE_EXTRA_HYPERPARAMETERS = "<smoke_extra_hyperparameters>"  # EDIT: {}, or {"device": "cpu"} if it must be told
SUBSET = "<subset>"  # EDIT: [] for every split, ["lite"] for the first split of each task, ["regression"], ...
EVAL_SUBSETS = "<eval_subsets>"  # EDIT: a leaderboard each; [] is all of the scope
RESULT_SUFFIX = "<result_suffix>"  # EDIT: "", or " [Rerun]" for a model that the arena has results of
SCHEDULER = "<scheduler>"  # EDIT: "slurm" or "local"

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

COMMAND = shlex.join([PYTHON_PATH, str(Path(__file__).absolute())])


def smoke(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Fit the model on AutoGluon's toy data, on the CPU when there is no GPU."""
    from benchwright.bridge import smoke_fit

    with shell.progress("smoke") as progress:
        report = smoke_fit(MODEL, extra_hyperparameters=SMOKE_EXTRA_HYPERPARAMETERS, progress=progress)
    return replace(report.outcome(), next=[f"{COMMAND} setup"])


def setup(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Write the job files of what is missing; the step run takes the same plan, and fits what they hold."""
    from benchwright.arena import TaskSubset
    from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, SlurmSetup, run_local, setup_jobs

    schedulers = {
        "slurm": SlurmSetup(
            cpu_partition="<cpu_partition>",  # EDIT: a CPU model's partition; without this line, the cluster's own
            gpu_partition="<gpu_partition>",  # EDIT: a GPU model's partition
            exclusive_node="<exclusive_node>",  # EDIT: True where a task must have its node for itself
            bundle_size="<bundle_size>",  # EDIT: items a task
        ),
        "local": LocalSetup(parallel=args.parallel),
    }
    plan = BenchmarkPlan(
        benchmark_name=BENCHMARK_NAME,
        arena=ARENA,
        model_jobs=[
            ModelJob(
                models=(MODEL, NUM_CONFIGS),
                name="<compute>",  # EDIT: "cpu" or "gpu"
                # EDIT: a GPU model's card memory in GB; no such line for a CPU model
                resources={"num_gpus": 1, "fake_memory_for_estimates": "<fake_memory_for_estimates>"},
            ),
        ],
        task_subset=TaskSubset(subset=SUBSET),
        path_setup=PathSetup(workspace=Path(WORKSPACE), python_path=PYTHON_PATH),
        scheduler_setup=schedulers["local" if args.step == "run" else args.scheduler],
    )
    act, label = (run_local, "fits") if args.step == "run" else (setup_jobs, "setup")
    with shell.progress(label) as progress:
        return act(plan, progress=progress).outcome(next_command=COMMAND)


def evaluate(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Process the results and say where the model landed."""
    from benchwright.launch import PathSetup
    from benchwright.leaderboard import EvalConfig, EvalMethod, run_eval

    config = EvalConfig(
        benchmark_name=BENCHMARK_NAME,
        arena=ARENA,
        methods=[EvalMethod(MODEL, result_suffix=RESULT_SUFFIX or None)],
        path_setup=PathSetup(workspace=Path(WORKSPACE), python_path=PYTHON_PATH),
        figure_output_dir=Path(__file__).absolute().parent / "eval_output" / BENCHMARK_NAME,
        figure_file_type=("pdf", "png"),
        pareto_focus_new_methods=True,
        subsets=EVAL_SUBSETS,
        task_subset=SUBSET,
    )
    with shell.progress("eval") as progress:
        return run_eval(config, progress=progress).outcome()


STEPS = {"smoke": smoke, "setup": setup, "run": setup, "eval": evaluate}


def build_parser() -> ScriptParser:
    """Return the parser of the steps."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("step", choices=tuple(STEPS))
    parser.add_argument("--scheduler", choices=("slurm", "local"), default=SCHEDULER, help="default: %(default)s")
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="fit N items side by side (default 1)")
    return parser


def main(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Refuse an unfilled script, then take the step."""
    from benchwright.launch import require_filled

    require_filled(__file__)
    return STEPS[args.step](args, shell)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), main))
