#!/usr/bin/env python3
"""Delete a Harbor job's folder, once its traces are proved to be on the Hub and its row to be right in the database.

The audit of this very folder has to say OK, with every check passed and every source asked, and the linked repo to have
every trial with a trajectory; else nothing is touched (5). Nor is a folder deleted that is a link, in which there are
tasks, or which holds anything that is no trial. The folder is renamed to .freed/JOB beside it at once, and a process of
its own deletes it there, without sizing it first, without following a link. Killed or not, the same command goes on,
and tells how far it is.

What prepare_resume moved to .before-resume/JOB is not in the traces, and stays. Settings are the audit's.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
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

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.cli.eval_options import add_benchmarks, add_manifest
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("job_dir", type=Path, metavar="JOB_DIR", help="the folder of a Harbor job, with its trials in it")
    add_benchmarks(add)
    add_manifest(add)
    add("--db", choices=("postgres", "supabase"), help="the evaluation database (default: the one configured)")
    add(
        "--slurm",
        action=argparse.BooleanOptionalAction,
        help="ask squeue and sacct (default: where the run was one of their jobs, or they are here)",
    )
    add("--apply", action="store_true", help="delete")
    return parser


def free_disk(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Prove; with ``--apply`` delete."""
    from benchwright.repair.disk import free_job
    from benchwright.repair.disk_report import freed_outcome

    options = {
        "benchmarks": args.benchmarks,
        "manifest": args.manifest,
        "jobs_root": args.jobs_root,
        "database": args.db,
        "slurm": args.slurm,
        "remember": False,
    }
    freed = free_job(
        args.job_dir, options, apply=args.apply, now=datetime.now(UTC), talk=shell.talk, progress=shell.progress
    )
    return freed_outcome(freed, applied=args.apply, again=again(args))


def again(args: argparse.Namespace) -> str:
    """The command that deletes what this one proves, from any folder."""
    words = [args.job_dir, *option("--benchmarks", args.benchmarks), *option("--manifest", args.manifest)]
    words += [*option("--jobs-root", args.jobs_root), *option("--db", args.db)]
    words += {None: [], True: ["--slurm"], False: ["--no-slurm"]}[args.slurm]
    return command(__file__, *words, "--apply")


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), free_disk))
