#!/usr/bin/env python3
"""Make a dataset of the traces of an agentic eval, and upload it to the Hub; without --apply nothing is sent.

A row is an episode of a trial: what the agent and its surroundings said up to there. `last` keeps the final one of each
trial, `all` has every one. A subagent's whole conversation is a row too; trace_source tells. Columns are those of
Harbor's exporter, and reward and exception apart. Trials without a row are listed with the reason.

The repo must be new, empty or this run's: a later upload of the run replaces the earlier in one commit. Traces there
of trials that count, columns, or more rows of as many trials are replaced by --replace-traces alone (else 5). What was
uploaded is read back, rows and trials, before a link to it is given. Stopped, it is run again: what the Hub has is not
sent again.

Settings, from the environment or a .env: HF_TOKEN, HF_ENDPOINT.
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

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("--job-dir", "--job_dir", type=Path, required=True, metavar="DIR", help="the folder of a Harbor job")
    add("--repo_id", "--repo-id", required=True, metavar="ORG/NAME", help="the dataset on the Hub")
    add("--episodes", choices=("last", "all"), default="last", help="which become rows (default: last)")
    outcomes = ("success", "failure", "none")
    add(
        "--filter",
        choices=outcomes,
        default="none",
        help="only trials with a reward above 0 and no exception, or only the others (default: none)",
    )
    add("--to_sharegpt", "--to-sharegpt", action="store_true", help="add the column conversations_sharegpt")
    add("--skip_register", "--skip-register", action="store_true", help="do not ask for the link onto the eval's row")
    add(
        *("--replace-traces", "--replace_traces", "--forced_update", "--forced-update"),
        action="store_true",
        help="replace traces of this run that hold more",
    )
    add("--dataset-dir", "--dataset_dir", type=Path, metavar="DIR", help="keep the dataset's files there")
    add("--apply", action="store_true", help="upload")
    return parser


def make_and_upload_trace_dataset(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Make the dataset; with ``--apply`` upload it."""
    from benchwright.harbor.traces import TraceOptions
    from benchwright.objects.credentials import settings_from_environment
    from benchwright.repair.traces.command import TraceCommand, make_and_upload

    outcome = None if args.filter == "none" else args.filter
    asked = TraceCommand(
        job_dir=args.job_dir,
        repo=args.repo_id,
        rows=TraceOptions(episodes=args.episodes, outcome=outcome, sharegpt=args.to_sharegpt),
        dataset=args.dataset_dir,
        replaces=args.replace_traces,
        apply=args.apply,
    )
    with shell.progress("reading trials") as progress:
        told = make_and_upload(asked, settings_from_environment(), progress)
    return replace(told, next=following(args))


def following(args: argparse.Namespace) -> list[str]:
    """The command that comes next: the upload, or the row's link to it, as a dry run."""
    where = [*option("--job-dir", args.job_dir)]
    if args.apply:
        push = Path(__file__).resolve().parents[1] / "database" / "manual_db_eval_push.py"
        return [] if args.skip_register else [command(push, *where, "--hf-repo", args.repo_id, "--skip-hf")]
    words = [*where, "--repo_id", args.repo_id, "--episodes", args.episodes, "--filter", args.filter]
    words += option("--to_sharegpt", args.to_sharegpt) + option("--skip_register", args.skip_register)
    words += option("--replace-traces", args.replace_traces)
    return [command(__file__, *words, *option("--dataset-dir", args.dataset_dir), "--apply")]


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), make_and_upload_trace_dataset))
