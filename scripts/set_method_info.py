#!/usr/bin/env python3
"""Set the manual fields of a method's metadata in the source that declares it: suite, date, cache_type, verified ...

MODULE:ATTR names the declaration, as in tabarena.models.nori.info:nori_method_metadata; it is found by path below
--repo (packages/*/src, src, or the folder itself) and never imported. Comments, order and layout stay; verified=False
is added where nothing is declared. Shows the diff; only --apply writes. VALUE is a text, true or false, words between
commas (tags), a JSON object (cache_kwargs), or none, which takes the field back to its default.
"""

from __future__ import annotations

import argparse
import shlex
import sys
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

from benchwright.cli import ScriptParser, Shell, run_script
from benchwright.contract import Failure, Outcome

if TYPE_CHECKING:
    from benchwright.publish import InfoEdit

DRY = "DRY RUN: nothing written"


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument(
        "target", metavar="MODULE:ATTR", help="the module and the name that the method is declared under"
    )
    parser.add_argument(
        "--set", action="append", required=True, metavar="FIELD=VALUE", dest="changes", help="a field; repeatable"
    )
    parser.add_argument("--repo", type=Path, metavar="DIR", help="the checkout (default: the current folder)")
    parser.add_argument("--apply", action="store_true", help="write the file")
    return parser


def set_method_info(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the edit; with ``--apply`` write it."""
    from benchwright.publish import apply_edit

    edit = plan(args)
    written = apply_edit(edit) if args.apply else False
    target, data = edit.target, edit.to_dict() | {"applied": args.apply, "written": written}
    if not edit.changes_file:
        state = f"{target} says so already: nothing to change"
    else:
        names = ", ".join(field.field for field in edit.fields)
        state = f"{target.label}: {names} {'set' if written else 'to be set'}"
    if args.apply:
        return Outcome(state, data, details=edit.diff())
    again = () if not edit.changes_file else (command(args, target.repository),)
    return Outcome(f"{DRY}; {state}", data, details=edit.diff(), next=again, closing=(DRY,))


def plan(args: argparse.Namespace) -> InfoEdit:
    """The edit that the command line asks for; what is wrong with it and with its target is told at once."""
    from benchwright.publish import find_target, parse_changes, plan_edit, read_declaration

    failures = []
    try:
        changes = parse_changes(args.changes)
    except Failure as failure:
        failures.append(failure)
    try:
        target = find_target(args.target, args.repo)
        if not failures:
            return plan_edit(target, changes)
        read_declaration(target)
    except Failure as failure:
        failures.append(failure)
    problems = [problem for failure in failures for problem in failure.problems]
    raise Failure(problems, exit=max(failure.exit for failure in failures))


def command(args: argparse.Namespace, repository: Path) -> str:
    """The command that writes this very edit, from any folder."""
    changes = [word for change in args.changes for word in ("--set", change)]
    words = [str(Path(sys.argv[0]).resolve()), args.target, *changes, "--repo", str(repository), "--apply"]
    return shlex.join([sys.executable, *words])


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), set_method_info))
