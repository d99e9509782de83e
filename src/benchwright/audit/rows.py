"""A run's rows among all rows of its model and benchmark, and what may be done about each."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from benchwright.audit.facts import EvalFacts, RowFacts
from benchwright.audit.verdict import RowAdvice, Verdict

STALE_AFTER = timedelta(hours=12)
"""A row that is not finished and older, and whose job is not live, is cruft."""


def in_order(facts: EvalFacts) -> EvalFacts:
    """The same facts, rows by their age and repos by their names, so that nothing hangs on the order they came in."""
    rows = None if facts.rows is None else tuple(sorted(facts.rows, key=_age))
    traces = None if facts.traces is None else tuple(sorted(facts.traces, key=lambda repo: repo.name))
    return msgspec.structs.replace(facts, rows=rows, traces=traces)


def matching(facts: EvalFacts) -> list[RowFacts]:
    """The rows that are this run's by their ids."""
    return [row for row in facts.rows or () if row.of_run == "yes"]


def advice(facts: EvalFacts, verdict: Verdict, *, now: datetime) -> tuple[RowAdvice, ...]:
    """What to do about every row, of whomever it is."""
    return tuple(_advice(facts, row, verdict, now) for row in facts.rows or ())


def is_stale(row: RowFacts, now: datetime) -> bool:
    """Whether a row waits for a score that will not come: unknown liveness and an unknown age are no proof of that."""
    since = row.submitted or row.created
    return row.status != "Finished" and row.live is False and since is not None and now - since > STALE_AFTER


def _advice(facts: EvalFacts, row: RowFacts, verdict: Verdict, now: datetime) -> RowAdvice:
    def say(what: str, why: str) -> RowAdvice:
        return RowAdvice(id=row.id, owner=row.owner, status=row.status, advice=what, why=why)  # type: ignore[arg-type]

    if row.owner not in facts.owners:
        return say("leave", f"{row.owner}'s")
    if row.live is not False:
        return say("leave", "its job is live" if row.live else "whether its job is live is unknown")
    if row.id in facts.grandfathered:
        return say("keep", "spared by a logged decision")
    if verdict in ("RERUN", "VOID") and row.of_run == "yes" and row.status == "Finished":
        return say("deregister", "a score that says nothing")
    if verdict == "DEREGISTER+RESUME" and row.of_run == "yes":
        others = [one for one in matching(facts) if one.owner in facts.owners and one.status == "Finished"]
        if row.status == "Finished" or not others:
            return say("deregister", "partial")
    if is_stale(row, now):
        return say("drop", "not finished for more than 12 hours, and its job is not live")
    if row.of_run == "maybe":
        return say("leave", "whose run it is is unclear")
    if row.of_run == "no":
        return say("leave", "another run's, partial: audit that run" if row.fails else "another run's")
    return say("keep", "this run's")


def _age(row: RowFacts) -> tuple[bool, float, str]:
    since = row.created or row.submitted
    return since is None, since.timestamp() if since else 0.0, row.id
