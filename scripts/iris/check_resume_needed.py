#!/usr/bin/env python3
"""Which jobs are to be resumed? One line a job, those first, and the command for each that is known not to be live.

A PLACE is a folder here with a job of Harbor's in it, the address of one in a bucket (gs://BUCKET/FOLDER/JOB or s3://),
or with --iris a job's name: each bucket is looked at, below ot-agent or the folder that its address names, and the copy
that came furthest counts. Without PLACE, --iris looks at every job of the jobs table, or of the buckets. Trials are
counted one by one; where the job's own aggregate is all there is, the line says so. Nothing is written anywhere.

To be resumed are EARLY_KILL (nothing there), INCOMPLETE (not finished), PARTIAL (finished with fewer, more than one in
ten missing or in error) and DONE_WITH_ERRORS. Not so DONE, PARTIAL_OK, IN_FLIGHT (live), REJECTED (.no-resume is in its
folder); AT_RESUME_LIMIT and UNKNOWN are for a person to look at.

Settings, from the environment or a .env: what the buckets' clients read. From the environment alone:
BENCHWRIGHT_IRIS_JOBS, the command that prints the jobs table, where --iris-jobs gives no file.

Exit 0: none is to be resumed; 1: one is, or a person has to look; 3, 4: a bucket or folder could not be looked at.
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

from benchwright.cli import ScriptParser, Shell, positive, run_script
from benchwright.cli.eval_options import add_jobs
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add_jobs(parser.add_argument)
    limits = parser.add_argument_group("limits")
    add = limits.add_argument
    add("--error-threshold", type=int, metavar="N", help="errors that a job may have (default: a tenth of its trials)")
    add("--max-fires", type=positive(int), default=2, metavar="N", help="launches, resumes included (default: 2)")
    add("--needs-resume-only", action="store_true", help="leave out the jobs that are not to be resumed")
    return parser


def check_resume_needed(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Look, and tell."""
    from benchwright.audit.progress import Rules, Wanted, look_at
    from benchwright.audit.progress_report import resume_outcome
    from benchwright.audit.troubles import Troubles
    from benchwright.harbor.progress import Limits

    wanted = Wanted.asked_for(
        args.places, args.jobs_root, args.iris, args.iris_jobs, tags=args.tag, since=args.since, environment=os.environ
    )
    troubles = Troubles()
    rules = Rules.load(args.profile, args.benchmarks, Limits(args.error_threshold, args.max_fires))
    return resume_outcome(look_at(wanted, rules, troubles), troubles, needs_alone=args.needs_resume_only)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), check_resume_needed))
