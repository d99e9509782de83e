#!/usr/bin/env python3
"""Find the Python that fits: which environments import which checkout, which is right, and what a model needs there.

Asks the checkout's .venv, this interpreter, $VIRTUAL_ENV, the folders of --search, that of --checkout, and ~/.venvs, in
that order; the first that imports this checkout (and, with --checkout, that TabArena) is taken. --python asks that one
alone. --install MODEL prints the command that brings what the model needs; only with --apply does it run.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
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

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, usage_error

if TYPE_CHECKING:
    from benchwright.launch.environments import Environment
    from benchwright.launch.installs import InstallPlan

REPOSITORY = Path(__file__).resolve().parents[4]


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("--install", metavar="MODEL", help="what the model of that registry name needs, and has")
    parser.add_argument("--apply", action="store_true", help="run the installation instead of printing it")
    parser.add_argument("--checkout", type=Path, metavar="DIR", help="the TabArena checkout that must be imported")
    parser.add_argument(
        "--search", action="append", type=Path, default=[], metavar="DIR", help="a folder of environments; repeatable"
    )
    parser.add_argument("--python", action="append", default=[], metavar="PATH", help="ask this alone; repeatable")
    return parser


def run_venv(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Find and ask the environments; then plan or run the installation."""
    from benchwright.launch.environments import ORDER, find_pythons, survey
    from benchwright.launch.installs import making_commands

    if args.apply and args.install is None:
        raise usage_error("--apply", "nothing to apply", "--install MODEL", "add the model, or leave --apply out")
    if args.checkout:
        args.checkout = args.checkout.expanduser().resolve()
        args.search = [*args.search, args.checkout]
    making = making_commands(REPOSITORY, args.checkout)
    pythons = find_pythons(REPOSITORY, asked=args.python, search=args.search)
    with shell.progress("environments") as progress:
        environments = survey(pythons, REPOSITORY, args.checkout, progress=progress)
    fitting = [environment for environment in environments if environment.fits]
    found = Outcome(
        summary=f"{fitting[0].python} fits" if fitting else f"none of {len(environments)} environments fits",
        data={
            "environments": [environment.to_dict() for environment in environments],
            "chosen": fitting[0].python if fitting else None,
        },
        details=[line for environment in environments for line in environment.lines()],
    )
    if not fitting:
        return replace(found, problems=[none_fits(args, found, making)], next=making, exit=Exit.ENVIRONMENT)
    if len(fitting) > 1:
        order = "as given" if args.python else ORDER
        also = f"and so do {len(fitting) - 1} more; the first is taken, in this order: {order}"
        found = replace(found, summary=f"{found.summary}, {also}")
    return install(args, shell, fitting[0], found) if args.install else found


def none_fits(args: argparse.Namespace, found: Outcome, making: Sequence[str]) -> Problem:
    """The problem of having no environment, with the commands that make one."""
    expected = "one that imports this checkout" + (f" and the tabarena of {args.checkout}" if args.checkout else "")
    fix = ("leave --python out to ask the others, or: " if args.python else "") + " && ".join(making)
    return Problem("no-environment", "environments", found.summary, expected, fix)


def install(args: argparse.Namespace, shell: Shell, environment: Environment, found: Outcome) -> Outcome:
    """Plan what the model needs in the chosen environment; with ``--apply`` install and verify it."""
    from benchwright.launch.installs import plan_install
    from benchwright.launch.model_needs import broken_imports, registered_model

    shell.talk(f"reading the registry of models in {environment.python}")
    plan = plan_install(registered_model(environment.python, args.install), environment, REPOSITORY)
    planned = replace(
        found,
        data={**found.data, "install": plan.to_dict(), "applied": False},
        details=[found.summary, *found.details, *plan.lines()],
        problems=plan.warnings,
    )
    if not plan.command:
        shell.talk("importing what is installed")
        problems = broken_imports(environment.python, plan.needs)
        summary = f"nothing to install for {plan.model.name}" + (", but not all of it imports" if problems else "")
        return replace(planned, summary=summary, problems=problems, exit=Exit.ENVIRONMENT if problems else Exit.DONE)
    if args.apply:
        return apply(args, shell, environment, plan, planned)
    return replace(
        planned,
        summary=f"{DRY_RUN}; {len(plan.missing)} of {len(plan.needs)} requirements of {plan.model.name} missing",
        next=(shlex.join([*plan.command, "--dry-run"]), again(args, plan)),
        closing=(DRY_RUN,),
    )


def again(args: argparse.Namespace, plan: InstallPlan) -> str:
    """The command that runs this very plan."""
    checkout = option("--checkout", args.checkout)
    return command(__file__, "--python", plan.python, *checkout, "--install", plan.model.name, "--apply")


def apply(args: argparse.Namespace, shell: Shell, before: Environment, plan: InstallPlan, planned: Outcome) -> Outcome:
    """Install, ask the environment again, and report what changed."""
    from benchwright.launch.environments import survey
    from benchwright.launch.installs import run_install, verify_install

    run_install(plan, shell.talk)
    with shell.progress("environments") as progress:
        (after,) = survey([plan.python], REPOSITORY, args.checkout, progress=progress)
    changes, problems = verify_install(plan, before, after)
    right = "does not have" if problems else "has"
    return replace(
        planned,
        summary=f"installed: {plan.python} {right} what {plan.model.name} needs; {len(changes)} packages changed",
        data={**planned.data, "applied": True, "changes": [change.to_dict() for change in changes]},
        details=[f"  {change}" for change in changes],
        problems=[*planned.problems, *problems],
        exit=Exit.NO if problems else Exit.DONE,
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_venv))
