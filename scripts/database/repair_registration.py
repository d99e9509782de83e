#!/usr/bin/env python3
"""Put rows of the evaluation database right, one at a time and one's own alone; without --apply nothing is written.

fix-model        --row ID --model-name NAME: the row and the usage of its trials name the model instead of a number
fix-benchmark    --row ID --benchmark-name NAME: the row names the benchmark instead of a hash or a run's name
link-traces      --row ID --link URL: the row links the traces, proved on the Hub to be there and of this run
deregister       --row ID: a partial row goes, by its own statistics, or by the audit of --job-dir or --iris
drop-stale       own rows go that wait for more than 12 hours, and whose job is known not to be live; or --row ID alone.
                 Where SLURM does not answer it leaves with 3 or 4; a job that nothing names is none after 7 days
drop-orphan-benchmark  --benchmark-name NAME: a hash or a run's name goes to which no row of anyone refers
undo FILE        what a repair changed or deleted is there again

A right name that is not there is made: a model as it is given, a benchmark where a file of benchmarks has it.
A wrong name goes with its last row; what anyone refers to stays. Before the first write every row that changes is in an
undo file, whose name is printed. An interrupted repair is finished by the same command; one for another name or link
takes its place where nothing of it is written. What changed since it was read is left alone.

Settings, from the environment or a .env: DATABASE_URL, or SUPABASE_URL and a key; BENCHWRIGHT_OWNERS, your user names
in the database; HF_TOKEN, HF_ENDPOINT. Over Supabase, what deletes needs the functions of functions.sql; without them
it is refused (exit 5), and --handoff writes down how they are installed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

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

from benchwright.cli import Handoff, ScriptParser, Shell, command, command_elsewhere, option, repeated, run_script
from benchwright.cli.eval_options import add_judging, add_manifest
from benchwright.contract import Exit, Failure, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTALL = 'psql "$DATABASE_URL" -f src/benchwright/evaldb/functions.sql'


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    from benchwright.repair.registration.options import ACTIONS

    parser = ScriptParser(description=__doc__, handoff=True)
    add = parser.add_argument
    add("action", choices=ACTIONS, help="what to put right")
    add("file", nargs="?", type=Path, metavar="FILE", help="the undo file, with undo")
    add("--row", metavar="ID", help="the row of sandbox_jobs")
    add("--model-name", metavar="NAME", help="the right model, made where it is not there; or its id")
    add("--benchmark-name", metavar="NAME", help="the right benchmark, or the orphan; or its id")
    add("--link", metavar="URL", help="the dataset of the traces, also as ORG/NAME")
    add("--username", metavar="U", help="only rows of this one of your user names")
    add("--apply", action="store_true", help="write")
    add("--undo-dir", type=Path, metavar="DIR", help="where undo files are (default: in ~/.local/state/benchwright)")
    add("--db", choices=("postgres", "supabase"), help="the evaluation database (default: the one configured)")
    run = parser.add_argument_group("the run of the row")
    add = run.add_argument
    add("--job-dir", type=Path, metavar="DIR", help="its folder: deregister audits it, link-traces compares its trials")
    add("--iris", nargs="+", default=[], metavar="BUCKET", help="every bucket that it may be in, for deregister")
    add("--iris-job", metavar="NAME", help="its name there")
    add("--iris-jobs", type=Path, metavar="FILE", help="the jobs table as CSV")
    add_manifest(add)
    add_judging(add)
    add("--grandfather", type=Path, metavar="LOGFILE", help="rows that stay: ROW_ID YYYY-MM-DD REASON")
    add("--slurm", action=argparse.BooleanOptionalAction, help="ask squeue and sacct (default: where they ran it)")
    return parser


def repair_registration(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan one repair; with ``--apply`` do it."""
    from benchwright.objects.credentials import settings_from_environment
    from benchwright.repair.registration.command import Registration
    from benchwright.repair.registration.options import RepairOptions

    options = RepairOptions(
        action=args.action,
        row=args.row,
        model_name=args.model_name,
        benchmark_name=args.benchmark_name,
        link=args.link,
        file=args.file,
        job_dir=args.job_dir,
        iris=tuple(args.iris),
        iris_job=args.iris_job,
        iris_jobs=args.iris_jobs,
        manifest=args.manifest,
        jobs_root=args.jobs_root,
        profile=args.profile,
        benchmarks=args.benchmarks,
        grandfather=args.grandfather,
        slurm=args.slurm,
        username=args.username,
        database=args.db,
        undo_dir=args.undo_dir,
        apply=args.apply,
    )
    settings = settings_from_environment()
    registration = Registration(
        options=options, settings=settings, now=datetime.now(UTC), talk=shell.talk, progress=shell.progress
    )
    try:
        outcome = registration.outcome()
    except Failure as failure:
        if failure.exit is Exit.REFUSED:
            shell.hand_off(refused(args, failure))
        raise
    if args.apply:
        files = [repair["undo_file"] for repair in outcome.data["repairs"] if args.action != "undo"]
        how = ("--apply", *option("--db", args.db))
        undo = [f"to undo this: {command(__file__, 'undo', file, *how)}" for file in files if file]
        return replace(outcome, details=[*outcome.details, *undo], next=audit(args))
    shell.hand_off(sheet(args, "It is planned, and not done.", outcome.details))
    return replace(outcome, next=[command(__file__, *words(args), "--apply")] if outcome.data.get("changes") else [])


def audit(args: argparse.Namespace) -> list[str]:
    """The audit of the run, where it was named."""
    place = ["--iris", *args.iris, *option("--iris-jobs", args.iris_jobs)] if args.iris else []
    place += [args.job_dir] if args.job_dir else []
    script = Path(__file__).resolve().parents[1] / "eval" / "audit_evals.py"
    return [command(script, *place, *judging(args), *option("--db", args.db))] if place else []


def judging(args: argparse.Namespace) -> list[str]:
    """What the audit of the run is given."""
    return [
        *option("--manifest", args.manifest),
        *option("--jobs-root", args.jobs_root),
        *option("--profile", args.profile),
        *option("--benchmarks", args.benchmarks),
        *option("--grandfather", args.grandfather),
        *({None: (), True: ("--slurm",), False: ("--no-slurm",)}[args.slurm]),
    ]


def refused(args: argparse.Namespace, failure: Failure) -> Handoff:
    """The sheet for who may do it: the row's owner, or whoever may put functions into the database."""
    codes = {problem.code for problem in failure.problems}
    why = "It is for the row's owner to do." if "not-yours" in codes else "It was refused here."
    facts = [f"{problem.where}: {problem.found}" for problem in failure.problems]
    return sheet(args, why, facts, [INSTALL] if "needs-function" in codes else [])


def sheet(args: argparse.Namespace, why: str, facts: Sequence[str], before: Sequence[str] = ()) -> Handoff:
    """The repair as a command sheet for another checkout, by whose settings it is done there."""
    theirs = argparse.Namespace(**vars(args) | {"username": None, "undo_dir": None})
    return Handoff(
        title=f"{args.action} of {args.row or args.benchmark_name or args.file or 'stale rows'}",
        why=why,
        facts=facts,
        heading="Run, in this order, from the root of a checkout of benchwright",
        commands=[*before, command_elsewhere(__file__, *words(theirs), "--apply")],
        checks=["the same command without --apply says that nothing is to do", "the audit of the run says OK"],
    )


def words(args: argparse.Namespace) -> list[str]:
    """The words of the same command, without ``--apply``, from any folder."""
    return [
        args.action,
        *([str(args.file.absolute())] if args.file else []),
        *option("--row", args.row),
        *option("--model-name", args.model_name),
        *option("--benchmark-name", args.benchmark_name),
        *option("--link", args.link),
        *option("--job-dir", args.job_dir),
        *repeated("--iris", args.iris[:1]),
        *args.iris[1:],
        *option("--iris-job", args.iris_job),
        *option("--iris-jobs", args.iris_jobs),
        *judging(args),
        *option("--username", args.username),
        *option("--db", args.db),
        *option("--undo-dir", args.undo_dir),
    ]


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), repair_registration))
