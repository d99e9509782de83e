#!/usr/bin/env python3
"""Write tmp_scripts/run_<key>.py for one model, filled with the benchmark's defaults, and print the plan it took.

Reads the registry for the model's compute, problem types and search space. An existing script that differs is kept
unless --force is given. Nothing is fitted: the printed commands do that.
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
from benchwright.contract import Exit, Failure, Outcome, Problem
from benchwright.files import write_text

SKILL = Path(__file__).resolve().parents[1]
REPOSITORY = SKILL.parents[2]
TEMPLATE = SKILL / "references" / "run_benchmark_template.py"


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    parser.add_argument("model", metavar="MODEL", help='the registry name, such as "LightGBM"')
    parser.add_argument("--arena", choices=("mini", "tabarena", "beyondarena"), default="tabarena")
    parser.add_argument("--configs", metavar="all|0|N", help="random configs beside the default one (default: all)")
    parser.add_argument("--subset", action="append", default=[], help='scope, such as "lite" (default: every split)')
    parser.add_argument("--name", help="the benchmark's name (default: <key>_<DDMMYYYY>)")
    parser.add_argument("--workspace", type=Path, default=REPOSITORY / "workspace", help="default: %(default)s")
    parser.add_argument("--python-path", default=sys.executable, help="the interpreter that fits (default: this one)")
    parser.add_argument(
        "--fake-memory-for-estimates", type=int, metavar="GB", help="a GPU model's card memory; required for one"
    )
    parser.add_argument("--script-dir", type=Path, default=REPOSITORY / "tmp_scripts", help="default: %(default)s")
    parser.add_argument("--force", action="store_true", help="replace a run script that differs")
    return parser


def new_benchmark(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Choose, fill and write."""
    from benchwright.bridge import model_info, open_arena, plan_grid
    from benchwright.launch import choose, fill, parse_configs

    arena = open_arena(args.arena)
    choices = choose(
        model_info(args.model),
        arena.spec,
        workspace=args.workspace.expanduser().absolute(),
        python_path=args.python_path,
        configs=None if args.configs is None else parse_configs(args.configs),
        subset=args.subset,
        name=args.name,
        fake_memory_for_estimates=args.fake_memory_for_estimates,
        hosted=[method.method for method in arena.reference_methods()],
    )
    items = len(plan_grid(arena, models=[(choices.model, choices.num_configs)], subset=list(choices.subset)).items)
    script = args.script_dir / f"run_{choices.key}.py"
    source = fill(TEMPLATE.read_text(), choices)
    if script.exists() and script.read_text() != source and not args.force:
        raise Failure(
            Problem("script-differs", str(script), "a different run script", "none", "add --force to replace it"),
            exit=Exit.REFUSED,
        )
    write_text(script, source)
    commands = [shlex.join([choices.python_path, str(script), step]) for step in ("setup", "run", "eval")]
    shell.hand_off(
        Handoff(
            title=f"Benchmark {choices.model} on {choices.arena}",
            why="The run script is written and filled; nothing has been fitted yet.",
            facts=[f"{name}: {value}" for name, value in choices.to_dict().items()],
            commands=commands,
            checks=[
                "setup ends with the number of items it approved, or with nothing missing",
                "run ends with 0 failed and 0 left; after a failure, setup and run again do what is missing",
                "eval ends with the position of this run's methods, without imputed splits",
            ],
        )
    )
    width = max(len(name) for name in choices.to_dict())
    return Outcome(
        summary=f"wrote {script}: {items:,} fits, each one config on one split",
        data={"script": str(script), "items": items, "plan": choices.to_dict()},
        details=[f"  {name:{width}}  {text}" for name, text in choices.markers().items()],
        next=commands,
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), new_benchmark))
