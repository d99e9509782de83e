"""What freeing a disk has to say."""

from __future__ import annotations

from benchwright.contract import DRY_RUN, Exit, Outcome
from benchwright.repair.disk import Freed, FreeState
from benchwright.repair.resume.backup import Backup

_WORDS: dict[FreeState, str] = {
    "there": "would be deleted",
    "deleting": "is being deleted",
    "stopped": "is half deleted",
    "freed": "is deleted",
}


def freed_outcome(freed: Freed, *, applied: bool, again: str) -> Outcome:
    """The outcome; ``again`` is the command that carries out what a dry run shows."""
    states = {str(disk.folder): disk.state for disk in freed.disks}
    lines = [f"{folder} {'stays' if freed.problems else _WORDS[state]}" for folder, state in states.items()]
    kept = [str(home) for disk in freed.disks if any((home := Backup(disk.folder).home).glob("leg-*"))]
    details = [f"  {one.facts.run_tag}: {one.judgement.verdict}, {one.judgement.why}" for one in freed.audited]
    details += [f"  stays: {home}, what was moved before a resume" for home in kept]
    data = {
        "applied": applied and not freed.problems,
        "folders": [{"folder": folder, "state": state} for folder, state in states.items()],
        "evals": [one.to_dict() for one in freed.audited],
        "kept": kept,
    }
    summary = "; ".join(lines)
    if applied:
        return Outcome(summary, data, details, freed.problems, exit=freed.exit)
    todo = freed.exit is Exit.DONE and {"there", "stopped"} & set(states.values())
    return Outcome(
        f"{DRY_RUN}; {summary}",
        data,
        details,
        freed.problems,
        [again] if todo else [],
        closing=(DRY_RUN,),
        exit=freed.exit,
    )
