#!/usr/bin/env python3
"""Add addresses to a queue file, such as rl_to_check.md: a program takes it line by line, so it stays a flat list.

Whatever is no address or path is refused, among the URLs as in the file: no heading, table, list or note. The order
stays, what the queue has already is not added again, and the file is written whole or not at all. It is somebody's
file, and what is in it is run: without --apply it is only shown what would be added.
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

from benchwright.cli import ScriptParser, Shell, command, run_script
from benchwright.contract import DRY_RUN, Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="the queue; a new one is made")
    add("urls", nargs="+", metavar="URL", help="what to add, in this order")
    add("--apply", action="store_true", help="write the queue")
    return parser


def append_queue(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Show what would be added; with ``--apply`` add it."""
    from benchwright.repair.queue_file import append_to_queue

    done = append_to_queue(args.file, args.urls, apply=args.apply)
    verb = "added" if args.apply else "to add"
    summary = f"{done.path}: {len(done.added)} {verb} to {done.length}, {len(done.known)} there already"
    data = {"applied": args.apply, "queue": done.path, "added": list(done.added), "known": list(done.known)}
    details = [f"  {entry}" for entry in done.added]
    if args.apply:
        return Outcome(summary, data, details)
    next = [command(__file__, args.file, *args.urls, "--apply")] if done.added else []
    return Outcome(f"{DRY_RUN}; {summary}", data, details, next=next, closing=(DRY_RUN,))


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), append_queue))
