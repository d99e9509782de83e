#!/usr/bin/env python3
"""Make a Harbor job ready to be resumed: what has no reward leaves its folder, and nothing else is run again.

Exactly the trials without a reward move (no reward, a result that cannot be read, none at all), and what Harbor would
delete: a resume deletes every folder without a result.json. An AgentTimeoutError with a reward stays. They move to
.before-resume/JOB/leg-NN beside the job, with a journal: after a kill the same command goes on, --undo moves all of it
back. Nothing is deleted, nothing is written into the job's folder.

Refused (5): a live job, one that nobody knows to have ended, one with .no-resume in it or resumed often enough. Not
done (1): where Harbor would refuse, or run everything again, since its configurations do not agree. An agent that is
installed in the sandbox needs the tunnel's EVAL_PINGGY_URL and EVAL_PINGGY_TOKEN in the environment or a .env.

The command that resumes is printed last. It names no error class to delete: Harbor's default deletes valid trials too.
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

from benchwright.cli import ScriptParser, Shell, command, option, positive, run_script
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("job_dir", type=Path, metavar="JOB_DIR", help="the folder of a Harbor job, with its trials in it")
    add("--filter", default="jupiter", metavar="NAME", help="the launch script's filter (see error_taxonomy.yaml)")
    add("--max-resume-count", type=positive(int), default=1, metavar="N", help="resumes a job may have (default: 1)")
    add("--config-yaml", type=Path, metavar="FILE", help="Harbor's configuration for the next leg: its retry policy")
    add("--slurm-job-id", metavar="ID", help="the job that ran it, where its meta.env does not say")
    add("--ended", action="store_true", help="you know that it has ended; for a run that no scheduler knows")
    add("--db", choices=("postgres", "supabase", "none"), help="the evaluation database (default: the one configured)")
    add(
        "--slurm",
        action=argparse.BooleanOptionalAction,
        help="ask squeue and sacct (default: where the run was one of their jobs, or they are here)",
    )
    add("--undo", action="store_true", help="move back what the last preparation moved")
    add("--apply", action="store_true", help="move")
    return parser


def prepare_resume(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan; with ``--apply`` move."""
    from benchwright.objects.credentials import settings_from_environment
    from benchwright.repair.at_rest import RestQuestion
    from benchwright.repair.resume import prepare as resume
    from benchwright.repair.resume.report import prepared_outcome, undone_outcome

    request = resume.ResumeRequest(
        job_dir=args.job_dir,
        question=RestQuestion(slurm_job_id=args.slurm_job_id, ended=args.ended, database=args.db, slurm=args.slurm),
        filter=args.filter,
        most_resumes=args.max_resume_count,
        config_yaml=args.config_yaml,
    )
    now = datetime.now(UTC)
    if args.undo:
        undone = resume.undo_resume(request, apply=args.apply, now=now, talk=shell.talk, progress=shell.progress)
        return undone_outcome(undone, applied=args.apply, again=again(args))
    prepared = resume.prepare_resume(
        request, settings_from_environment(), apply=args.apply, now=now, talk=shell.talk, progress=shell.progress
    )
    return prepared_outcome(prepared, applied=args.apply, again=again(args))


def again(args: argparse.Namespace) -> str:
    """The command that does what this one shows, from any folder."""
    words = [
        args.job_dir,
        *option("--filter", args.filter),
        *option("--max-resume-count", args.max_resume_count),
        *option("--config-yaml", args.config_yaml),
        *option("--slurm-job-id", args.slurm_job_id),
        *option("--ended", args.ended),
        *option("--db", args.db),
        *({None: (), True: ("--slurm",), False: ("--no-slurm",)}[args.slurm]),
        *option("--undo", args.undo),
    ]
    return command(__file__, *words, "--apply")


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), prepare_resume))
