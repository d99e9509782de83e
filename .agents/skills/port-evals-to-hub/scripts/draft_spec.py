#!/usr/bin/env python3
"""Draft the spec of a batch of candidates, and its report: what to verify, what was skipped and why, what to correct.

Both are written beside OUT.csv, as NAME.rows-46-65.spec.json and .md. Only rows with status candidate that would be
seen on a leaderboard are in the spec, one entry a model. It is to be filled in: each value is still to be found at its
authors' source, with origin and notes. A spec that is there and has been worked on stays as it is (exit 5), and nothing
is written when the numbers of rows mean others than they did for an earlier batch (exit 5).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
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

from benchwright.cli import ScriptParser, Shell, command, run_script
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("list", type=Path, metavar="OUT.csv", help="a list that find_candidates.py has written")
    parser.add_argument("--rows", required=True, metavar="46-65", help="the rows of the batch; also 3,7,9-12")
    return parser


def draft_spec(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Draft, and name what checks the sources."""
    from benchwright.hub.candidates.batch import draft

    outcome = draft(args.list, args.rows)
    if outcome.data["spec"] is None:
        return outcome
    check = command(Path(__file__).with_name("check_sources.py"), Path(outcome.data["spec"]))
    return replace(outcome, next=[check])


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), draft_spec))
