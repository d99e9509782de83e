"""A run's rows among all rows of its model and benchmark, and what may be done about each."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from benchwright.audit import gates
from benchwright.audit.facts import EvalFacts, RowFacts, TrialFacts
from benchwright.audit.verdict import RowAdvice, Verdict
from benchwright.contract import some

STALE_AFTER = timedelta(hours=12)
"""A row that is not finished and older, and whose job is not live, is cruft."""
_UNREADABLE_SCORE = frozenset({"dict-metrics", "no-score", "doubled-stderr"})
"""What is wrong with a row that writing the row once more mends."""


def in_order(facts: EvalFacts) -> EvalFacts:
    """The same facts, rows by their age and repos by their names, so that nothing hangs on the order they came in."""
    rows = None if facts.rows is None else tuple(sorted(facts.rows, key=_age))
    traces = None if facts.traces is None else tuple(sorted(facts.traces, key=lambda repo: repo.name))
    return msgspec.structs.replace(facts, rows=rows, traces=traces)


def matching(facts: EvalFacts) -> list[RowFacts]:
    """The rows that are this run's by their ids."""
    return [row for row in facts.rows or () if row.of_run == "yes"]


def own_rows(facts: EvalFacts) -> list[RowFacts]:
    """This run's rows that are ours to change."""
    return [row for row in matching(facts) if row.owner in facts.owners]


def foreign_row(facts: EvalFacts) -> RowFacts | None:
    """A row of this run that is somebody else's."""
    return next((row for row in matching(facts) if row.owner not in facts.owners), None)


def contest(facts: EvalFacts, *, foreign: bool = True) -> str | None:
    """Why the rows of this run are for a person to sort out."""
    other = foreign_row(facts)
    if foreign and other is not None:
        return f"row {other.id} of this run is {other.owner}'s: tell them"
    maybe = [row for row in facts.rows or () if row.of_run == "maybe"]
    if maybe and not matching(facts):
        return f"rows {some(row.id for row in maybe)} may be of this run, and nothing says so for sure"
    finished = [row for row in own_rows(facts) if row.status == "Finished"]
    if not foreign and len(finished) > 1:
        return f"rows {some(row.id for row in finished)} are all of this run: which one stays is for you to say"
    return None


def serves(facts: EvalFacts, row: RowFacts) -> bool:
    """Whether a row of another run shows a good score for the same agent, model and benchmark."""
    same_agent = facts.agent is None or row.agent is None or facts.agent == row.agent
    return same_agent and row.status == "Finished" and row.score is not None and row.fails is not True


def lack(row: RowFacts, trials: TrialFacts) -> str | None:
    """What a row does not show of a run that passes."""
    if row.status != "Finished":
        return f"is {row.status}"
    if row.issues & _UNREADABLE_SCORE or row.score is None:
        return "has no score that the board can read"
    if row.fails:
        return "has the figures of an earlier, partial state of this run"
    if not any(gates.same_score(row.score, score) for score in gates.scores(trials).values()):
        return f"shows {row.score:.4f}, which is no score of this run"
    return None


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
