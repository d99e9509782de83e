#!/usr/bin/env python3
"""Write tmp_scripts/run_<key>.py for one model, filled with the benchmark's defaults, and print the plan it took.

The registry says what the model needs; each value is printed with where it comes from. A GPU model needs its card's
memory: a known partition or the card of this machine supplies it, or it is given. An existing script that differs is
kept unless --force is given. Nothing is fitted: the printed commands do that.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

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
from benchwright.contract import Outcome

SKILL = Path(__file__).resolve().parents[1]
REPOSITORY = SKILL.parents[2]
TEMPLATE = SKILL / "references" / "run_benchmark_template.py"
SCHEDULERS = ("slurm", "skypilot", "skypilot-pool", "local")


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    add = parser.add_argument
    add("model", metavar="MODEL", help='the registry name, such as "LightGBM"')
    add("--arena", choices=("mini", "tabarena", "beyondarena"), help="default: tabarena")
    add("--configs", metavar="all|0|N", help="random configs beside the default one (default: all there are)")
    add("--subset", action="append", default=[], help='scope, such as "lite"; all must hold (default: every split)')
    add("--name", help="the benchmark's name (default: <key>_<DDMMYYYY>)")
    add("--scheduler", choices=SCHEDULERS, help="default: slurm, on the mini arena local")
    add("--partition", metavar="NAME", help="the cluster's partition; a known one supplies the GPU memory")
    add("--partitions", type=Path, metavar="FILE", help="more known partitions (default: $BENCHWRIGHT_PARTITIONS)")
    add("--store", metavar="S", help="SkyPilot's bucket, gs://, s3:// or r2://BUCKET/PREFIX")
    add("--accelerators", metavar="CARD:N", help="SkyPilot's card for a GPU model (default: RTXPRO6000:1)")
    add("--fake-memory-for-estimates", type=int, metavar="GB", help="the memory of a GPU model's card")
    add("--workspace", type=Path, default=REPOSITORY / "workspace", help="default: %(default)s")
    add("--python-path", metavar="PATH", help="the interpreter that fits (default: this one)")
    add("--script-dir", type=Path, default=REPOSITORY / "tmp_scripts", help="default: %(default)s")
    add("--force", action="store_true", help="replace a run script that differs")
    return parser


def new_benchmark(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Choose, fill and write."""
    from benchwright.launch import Request, plan_benchmark, write_run_script

    request = Request(
        model=args.model,
        workspace=args.workspace.expanduser(),
        arena=args.arena,
        configs=args.configs,
        subset=args.subset,
        name=args.name,
        scheduler=args.scheduler,
        partition=args.partition,
        partitions=args.partitions,
        fake_memory_for_estimates=args.fake_memory_for_estimates,
        python_path=args.python_path,
        store=args.store,
        accelerators=args.accelerators,
    )
    planned = plan_benchmark(request, TEMPLATE.read_text("utf-8"))
    script = args.script_dir.expanduser().absolute() / planned.script_name
    write_run_script(script, planned.source, force=args.force)
    commands = [shlex.join([planned.choices.python_path, str(script), step]) for step in planned.steps]
    shell.hand_off(
        Handoff(
            title=f"Benchmark {planned.choices.model} on {planned.title}",
            why="The run script is written and filled; nothing has been fitted yet.",
            facts=planned.facts,
            commands=commands,
            checks=planned.checks,
        )
    )
    return planned.outcome(script, commands)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), new_benchmark))
