"""What a push says: why it may not be, what it would write, or what it wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from benchwright.audit import gates
from benchwright.audit.record import Audited
from benchwright.audit.refusals import UNKNOWN
from benchwright.audit.rules import judge
from benchwright.audit.run import Leg
from benchwright.audit.troubles import Troubles
from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, counted
from benchwright.evaldb import Written
from benchwright.repair.push.plan import Change, PushPlan

_LONGEST = 300
"""Characters of a value on a line; the data has all of it."""


def refused_outcome(
    leg: Leg, problems: Sequence[Problem], troubles: Troubles, *, applies: bool, now: datetime
) -> Outcome:
    """Every reason why the run is not registered, with its figures and what the audit says to do instead.

    It leaves with 5; where nothing is wrong but that a source did not answer, as that source does.
    """
    audited = Audited(leg.facts, judge(leg.facts, now=now))
    unknown = all(problem.code in UNKNOWN for problem in problems)
    told = troubles.exit if unknown and troubles.exit else Exit.REFUSED
    reasons = counted(len(problems), "reason")
    trials = leg.facts.trials
    return Outcome(
        _summary(f"{leg.facts.run_tag} is not registered, for {reasons}", applied=applies),
        {"applied": False, "run": audited.to_dict(), "plan": None},
        [gates.matrix(trials)] if trials is not None else [],
        [*problems, *(troubles.problems if unknown else ())],
        next=[action.command for action in audited.judgement.actions if action.command],
        closing=() if applies else (DRY_RUN,),
        exit=told,
    )


def dry_outcome(
    leg: Leg, plan: PushPlan, uploads: str | None, place: str | None, remarks: Sequence[Problem]
) -> Outcome:
    """The plan. ``uploads`` is the repo that traces would go to, ``place`` the database, None where none was asked."""
    what = _what(plan, f"traces to {uploads}" if uploads else "")
    where = place or "a database that has nothing of it: none was asked"
    upload = [f"upload the traces to {uploads}"] if uploads else []
    return Outcome(
        _summary(f"{leg.facts.run_tag}: {what} in {where}", applied=False),
        {"applied": False, "run": _run(leg), "database": place, "upload": uploads, "plan": _plan(plan)},
        [*upload, *_lines(plan)],
        [*plan.remarks, *remarks],
        closing=(DRY_RUN,),
    )


def applied_outcome(
    leg: Leg, plan: PushPlan, written: Sequence[Written], proved: int, place: str, *, uploaded: str | None
) -> Outcome:
    """What was written, and that it was read back. ``uploaded`` is the link to traces that went up for it."""
    known = sum(one.state == "done-already" for one in written)
    there = f", of which {counted(known, 'row')} {'was' if known == 1 else 'were'} there already" if known else ""
    proof = f"; {counted(proved, 'row')} read back" if proved else ""
    return Outcome(
        f"{leg.facts.run_tag}: {_what(plan, f'traces at {uploaded}' if uploaded else '')} in {place}{there}{proof}",
        {"applied": True, "run": _run(leg), "database": place, "upload": uploaded, "plan": _plan(plan)},
        list(_lines(plan)),
        plan.remarks,
    )


def _summary(text: str, *, applied: bool) -> str:
    return text if applied else f"{DRY_RUN}; {text}"


def _what(plan: PushPlan, upload: str) -> str:
    """A push in short; ``upload`` are the traces in words, empty where they are there."""
    before = f"{upload}; " if upload else ""
    number = len(plan.changes) + len(plan.removed)
    if not number:
        return f"{before or 'nothing to do, '}row {plan.push.row_id} says all of it"
    row = "a new row" if plan.push.audited is None else "row"
    return f"{before}{row} {plan.push.row_id} of {plan.push.owner}, {counted(number, 'change')}"


def _run(leg: Leg) -> dict[str, Any]:
    trials = leg.facts.trials
    return {
        "run_tag": leg.facts.run_tag,
        "matrix": gates.matrix(trials) if trials else None,
        "scores": gates.scores(trials) if trials else {},
        "notes": list(leg.facts.notes),
    }


def _plan(plan: PushPlan) -> dict[str, Any]:
    push = plan.push
    return {
        "row_id": push.row_id,
        "new_row": push.audited is None,
        "username": push.owner,
        "agent": push.identity.agent,
        "model": push.identity.model,
        "benchmark": push.identity.benchmark,
        "values": push.values,
        "changes": plan.to_dicts(),
        "counts": plan.counts(),
    }


def _lines(plan: PushPlan) -> Iterator[str]:
    """The changes: how many there are, then those of names and of the run's row, then the many."""
    yield from (f"{name}: {number:,}" for name, number in plan.counts().items())
    first = ("agents", "models", "benchmarks", "sandbox_jobs")
    for change in plan.changes:
        if change.write.table in first:
            yield from _line(change)
    for change in plan.changes:
        if change.write.table not in first:
            yield from _line(change)
    for trial in plan.removed:
        yield f"delete sandbox_trials {trial['id']}, with its usage: {trial['trial_name']}"


def _line(change: Change) -> Iterator[str]:
    """A change with its values; of the run's row one value a line."""
    told = change.to_dict()
    start = f"{change.action} {told['table']} {'/'.join(map(str, told['key'].values()))}"
    values = {name: value for name, value in told["values"].items() if name not in told["key"]}
    if told["table"] != "sandbox_jobs":
        yield f"{start}: {_shown(values)}"
        return
    yield start
    for name, value in values.items():
        was = f", was {_shown(told['read'][name])}" if "read" in told else ""
        yield f"  {name}: {_shown(value)}{was}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
