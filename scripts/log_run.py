#!/usr/bin/env python3
"""Write a run's entry into the benchmark log, on top of the others: what ran, on which commit, and its plan.

The run script is read as a syntax tree and never run: its BENCHMARK_NAME and WORKSPACE say where the run's records,
logs and results are, its docstring has purpose and notes, and its setup() is copied with the constants put in. The
commit is the one that was HEAD at set-up, by the plan record or the reflog; how it is known is part of the entry. The
protocol is what the arena required, beside the declared one, or else the artifact's; what nothing says is "unknown".
Metadata of another method is refused. An entry of the benchmark that is there already is left alone, but for bullets
that it lacks or that say "unknown" or "none yet": these are filled where they are known by now, if the entry has the
plan of this very script. Shows the entry or the diff; only --apply writes it.
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

from benchwright.cli import ScriptParser, Shell, command, option, repeated, run_script
from benchwright.contract import DRY_RUN, Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("--run-script", type=Path, required=True, metavar="FILE", help="such as tmp_scripts/run_xgboost.py")
    add("--log", type=Path, metavar="FILE", help="default: the checkout's BENCHMARK_LOG.md")
    parser.add_repo("the run's checkout (default: the one around the run script)")
    add("--workspace", type=Path, metavar="DIR", help="where the run's results are (default: the script's WORKSPACE)")
    add("--method-metadata", metavar="MODULE:ATTR", help="the declaration of what ran: its protocol and suite")
    add(
        "--suite",
        metavar="SUITE",
        help="the suite this run was processed to; without it the declared one is told as declared",
    )
    add("--purpose", metavar="TEXT", help="default: the first paragraph of the run script's docstring")
    add("--note", action="append", default=[], metavar="TEXT", help="more than the docstring says; repeatable")
    add("--fix", action="append", default=[], metavar="TEXT", help="what mended a failure; repeatable")
    add("--date", metavar="YYYY-MM-DD", help="the run's date (default: that of its set-up)")
    parser.add_cache_root()
    add("--apply", action="store_true", help="write the log")
    return parser


def log_run(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the entry; with ``--apply`` write it."""
    from benchwright.publish.run_log import LogRequest, apply_log_entry, plan_log_entry

    plan = plan_log_entry(
        LogRequest(
            script=args.run_script,
            log=args.log,
            repository=args.repo,
            workspace=args.workspace,
            reference=args.method_metadata,
            suite=args.suite,
            purpose=args.purpose,
            notes=tuple(args.note),
            fixes=tuple(args.fix),
            date=args.date,
            cache_root=args.cache_root,
        )
    )
    written = apply_log_entry(plan) if args.apply else False
    data = plan.to_dict() | {"applied": args.apply, "written": written}
    where = f"{plan.log}:{plan.line}"
    if plan.completes:
        names = ", ".join(plan.completes)
        state = f"{where}: entry of {plan.benchmark} {'completed' if written else 'to be completed'}: {names}"
    elif plan.entry is None:
        state = f"{where}: {plan.benchmark} has its entry already"
    else:
        state = f"{where}: entry of {plan.benchmark} {'written' if written else 'to be written'}"
    details = plan.entry.splitlines() if plan.entry else plan.diff()
    if args.apply:
        return Outcome(state, data, details=details, problems=plan.problems)
    commands = [again(args, plan.log)] if plan.changes_file else []
    return Outcome(f"{DRY_RUN}; {state}", data, details, plan.problems, next=commands, closing=(DRY_RUN,))


def again(args: argparse.Namespace, log: Path) -> str:
    """The command that writes what this one shows, from any folder."""
    words = [
        *option("--run-script", args.run_script),
        *option("--log", log),
        *option("--repo", args.repo),
        *option("--workspace", args.workspace),
        *option("--method-metadata", args.method_metadata),
        *option("--suite", args.suite),
        *option("--purpose", args.purpose),
        *option("--date", args.date),
        *option("--cache-root", args.cache_root),
        *repeated("--note", args.note),
        *repeated("--fix", args.fix),
    ]
    return command(__file__, *words, "--apply")


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), log_run))
