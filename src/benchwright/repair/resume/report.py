"""What a preparation of a resume has to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchwright.contract import DRY_RUN, Exit, Outcome, counted
from benchwright.harbor.scan import as_text
from benchwright.repair.resume.prepare import Preparation, Prepared, Undone, moves_of, told

_NOT_COMPARABLE = "not directly comparable with runs of one leg"


def prepared_outcome(prepared: Prepared, *, applied: bool, again: str) -> Outcome:
    """The outcome of a preparation; ``again`` is the command that carries out what a dry run shows."""
    parts, exit = prepared.parts, prepared.exit
    todo = any(part.plan.moves or part.unfinished for part in parts)
    summary = "; ".join(f"{part.plan.job.name}: {told(part)}" for part in parts)
    if applied and prepared.problems:
        summary = f"nothing was moved; {summary}"
    details = [f"  {as_text(move.name)}: {move.kind}, {move.why}" for part in parts for move in moves_of(part)]
    details += [f"  {_flag(name, number, prepared.scored)}" for name, number in prepared.flags.items()]
    details += [f"  {_NOT_COMPARABLE}: {change}" for change in prepared.changes]
    details += [f"  note: {note}" for note in prepared.notes]
    data = {
        "applied": applied and not prepared.problems,
        "job": None if prepared.job is None else {"phase": prepared.job.phase, "state": prepared.job.state},
        "folders": [_folder(part) for part in parts],
        "flags": [f"--filter-error-type {name}" for name in prepared.flags if name not in prepared.scored],
        "comparable": not prepared.changes,
        "changes": list(prepared.changes),
        "notes": list(prepared.notes),
    }
    commands = [] if exit is not Exit.DONE else prepared.commands if applied or not todo else [again]
    if applied:
        return Outcome(summary, data, details, prepared.problems, commands, exit=exit)
    return Outcome(f"{DRY_RUN}; {summary}", data, details, prepared.problems, commands, closing=(DRY_RUN,), exit=exit)


def _flag(name: str, number: int, scored: Mapping[str, int]) -> str:
    """What a resume without this preparation would need for an error that its filter does not have."""
    told = f"{name} is outside the filter ({counted(number, 'trial')})"
    if name in scored:
        return f"{told}, and no flag would do: --filter-error-type {name} deletes {scored[name]} with a reward as well"
    return f"{told}; without this preparation a resume needs --filter-error-type {name}"


def undone_outcome(undone: Undone, *, applied: bool, again: str) -> Outcome:
    """The outcome of an undo."""
    back = applied and not undone.problems
    number = sum(len(leg.moves) for leg in undone.legs)
    summary = f"{counted(number, 'folder')} {'moved back' if back else 'to move back'}"
    data = {"applied": back, "legs": [{"folder": leg.folder, "state": leg.state} for leg in undone.legs]}
    details = [f"  {as_text(move.name)}" for leg in undone.legs for move in leg.moves]
    if applied:
        return Outcome(summary, data, details, undone.problems, exit=undone.exit)
    return Outcome(
        f"{DRY_RUN}; {summary}", data, details, undone.problems, [again], closing=(DRY_RUN,), exit=undone.exit
    )


def _folder(part: Preparation) -> dict[str, Any]:
    leg = part.leg or part.unfinished
    return {
        "folder": part.plan.folder,
        "moves": [asdict(move) | {"name": as_text(move.name)} for move in moves_of(part)],
        "kept": len(part.plan.kept),
        "planned": part.plan.job.aggregate.planned,
        "complete": part.complete,
        "backup": None if leg is None else leg.folder,
    }
