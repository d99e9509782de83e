"""What the repairs of registered rows tell: what would change, what did, and how it is taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.contract import DRY_RUN, Exit, Failure, Outcome, counted
from benchwright.evaldb import Insert, Update, Write, Written
from benchwright.evaldb.write_steps import named
from benchwright.repair.registration.carry_out import Done
from benchwright.repair.registration.undo_file import Repair, UndoFile


def planned(repairs: Sequence[Repair], remarks: Sequence[str], failures: Sequence[Failure]) -> Outcome:
    """What a dry run tells, where ``failures`` kept it from knowing all."""
    changes = [change for repair in repairs for change in repair.changes]
    stays = [*(remark for repair in repairs for remark in repair.remarks), *remarks]
    nothing = "what is to do is unknown" if failures else "nothing to do"
    summary = counted(len(changes), "change") + " to make" if changes else nothing
    data = {"applied": False, "changes": changes, "repairs": [_repair(one) for one in repairs], "stays": stays}
    problems = [problem for failure in failures for problem in failure.problems]
    exit = max((failure.exit for failure in failures), default=Exit.DONE)
    return Outcome(
        f"{DRY_RUN}; {summary}", data, details=[*changes, *stays], problems=problems, exit=exit, closing=(DRY_RUN,)
    )


def undoing(file: UndoFile) -> Outcome:
    """What a dry run of an undo tells."""
    changes = () if file.state == "undone" else file.repair.taken_back.changes
    summary = (
        "it was taken back already" if file.state == "undone" else f"{counted(len(changes), 'change')} to take back"
    )
    data = {"applied": False, "changes": list(changes), "state": file.state, "repairs": [_repair(file.repair)]}
    return Outcome(f"{DRY_RUN}; {summary}", data, details=changes, closing=(DRY_RUN,))


def told(done: Sequence[Done], remarks: Sequence[str], failures: Sequence[Failure]) -> Outcome:
    """What became of repairs, some of which may have failed."""
    details = []
    for one in done:
        adopted = " (begun by an earlier run)" if one.adopted else ""
        details += [f"{change}{adopted}" for change in one.repair.changes]
        details += [f"{named(written.write)} stays: {_references(written)}" for written in one.kept]
        details += one.repair.remarks
    changed = sum(one.state == "done" for each in done for one in each.written)
    nothing = "nothing done" if failures else "nothing left to do"
    summary = f"{counted(changed, 'write')} done" if changed else nothing
    problems = [problem for failure in failures for problem in failure.problems]
    data = {
        "applied": True,
        "repairs": [
            _repair(one.repair)
            | {
                "adopted": one.adopted,
                "undo_file": one.undo_file,
                "writes": [_written(written) for written in one.written],
            }
            for one in done
        ],
        "stays": list(remarks),
    }
    exit = max((failure.exit for failure in failures), default=Exit.DONE)
    return Outcome(summary, data, details=[*details, *remarks], problems=problems, exit=exit)


def _repair(repair: Repair) -> dict[str, Any]:
    return {
        "what": repair.what,
        "subject": repair.subject,
        "owner": repair.owner,
        "place": repair.place,
        "changes": list(repair.changes),
        "plan": [_write(write) for write in repair.plan],
    }


def _write(write: Write) -> dict[str, Any]:
    """A write in short: the rows that a function deletes are in the undo file."""
    if isinstance(write, Update):
        return {"row": named(write), "owner": write.owner, "before": dict(write.read), "after": dict(write.values)}
    if isinstance(write, Insert):
        return {"row": named(write), "before": None, "after": write.record}
    rows = {name: len(value) for name, value in write.arguments.items() if isinstance(value, list)}
    return {"function": named(write), "rows": rows}


def _written(written: Written) -> dict[str, Any]:
    return {
        "row": named(written.write),
        "state": written.state,
        "before": written.before,
        "after": written.after,
        "references": _counts(written),
    }


def _counts(written: Written) -> Mapping[str, Any]:
    counts = written.told.get("references")
    return counts if isinstance(counts, Mapping) else {}


def _references(written: Written) -> str:
    return ", ".join(f"{count} of {name} refer to it" for name, count in sorted(_counts(written).items()))
