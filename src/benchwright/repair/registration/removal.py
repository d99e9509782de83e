"""Rows of jobs that go, with trials and usage: partial ones, and those that wait for a score that will not come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from benchwright.audit import EvalFacts, RowFacts, judge
from benchwright.audit.row_gates import row_fails
from benchwright.audit.rows import WAITING, is_stale
from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.evaldb import Call, EvalDatabase, JobRow
from benchwright.evaldb.rows import ENDED
from benchwright.harbor import Taxonomy
from benchwright.repair.own_row import OwnRow
from benchwright.repair.registration.undo_file import Repair


def removal(database: EvalDatabase, own: OwnRow, what: str, why: str) -> Repair:
    """The deletion of a row with all that belongs to it, for the reason ``why``.

    Raises:
        Failure: as ``EvalDatabase.records``.
    """
    row = own.row
    trials = database.records("sandbox_trials", "job_id", [row.id])
    usage = database.records("sandbox_trial_model_usage", "trial_id", [trial["id"] for trial in trials])
    arguments: Mapping[str, Any] = {"row_owner": row.username, "job": own.record, "trials": trials, "usage": usage}
    belongings = f"{counted(len(trials), 'trial')} and {counted(len(usage), 'usage row')}"
    change = f"row {row.id}: {row.job_status}, {row.model} on {row.benchmark}, with {belongings} -> gone ({why})"
    return Repair(
        what=what,
        subject=row.id,
        owner=row.username,
        place=database.place,
        plan=(Call("delete_job", arguments),),
        changes=(change,),
    )


def reason_by_row(row: JobRow) -> str:
    """Why a row may go, by what it says of itself: it never finished, or its own statistics fail a gate.

    Raises:
        Failure: it is complete (code ``good-row``), or does not tell (``unproved``), exit 5.
    """
    if row.job_status not in ENDED:
        return f"it is {row.job_status}, and its job has ended"
    fails = row_fails(row.stats, row.planned_trials, Taxonomy.load().profile(None).benign)
    if fails:
        return "its own statistics fail a gate"
    fix = "say where the run is, for the audit to judge it: --job-dir DIR, or --iris BUCKET ... --iris-job NAME"
    if fails is False:
        problem = Problem(
            "good-row", f"row {row.id}", "its own statistics say that it is complete", "a partial row", fix
        )
    else:
        problem = Problem("unproved", f"row {row.id}", "its statistics do not tell whether it is partial", "", fix)
    raise Failure(problem, exit=Exit.REFUSED)


def reason_by_audit(row: JobRow, facts: Sequence[EvalFacts], now: datetime) -> str:
    """Why a row may go, by the audit of its run, which looks at the row's job too.

    Raises:
        Failure: the audit does not say so (code ``not-advised``, exit 5).
    """
    said = []
    for one in facts:
        judgement = judge(one, now=now)
        for advice in judgement.rows:
            if advice.id == row.id:
                if advice.advice in ("deregister", "drop"):
                    return f"{judgement.verdict}: {judgement.why}"
                said.append(f"{judgement.verdict}, and of the row: {advice.advice}, {advice.why}")
    found = f"the audit says {said[0]}" if said else "the audit found no such row of this run"
    problem = Problem(
        "not-advised",
        f"row {row.id}",
        found,
        "a row that the audit would take off the board",
        "do what the audit says of the run; leave the row",
    )
    raise Failure(problem, exit=Exit.REFUSED)


def why_not_stale(row: JobRow, live: bool | None, now: datetime) -> str | None:
    """Why a row is not dropped as stale; None where it is."""
    if row.job_status not in WAITING:
        return f"it is {row.job_status}"
    if live is not False:
        return "its job is live" if live else "whether its job is live is unknown"
    facts = RowFacts(
        id=row.id,
        owner=row.username,
        status=row.job_status,
        live=live,
        created=row.created_at,
        submitted=row.submitted_at,
    )
    return None if is_stale(facts, now) else "not older than 12 hours"
