#!/usr/bin/env python3
"""Set the manual fields of a method's metadata in the source that declares it: suite, date, cache_type, verified ...

MODULE:ATTR names the declaration, as in tabarena.models.nori.info:nori_method_metadata; it is found by path below
--repo (packages/*/src, src, or the folder itself) and never imported. Comments, order and layout stay, but a line like
"# date=..." goes once the field is set; verified=False is added where nothing is declared. Another suite is another
run, to be declared beside this one, and so are other results than those of a registered run: refused without --force.
Shows the diff; only --apply writes. VALUE is a text, true or false, words between commas (tags), a JSON object
(cache_kwargs), or none, which takes the field back to its default.
"""

from __future__ import annotations

import argparse
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

from benchwright.cli import ScriptParser, Shell, command, option, repeated, run_script
from benchwright.contract import DRY_RUN, Exit, Failure, Failures, Outcome

if TYPE_CHECKING:
    from benchwright.publish import InfoEdit


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument(
        "target", metavar="MODULE:ATTR", help="the module and the name that the method is declared under"
    )
    parser.add_argument(
        "--set", action="append", required=True, metavar="FIELD=VALUE", dest="changes", help="a field; repeatable"
    )
    parser.add_repo()
    parser.add_argument(
        "--force",
        action="store_true",
        help="change the suite of a run, or what a registered one declares of its results",
    )
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
    words = [*repeated("--set", args.changes), *option("--repo", target.repository), *option("--force", args.force)]
    again = [command(__file__, args.target, *words, "--apply")] if edit.changes_file else []
    return Outcome(f"{DRY_RUN}; {state}", data, details=edit.diff(), next=again, closing=(DRY_RUN,))


def plan(args: argparse.Namespace) -> InfoEdit:
    """The edit that the command line asks for; what is wrong with it and with its target is told at once."""
    from benchwright.publish import find_target, plan_edit, read_changes

    changes, problems = read_changes(args.changes)
    failures = Failures()
    with failures.collected():
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
    with failures.collected():
        edit = plan_edit(find_target(args.target, args.repo), changes, force=args.force)
    failures.settle()
    return edit


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), set_method_info))
