#!/usr/bin/env python3
"""Enter a method in an arena's collection, so that it appears in the benchmark; or swap it in for the run it replaces.

MODULE:ATTR names the declaration, as in tabarena.models.nori.info:nori_method_metadata; it and the arena's collection
are found by path below --repo (packages/*/src, src, or the folder itself) and never imported. The import goes to its
alphabetical place, the entry below the comment for its kind (systems, GPU, CPU) or the one --group names: in that
group's order where it has one, else at its end. --replaces puts it in another entry's place and appends that one to
methods_superseded. Comments, order and layout stay. --rollback undoes a registration to the byte. Shows the diff; only
--apply writes, with --rollback too.
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

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import DRY_RUN, Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument(
        "method", metavar="MODULE:ATTR", help="the module and the name that the method is declared under"
    )
    parser.add_argument("--arena", required=True, choices=("tabarena", "beyondarena", "mini"), help="whose collection")
    parser.add_repo()
    parser.add_argument("--replaces", metavar="MODULE:ATTR", help="the entry to take the place of, or to put back")
    parser.add_argument("--group", metavar="COMMENT", help="the comment in the list to enter it below")
    parser.add_argument("--rollback", action="store_true", help="undo the registration instead")
    parser.add_argument("--apply", action="store_true", help="write the file")
    return parser


def register_method(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the registration, or its undoing; with ``--apply`` write it."""
    from benchwright.publish import ARENAS, apply_edit, plan_registration, plan_rollback

    arena, where = ARENAS[args.arena], {"repository": args.repo, "replaces": args.replaces}
    if args.rollback:
        edit = plan_rollback(arena, args.method, **where)
    else:
        edit = plan_registration(arena, args.method, **where, group=args.group)
    written = apply_edit(edit) if args.apply else False
    data = edit.to_dict() | {"applied": args.apply, "written": written}
    unread = [] if edit.undoes else [f"not compared with {entry}" for entry in edit.unread]
    details = [*edit.caveats, *unread, *edit.diff()]
    state = edit.sentence(done=written)
    if args.apply:
        undo = [f"to undo this: {again(args, edit.target.repository, rollback=True)}"] if written else []
        return Outcome(state, data, details=details if edit.undoes else [*undo, *details])
    commands = [again(args, edit.target.repository, rollback=args.rollback)] if edit.changes_file else []
    return Outcome(f"{DRY_RUN}; {state}", data, details=details, next=commands, closing=(DRY_RUN,))


def again(args: argparse.Namespace, repository: Path, *, rollback: bool) -> str:
    """The command that writes this very edit, or undoes it, from any folder."""
    words = [
        *option("--arena", args.arena),
        *option("--repo", repository),
        *option("--replaces", args.replaces),
        *option("--group", args.group),
        *option("--rollback", rollback),
    ]
    return command(__file__, args.method, *words, "--apply")


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), register_method))
