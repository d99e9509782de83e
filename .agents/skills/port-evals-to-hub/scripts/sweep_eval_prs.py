#!/usr/bin/env python3
"""Re-check every registered pull request: is each result still in the first fifty of a view, and has anybody acted?

With --apply, links that lead to a view which no longer shows a result are led to the broadest one that does, by an edit
of our own first comment; a result that every view was seen to hide is dropped by a commit; and a pull request is closed
with a comment where that is so of all its results. What is merged, was closed, changed or commented on by others, edits
a file of main, or is unknown in any way is left alone and shown. Run again after a kill, it goes on from what is there.

Ranks are kept beside the registry, a line a result and day, with a page of rank lines: with --apply, and in a dry run
where --ranks names the file.

Settings, from the environment or a .env: HF_TOKEN (its holder opened them), HF_ENDPOINT.
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

from benchwright.cli import Handoff, ScriptParser, Shell, command, option, run_script
from benchwright.contract import Outcome
from benchwright.hub.registry import DEFAULT


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    parser.add_argument("--apply", action="store_true", help="do what the dry run shows")
    add = parser.add_argument
    add("--registry", type=Path, default=DEFAULT, metavar="FILE", help=f"the pull requests (default: {DEFAULT})")
    add("--ranks", type=Path, metavar="FILE.csv", help="ranks over time (default: hf-eval-results-ranks.csv beside it)")
    return parser


def sweep_eval_prs(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Sweep, and write a command sheet of what is to be done."""
    from benchwright.hub.boards import Boards
    from benchwright.hub.client import Hub
    from benchwright.hub.sweep.command import swept_registry
    from benchwright.objects.credentials import settings_from_environment

    registry = option("--registry", args.registry)
    look = [*registry, *option("--ranks", args.ranks)]
    rebuild = command(Path(__file__).with_name("open_eval_prs.py"), *registry, "--rebuild")
    with shell.progress("pull requests") as progress:
        boards = Boards(Hub.of(settings_from_environment()))
        outcome = swept_registry(
            boards,
            args.registry,
            apply=args.apply,
            ranks=args.ranks,
            progress=progress,
            again=command(__file__, *look, "--apply"),
            rebuild=rebuild,
        )
    return shell.handed_off(sheet(outcome, command(__file__, *look)), outcome)


def sheet(outcome: Outcome, look: str) -> Handoff:
    """The command sheet for who holds the token; with nothing to do its command, ``look``, only looks."""
    pulls = outcome.data["pull_requests"]
    to_do = "This edits, and at worst closes, our own pull requests in other people's repos: read first what it does."
    done = "By this sweep nothing is to be done, and the command only looks again."
    return Handoff(
        title="Sweep the pull requests of evaluation results",
        why=f"Ranks drift as others come in. {to_do if outcome.next else done}",
        commands=outcome.next or [look],
        facts=[f"{one['repo']}#{one['num']}: {step}" for one in pulls for step in one["steps"]],
        checks=[
            "it leaves with 0, and a dry run then finds nothing to do",
            *(f"what others wrote is answered: {one['url']}" for one in pulls if one["comments"]),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), sweep_eval_prs))
