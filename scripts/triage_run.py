#!/usr/bin/env python3
"""Class every failed item of a run by its log: what it shows, what that means, what to do, and who has to decide.

Reads the logs of an array's tasks (slurm-<job>_<task>.out) or of a local run (bundle_<i>.log). With --job-id the
scheduler is asked for the states of the tasks, too; where it does not answer, the logs stand alone. Equal causes are
one group, with the traceback of the first. Writes nothing. Exit 1 when something failed, or when nobody says how a task
ended.
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

REPOSITORY = Path(__file__).resolve().parents[1]


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("--log-dir", type=Path, required=True, metavar="L", help="<workspace>/slurm_out/<benchmark>/<job id>")
    add("--job-id", type=_job_id, metavar="J", help="the array, to ask the scheduler about its tasks")
    add("--script-dir", type=Path, default=REPOSITORY / "tmp_scripts", help="run scripts (default: %(default)s)")
    return parser


def _job_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**32):
        raise argparse.ArgumentTypeError(f"{text!r} is no array's id")
    return int(text)


def triage(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Read, class and group."""
    from benchwright.launch.triage_report import triage_run

    return triage_run(args.log_dir, args.job_id, scripts=args.script_dir.expanduser()).outcome()


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), triage))
