#!/usr/bin/env python3
"""Compute the mini arena's reference results again, through the same steps as any benchmark, and ship or check them.

Fits every reference method on every mini task below --workspace (378 fits, about 20 minutes on one core; a second call
takes up what is there), and processes the results. Without --check it replaces the shipped task table and reference
results. With --check it compares: the same rows, and errors within --tolerance; nothing is replaced.
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
from benchwright.contract import Exit, Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True, help="where the fits go; keep it to check again")
    parser.add_argument("--jobs", type=int, default=2, help="fits side by side (default: 2)")
    parser.add_argument("--check", action="store_true", help="compare with the shipped files instead of replacing them")
    parser.add_argument(
        "--tolerance", type=float, default=0.02, help="largest relative difference of an error (default: 0.02)"
    )
    return parser


def build(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Fit, process, and ship or compare."""
    from benchwright import mini
    from benchwright.rehearsal import mini_reference

    with shell.progress("fits") as progress:
        mini_reference.fit(args.workspace, args.jobs, progress)
    table = mini_reference.processed(args.workspace)
    counts = {"rows": table.num_rows, "methods": len(set(table["method"].to_pylist()))}
    if args.check:
        problems = mini_reference.differences(table, mini.source().reference_results(), args.tolerance)
        summary = f"{len(problems)} differences" if problems else f"{table.num_rows} rows agree with the shipped ones"
        return Outcome(summary, counts, problems=problems, exit=Exit.NO if problems else Exit.DONE)
    mini_reference.ship(table)
    return Outcome(f"wrote {table.num_rows} rows of {counts['methods']} methods", counts | {"file": str(mini.RESULTS)})


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), build))
