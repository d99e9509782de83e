#!/usr/bin/env python3
"""Audit the warm-ups and the timed sections of a run's results: warm-ups that failed, packages imported while timed.

Reads what each results.pkl records of its own making and writes nothing. Results that record nothing, as the public
runner's, are counted and are no finding. Exit 1 for findings and for files that cannot be read.
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
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument(
        "--results", type=Path, required=True, metavar="D", help="<workspace>/output/<benchmark>/data, or part of it"
    )
    return parser


def audit(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Read and count."""
    from benchwright.raw.warmup_audit import audit_warmup

    return audit_warmup(args.results).outcome()


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), audit))
