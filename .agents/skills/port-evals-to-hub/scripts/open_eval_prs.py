#!/usr/bin/env python3
"""Open pull requests with the results of a spec on the Hub, one a model; without --apply they are only shown.

Each result is checked first: its source, its task, its unit, its rank, and that the model declares it nowhere yet. What
is refused is not opened, with every reason. --apply asks who holds the token and what it may do, notes in the registry
what it is about to open, opens it, and notes what came of it; then it reads the boards until the results are on them.
A commit is never sent again: a lost answer is resolved by looking for the pull request. It may be killed and run again:
a pull request of ours that is there is adopted. What the sources said is kept beside the registry. The form of a spec:
references/spec.schema.json.

Settings, from the environment or a .env: HF_TOKEN (its holder opens the pull requests), HF_ENDPOINT.
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

from benchwright.cli import Handoff, ScriptParser, Shell, command, option, positive, run_script
from benchwright.contract import Outcome, usage_error
from benchwright.hub.registry import DEFAULT, SNAPSHOTS, Registry

if TYPE_CHECKING:
    from benchwright.hub.opening.plan import Planner, RepoPlan
    from benchwright.hub.spec import Spec


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    add = parser.add_argument
    form = "what to open, in the form of references/spec.schema.json"
    add("spec", type=Path, nargs="?", metavar="SPEC.json", help=f"{form}; --rebuild needs none")
    add("--registry", type=Path, default=DEFAULT, metavar="FILE", help=f"the registry (default: {DEFAULT})")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--apply", action="store_true", help="open them, or change the one of --amend")
    mode.add_argument("--rebuild", action="store_true", help="write the registry anew, from what the Hub says")
    add("--amend", type=positive(int), metavar="NUM", help="change our own open pull request NUM of the spec's model")
    return parser


def open_eval_prs(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the pull requests of a spec; with ``--apply`` open them."""
    from benchwright.hub.spec import Spec

    if args.rebuild and args.amend:
        raise usage_error("--amend", "beside --rebuild", "one of them", "leave one of the two out")
    spec = Spec.load(args.spec) if args.spec else None
    if args.rebuild:
        return rebuilt(args, spec, shell)
    if spec is None:
        raise usage_error("SPEC.json", "not given", "what to open", "name it; --rebuild alone needs none")
    if args.amend and len(spec.repos) != 1:
        raise usage_error(
            str(args.spec),
            f"{len(spec.repos)} models",
            "with --amend, one: that of the pull request",
            "leave the others out",
        )
    if not args.apply:
        outcome = shown(args, spec, shell)
    else:
        with Registry.locked(args.registry, f"open_eval_prs.py with {args.spec.name}", rebuild=anew(args)) as registry:
            outcome = applied(args, spec, registry, shell)
    return shell.handed_off(sheet(args, outcome), outcome)


def shown(args: argparse.Namespace, spec: Spec, shell: Shell) -> Outcome:
    """What would be opened, or changed."""
    from benchwright.hub.opening import report
    from benchwright.hub.opening.amend import plan_amendment

    planner = planner_for(Registry.load(args.registry, rebuild=anew(args)))
    if args.amend:
        amendment = plan_amendment(planner, spec.repos[0], args.amend)
        return report.amended(amendment, None, (), (again(args, "--apply"),), dry=True)
    return report.planned(planned(planner, spec, shell), (again(args, "--apply"),))


def applied(args: argparse.Namespace, spec: Spec, registry: Registry, shell: Shell) -> Outcome:
    """What was opened or changed, and where the results stand."""
    from benchwright.hub.opening import report
    from benchwright.hub.opening.amend import amend, plan_amendment
    from benchwright.hub.opening.apply import Opener
    from benchwright.hub.opening.live import stands
    from benchwright.hub.opening.rights import holder_of
    from benchwright.hub.writing import Writer, alone

    planner = planner_for(registry, snapshots=True)
    holder = holder_of(planner.hub)
    holder.check(repo.repo for repo in spec.repos)
    planner = planner.of(holder.name)
    writer = Writer(planner.hub)
    if args.amend:
        amendment = plan_amendment(planner, spec.repos[0], args.amend)
        record = amend(planner, writer, amendment) if amendment.plan.draft else None
        seen = stands(planner.boards, [record] if record else [])
        return report.amended(amendment, record, seen, (sweep(args),), dry=False)
    opened = []
    with alone(planner.hub, f"open_eval_prs.py with {args.spec.name}"):
        plans = planned(planner, spec, shell)
        with shell.progress("opening, models") as progress:
            for one in Opener(planner, writer).carry_out(plans):
                opened.append(one)
                progress(len(opened), len(plans), note=one.plan.spec.repo)
    records = [one.record for one in opened if one.record is not None]
    with shell.progress("on the boards, results") as progress:
        seen = stands(planner.boards, records, polled=progress)
    return report.applied(opened, seen, again(args, "--apply"), sweep(args))


def rebuilt(args: argparse.Namespace, spec: Spec | None, shell: Shell) -> Outcome:
    """The registry, written anew; as it was where the Hub does not tell all, which it may later."""
    from benchwright.hub.boards import Boards
    from benchwright.hub.client import Hub
    from benchwright.hub.opening import report
    from benchwright.hub.opening.rebuild import models_in, put_aside, rebuild, records_in
    from benchwright.hub.opening.rights import holder_of
    from benchwright.objects.credentials import settings_from_environment

    boards = Boards(Hub.of(settings_from_environment()))
    holder = holder_of(boards.hub)
    with Registry.locked(args.registry, "open_eval_prs.py --rebuild", fresh=True) as registry:
        known = models_in(args.registry, boards.hub.endpoint)
        models = {*(repo.repo for repo in (spec.repos if spec else ())), *known}
        with shell.progress("looking for pull requests, models") as progress:
            found = rebuild(boards, holder.name, models, progress, known=records_in(args.registry))
        aside = put_aside(args.registry) if found.whole else None
        if found.whole:
            registry.write(found.records)
    return report.rebuilt(found, str(args.registry), str(aside) if aside else None, anew(args))


def planner_for(registry: Registry, *, snapshots: bool = False) -> Planner:
    """The planner of a run, which does not know yet who we are; ``snapshots``: what sources say is kept."""
    from benchwright.hub.boards import Boards
    from benchwright.hub.client import Hub
    from benchwright.hub.opening.evidence import evidence_of
    from benchwright.hub.opening.plan import Planner
    from benchwright.hub.sources import Snapshots, Sources
    from benchwright.objects.credentials import settings_from_environment

    hub = Hub.of(settings_from_environment())
    registry.check_hub(hub.endpoint)
    sources = Sources(hub, Snapshots(registry.path.with_name(SNAPSHOTS.name)) if snapshots else None)
    return Planner(Boards(hub), registry, lambda result: evidence_of(result, sources))


def planned(planner: Planner, spec: Spec, shell: Shell) -> tuple[RepoPlan, ...]:
    """The plans, with their progress."""
    with shell.progress("checking, models") as progress:
        return planner.plans(spec, lambda number, repo: progress(number, len(spec.repos), note=repo))


def again(args: argparse.Namespace, mode: str) -> str:
    """This very command in another mode, to be run from any folder."""
    words = [*option("--registry", args.registry), *option("--amend", args.amend), mode]
    return command(__file__, args.spec, *words)


def anew(args: argparse.Namespace) -> str:
    """The command that writes the registry anew."""
    return command(__file__, *([args.spec] if args.spec else []), *option("--registry", args.registry), "--rebuild")


def sweep(args: argparse.Namespace) -> str:
    """The look at all registered pull requests, as a dry run."""
    return command(Path(__file__).with_name("sweep_eval_prs.py"), *option("--registry", args.registry))


def sheet(args: argparse.Namespace, outcome: Outcome) -> Handoff:
    """The command sheet for the person who opens them."""
    what = f"Change pull request {args.amend}" if args.amend else "Open pull requests with evaluation results"
    return Handoff(
        what,
        "They are public, on other people's repositories, in the name of the holder of HF_TOKEN. All of it was checked"
        " without writing anything; what is refused is not opened.",
        commands=list(dict.fromkeys([*outcome.next, sweep(args)])),
        checks=(
            "the first command ends with exit code 0, and its table has a rank for each result",
            "exit code 4: run the same command again; what is open already is not opened again",
            "exit code 1, 2 or 5: read the problems before anything else is done",
        )
        if again(args, "--apply") in outcome.next
        else ("nothing is to be done; the command only looks at what is there",),
        facts=[outcome.summary, *(str(problem).splitlines()[0] for problem in outcome.problems)],
        sections=[("What it is", [line for detail in outcome.details for line in ("```", detail, "```", "")])],
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), open_eval_prs))
