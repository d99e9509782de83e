#!/usr/bin/env python3
"""Measure this project beside its peers: the same work, whole command against whole command, in one run.

Each NAME is a measure: help, item, cache-check, progress-poll, ensembles, inspect, process, figures, job-folders,
traces (default: all). Ours and the peer's take turns, and their answers have to agree. Seconds are medians, with the
least and the most of n; memory is the peak of the largest process, ours and the peer's, unless the row says that it is
that of all processes. The exit code is 1 when a bar is missed. All of it takes half an hour, --quick three minutes:
less of the same, and no bar where that is not the bar's work. The workspace takes up to 3 GB.
"""

from __future__ import annotations

import argparse
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

from benchwright.cli import ScriptParser, Shell, run_script
from benchwright.contract import Exit, Failure, Outcome, did_you_mean, usage_error

MEASURES = {
    "help": "help",
    "item": "item",
    "cache-check": "cache_check",
    "progress-poll": "progress_poll",
    "ensembles": "ensembles",
    "inspect": "inspect_results",
    "process": "process",
    "figures": "figures",
    "job-folders": "job_folders",
    "traces": "traces",
}
"""The module of each, beside this file. It must not bear the name of one that others import, such as ``inspect``."""
REPOSITORY = Path(__file__).resolve().parents[1]


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"among {', '.join(MEASURES)}")
    parser.add_argument("--quick", action="store_true", help="less of each, and fewer times")
    parser.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        default=REPOSITORY / "workspace" / "benchmarks",
        help="what is generated, and the logs of every command; may be removed (default: %(default)s)",
    )
    return parser


def run_measures(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Run the measures one after another; what fails in one is a problem and does not stop the others."""
    from importlib import import_module
    from os import cpu_count, getloadavg

    from measure import Bench, table

    names = list(dict.fromkeys(args.names or MEASURES))
    if unknown := [name for name in names if name not in MEASURES]:
        expected, fix = f"measures among {', '.join(MEASURES)}", did_you_mean(unknown[0], MEASURES)
        raise usage_error("NAME", ", ".join(unknown), expected, fix)
    bench = Bench(args.workspace.absolute(), quick=args.quick, talk=shell.talk)
    rows, problems = [], []
    machine = {"cores": cpu_count(), "load_before": getloadavg()[0]}
    for name in names:
        shell.talk(f"measuring {name}")
        try:
            rows += import_module(MEASURES[name]).measure(bench)
        except Failure as failure:
            problems += failure.problems
    machine["load_after"] = getloadavg()[0]
    told = "{cores} cores, load {load_before:.1f} before and {load_after:.1f} after".format(**machine)
    missed = [row.work for row in rows if row.met is False]
    return Outcome(
        summary=f"{len(missed)} bars missed; {told}",
        data={"machine": machine, "quick": args.quick, "rows": [row.to_dict() for row in rows]},
        details=table(rows),
        problems=problems,
        exit=Exit.NO if problems or missed else Exit.DONE,
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_measures))
