"""Benchmark <model> on <title>.

    smoke   fits the model on toy data, on this machine
    setup   fetches weights, prepares the tasks, checks what is there already, writes the job files of what is missing;
            for a cluster, on its head node, it prints the commands that launch them; for SkyPilot it puts them into a
            bucket, and prints the commands that start workers
    run     fits what is missing, on this machine
    eval    processes the results: leaderboards, figures, pages, and where the model landed

<notes>

The identities below are written once, so that the steps cannot drift apart. After a failure or an interruption run
setup again, then run or launch: that fits exactly what is missing.
"""

from __future__ import annotations

import argparse
import os
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
SCHEDULER = "<scheduler>"  # EDIT: "slurm", "skypilot", "skypilot-pool" or "local"
STORE = "<store>"  # EDIT: SkyPilot's bucket, "gs://BUCKET/PREFIX"; with "" the environment's BENCHWRIGHT_STORE
ACCELERATORS = "<accelerators>"  # EDIT: SkyPilot's card for a GPU model, "RTXPRO6000:1"; "" for a CPU model

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

from benchwright.cli import Handoff, ScriptParser, Shell, run_script
from benchwright.contract import Outcome, usage_error

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
    from benchwright.launch import (
        BenchmarkPlan,
        LocalSetup,
        ModelJob,
        PathSetup,
        SkyPilotSetup,
        SlurmSetup,
        run_local,
        setup_jobs,
    )

    skypilot = SkyPilotSetup(
        store=args.store,
        accelerators=args.accelerators or None,
        pool=args.scheduler == "skypilot-pool",
        bundle_size="<bundle_size>",  # EDIT: items a bundle
    )
    schedulers = {
        "slurm": SlurmSetup(
            cpu_partition="<cpu_partition>",  # EDIT: a CPU model's partition; without this line, the cluster's own
            gpu_partition="<gpu_partition>",  # EDIT: a GPU model's partition
            exclusive_node="<exclusive_node>",  # EDIT: True where a task must have its node for itself
            bundle_size="<bundle_size>",  # EDIT: items a task
        ),
        "skypilot": skypilot,
        "skypilot-pool": skypilot,
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
        offline_weights=True,  # EDIT: False where a fit has to fetch weights that setup does not
    )
    if args.step == "run":
        with shell.progress("fits") as progress:
            return run_local(plan, progress=progress).outcome(next_command=COMMAND)
    with shell.progress("setup") as progress:
        report = setup_jobs(plan, progress=progress)
    shell.hand_off(Handoff(**report.sheet(COMMAND)))
    return report.outcome(next_command=COMMAND)


def evaluate(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Process the results and say where the model landed."""
    from benchwright.launch import PathSetup, fetch_run, with_pools_down
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
    paths = config.path_setup.run_paths(BENCHMARK_NAME)
    with shell.progress("eval") as progress:
        if not args.scheduler.startswith("skypilot"):
            return with_pools_down(run_eval(config, progress=progress).outcome(), paths)
        fetched = fetch_run(args.store, paths, progress=progress)
        outcome = with_pools_down(run_eval(config, progress=progress).outcome(), paths)
    return replace(outcome, details=[str(fetched), *outcome.details], problems=[*fetched.problems, *outcome.problems])


STEPS = {"smoke": smoke, "setup": setup, "run": setup, "eval": evaluate}


def build_parser() -> ScriptParser:
    """Return the parser of the steps."""
    parser = ScriptParser(description=__doc__, handoff=True)
    parser.add_argument("step", choices=tuple(STEPS))
    schedulers = ("slurm", "skypilot", "skypilot-pool", "local")
    parser.add_argument("--scheduler", choices=schedulers, default=SCHEDULER, help="default: %(default)s")
    store = STORE or os.environ.get("BENCHWRIGHT_STORE", "")
    parser.add_argument("--store", default=store, metavar="S", help="SkyPilot's bucket (default: $BENCHWRIGHT_STORE)")
    cards = "for SkyPilot, a GPU model's card and how many"
    parser.add_argument("--accelerators", default=ACCELERATORS, metavar="CARD:N", help=cards)
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="fit N items side by side (default 1)")
    return parser


def main(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Refuse an unfilled script, then take the step."""
    from benchwright.launch import require_filled

    require_filled(__file__)
    if args.handoff and args.step != "setup":
        raise usage_error("--handoff", f"given to {args.step}", "a sheet of what follows setup", "give it to setup")
    return STEPS[args.step](args, shell)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), main))
