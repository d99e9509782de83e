#!/usr/bin/env python3
"""How far is each job? One line a job: its status, how many trials are done, valid, damaged or in error, and the score.

A PLACE is a folder here with a job of Harbor's in it, the address of one in a bucket (gs://BUCKET/FOLDER/JOB or s3://),
or with --iris a job's name: each bucket is looked at, below ot-agent or the folder that its address names, and the copy
that came furthest counts. Without PLACE, --iris looks at every job of the jobs table, or of the buckets. Trials are
counted one by one; where the job's own aggregate is all there is, the line says so. Nothing is written anywhere.

Statuses: DONE, DONE_WITH_ERRORS, INCOMPLETE (not finished), PARTIAL and PARTIAL_OK (finished with fewer, more than one
in ten missing or in error, or not), EARLY_KILL (nothing there), IN_FLIGHT (live), AT_RESUME_LIMIT, REJECTED, UNKNOWN.

Settings, from the environment or a .env: what the buckets' clients read. From the environment alone:
BENCHWRIGHT_IRIS_JOBS, the command that prints the jobs table, where --iris-jobs gives no file.

Exit 0: every job has every planned trial; 1: not so; 3, 4: a bucket or folder could not be looked at.
"""

from __future__ import annotations

import argparse
import os
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
from benchwright.cli.eval_options import add_jobs
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add_jobs(parser.add_argument)
    return parser


def check_progress(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Look, and tell."""
    from benchwright.audit.progress import Rules, Wanted, look_at
    from benchwright.audit.progress_report import progress_outcome
    from benchwright.audit.troubles import Troubles

    wanted = Wanted.asked_for(
        args.places, args.jobs_root, args.iris, args.iris_jobs, tags=args.tag, since=args.since, environment=os.environ
    )
    troubles = Troubles()
    return progress_outcome(look_at(wanted, Rules.load(args.profile, args.benchmarks), troubles), troubles)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), check_progress))
