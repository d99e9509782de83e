#!/usr/bin/env python3
"""Audit agentic evals: is each complete, and what is the one thing to do about it? Nothing is written anywhere.

Four checks an eval: the job has ended; the score is there and may be trusted; traces are there, linked and of this run;
enough trials count. Evals are JOB_DIRs, all jobs below --jobs-root, or the rows of a --manifest, a CSV file with the
column job_dir (below --jobs-root, if relative) and any of slurm_job_id, agent, model, benchmark, trials, row_id,
traces, measurement; beside JOB_DIRs it only says more of these. With --iris they are the jobs of Iris's table, or
without it of the buckets: name every bucket that a job may have written to; the manifest tells of such a job by its
address, gs://BUCKET/FOLDER/JOB. A source that does not answer leaves its checks unknown, with the reason, and never as
passed.

Settings, from the environment or a .env: DATABASE_URL, or SUPABASE_URL and a key; BENCHWRIGHT_OWNERS, your user names
in the database; BENCHWRIGHT_TRACE_ORGS, the organisations that traces are uploaded to; HF_TOKEN, HF_ENDPOINT; what the
buckets' clients read. From the environment alone: BENCHWRIGHT_IRIS_JOBS, the command that prints the jobs table.

Exit 0: nothing left to do for any eval; 1: there is; 3, 4: a source could not be asked, the rest is reported.
"""

from __future__ import annotations

import argparse
import sys
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

from benchwright.cli import ScriptParser, Shell, moment, run_script
from benchwright.cli.eval_options import add_iris, add_judging
from benchwright.contract import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchwright.audit.gather import Gathered
    from benchwright.audit.record import Audited


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("job_dirs", nargs="*", type=Path, metavar="JOB_DIR", help="the folder of a Harbor job, with its trials in it")
    add("--jobs-root", type=Path, metavar="DIR", help="a folder of jobs: all of them, or those that the manifest names")
    add("--manifest", type=Path, metavar="FILE", help="the runs, with what their folders do not say")
    add_iris(add)
    add("--since", type=moment, metavar="DATE", help="leave out runs that nobody named, without a sign since")
    judging = parser.add_argument_group("judging")
    add = judging.add_argument
    add_judging(add)
    add("--grandfather", type=Path, metavar="LOGFILE", help="rows that a decision spares: ROW_ID YYYY-MM-DD REASON")
    sources = parser.add_argument_group("sources")
    add = sources.add_argument
    add("--db", choices=("postgres", "supabase", "none"), help="the evaluation database (default: the one configured)")
    flag = argparse.BooleanOptionalAction
    add("--hub", action=flag, default=True, help="look for the traces (default: do)")
    add(
        "--slurm",
        action=flag,
        help="ask squeue and sacct (default: where a run was one of their jobs, or they are here)",
    )
    add("--cache", type=Path, metavar="DIR", help="where looks at folders are remembered (default: in ~/.cache)")
    add("--no-cache", action="store_true", help="remember nothing, and rely on nothing remembered")
    add("--facts", type=Path, metavar="FILE", help="judge the facts in a file, and ask no source")
    files = parser.add_argument_group("files")
    add = files.add_argument
    add("--dump-facts", type=Path, metavar="FILE", help="write the facts that were gathered, as JSON")
    add("--report", type=Path, metavar="FILE", help="write the report: FILE.md to hand on, FILE.html to look at")
    return parser


def audit_evals(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Gather, judge, tell."""
    from benchwright.audit.command import facts_in_file, gathered, outcome
    from benchwright.audit.facts_file import write_facts
    from benchwright.audit.options import AuditOptions
    from benchwright.audit.record import audit

    now = datetime.now(UTC)
    outputs = {"--dump-facts": args.dump_facts, "--report": args.report, "--out": args.out}
    options = AuditOptions(
        job_dirs=tuple(args.job_dirs),
        jobs_root=args.jobs_root,
        manifest=args.manifest,
        iris=tuple(args.iris),
        iris_jobs=args.iris_jobs,
        since=args.since,
        profile=args.profile,
        benchmarks=args.benchmarks,
        grandfather=args.grandfather,
        database=args.db,
        hub=args.hub,
        slurm=args.slurm,
        cache=args.cache,
        remember=not args.no_cache,
        facts=args.facts,
        report=args.report,
        outputs={name: path for name, path in outputs.items() if path is not None},
    )
    options.check()
    found = None if args.facts else gathered(options, now=now, talk=shell.talk, progress=shell.progress)
    facts = found.facts if found else facts_in_file(options)
    audited = audit(facts, now=now)
    if args.dump_facts:
        write_facts(args.dump_facts, facts)
    if args.report:
        write_report(args.report, audited, found)
    return outcome(audited, found.troubles if found else None)


def write_report(path: Path, audited: Sequence[Audited], found: Gathered | None) -> None:
    """Write the report in the form that the file's name asks for."""
    from benchwright.audit.report_html import report_html
    from benchwright.audit.report_markdown import report_markdown
    from benchwright.files import write_text

    if path.suffix == ".md":
        write_text(path, report_markdown(audited))
    else:
        at = path.absolute().parent
        write_text(path, report_html(audited, trials_of=found.trials_of if found else None, at=at))


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), audit_evals))
