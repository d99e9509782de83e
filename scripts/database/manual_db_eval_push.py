#!/usr/bin/env python3
"""Register an agentic eval: its traces on the Hub, its trials and its row in the database. Dry unless --apply.

JOB_DIR is the folder that Harbor wrote the trials to, or of an Iris job its address, gs://BUCKET/FOLDER/JOB, which is
copied down, pushed, and the copy removed. The run is audited first; what the audit refuses is not written (exit 5, with
the figures): too few trials or too many errors, a score of 0 without proof, names that are a number, a hash or a run's,
a pair that a good row serves, rows of somebody else. Nothing waives that. Agent, model and benchmark are told from all
trials and the launch's record; what they do not tell is asked for by an option.

A row of yours that is this run's is completed, by its id and as it was read; never a second one is made. Traces come
first and are proved before they are linked; those of this run that hold more stay (5) unless --replace-traces is given.
What was written is read back. Run again, it goes on where it was stopped.

Settings, from the environment or a .env: those of scripts/eval/audit_evals.py (DATABASE_URL, or SUPABASE_URL and a key;
BENCHWRIGHT_OWNERS; BENCHWRIGHT_TRACE_ORGS; HF_TOKEN), and UPLOAD_USERNAME, which of your names new rows get.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
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
from benchwright.cli.eval_options import add_judging, add_manifest
from benchwright.contract import Exit, Outcome

OWN = (
    "username",
    "agent-name",
    "model-name",
    "benchmark-name",
    "hf-repo",
    "skip-hf",
    "replace-traces",
    "forced-update",
    "iris-jobs",
)
SOURCES = ("manifest", "jobs-root", "profile", "benchmarks", "grandfather", "db", "slurm")
"""What the audit of a run is given as its push is."""


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("--job-dir", "--job_dir", required=True, metavar="JOB_DIR", help="the folder of a Harbor job, or its address")
    add("--apply", "--no-dry-run", action="store_true", dest="apply", help="write; without it the plan is printed")
    add("--username", metavar="NAME", help="which of your user names a new row gets")
    add("--forced-update", action="store_true", help="write over what differs in your row; trials that are no more go")
    add("--grandfather", type=Path, metavar="LOGFILE", help="rows that a decision spares: ROW_ID YYYY-MM-DD REASON")
    add("--verbose", action="store_true", help="print every change with its values on stderr, too")
    naming = parser.add_argument_group("names, where the run does not tell them")
    add = naming.add_argument
    add("--agent-name", metavar="NAME", help="the agent")
    add("--model-name", metavar="NAME", help="the model, such as ORG/NAME")
    add("--benchmark-name", metavar="NAME", help="the benchmark, by a name, an alias or a dataset of it")
    add_manifest(add)
    traces = parser.add_argument_group("traces")
    add = traces.add_argument
    add("--hf-repo", metavar="ORG/NAME", help="their dataset (default: the row's, or the first organisation's)")
    add("--skip-hf", action="store_true", help="upload none; with --hf-repo, link those that are there")
    add("--replace-traces", action="store_true", help="upload them in place of this run's that hold more")
    sources = parser.add_argument_group("sources and judging")
    add = sources.add_argument
    add("--db", choices=("postgres", "supabase"), help="the evaluation database (default: the one configured)")
    add("--slurm", action=argparse.BooleanOptionalAction, help="ask squeue and sacct (default: where they ran it)")
    add("--iris-jobs", type=Path, metavar="FILE", help="the table of Iris jobs as CSV: which of them are live")
    add_judging(add)
    return parser


def manual_db_eval_push(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Audit, plan, and with ``--apply`` write and prove."""
    from benchwright.objects import settings_from_environment
    from benchwright.repair.push.command import push
    from benchwright.repair.push.identity import Asked
    from benchwright.repair.push.options import PushOptions
    from benchwright.repair.traces.upload import HubTraces

    options = PushOptions(
        place=args.job_dir,
        hf_repo=args.hf_repo,
        skip_hf=args.skip_hf,
        forced=args.forced_update,
        replace_traces=args.replace_traces,
        asked=Asked(args.agent_name, args.model_name, args.benchmark_name),
        username=args.username,
        manifest=args.manifest,
        jobs_root=args.jobs_root,
        profile=args.profile,
        benchmarks=args.benchmarks,
        grandfather=args.grandfather,
        database=args.db,
        slurm=args.slurm,
        iris_jobs=args.iris_jobs,
        apply=args.apply,
    )
    uploader = HubTraces(settings_from_environment(), replaces=args.replace_traces)
    outcome = push(options, uploader, now=datetime.now(UTC), talk=shell.talk, progress=shell.progress)
    for line in outcome.details if args.verbose else ():
        shell.talk(line)
    if outcome.exit is not Exit.DONE:
        return outcome
    todo = args.apply or outcome.data["upload"] or outcome.data["plan"]["changes"]
    return replace(outcome, next=following(args) if todo else [])


def following(args: argparse.Namespace) -> list[str]:
    """The command that comes next: the same with ``--apply``, or after that the audit once more."""
    is_here = "://" not in args.job_dir
    place = Path(args.job_dir).absolute() if is_here else args.job_dir
    if args.apply:
        audit = Path(__file__).resolve().parents[1] / "eval" / "audit_evals.py"
        return [command(audit, place, *named(args, *SOURCES))] if is_here else []
    return [command(__file__, "--job-dir", place, *named(args, *OWN, *SOURCES), "--apply")]


def named(args: argparse.Namespace, *names: str) -> list[str]:
    """The options of these names as they were given."""
    words = [word for name in names for word in option(f"--{name}", getattr(args, name.replace("-", "_")))]
    return words + option("--no-slurm", args.slurm is False)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), manual_db_eval_push))
