"""A run's rows among all rows of its model and benchmark, and what may be done about each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from benchwright.audit.facts import EvalFacts, RowFacts
from benchwright.audit.verdict import Decision, RowAdvice
from benchwright.contract import some
from benchwright.evaldb.rows import FINISHED
from benchwright.harbor.number import as_score

STALE_AFTER = timedelta(hours=12)
"""A row that waits for its score and is older, and whose job is not live, is cruft."""
WAITING = ("Pending", "Started", "Running")
"""The statuses in which a score is still to come; whatever other word there is, nobody may take for one of them."""
_TOUCH_NOTHING = ("WAIT", "STOP", "EXEMPT")
_LAUNCHED_ANEW = ("RELAUNCH", "RERUN", "VOID")


def in_order(facts: EvalFacts) -> EvalFacts:
    """The same facts, rows by their age and repos by their names, so that nothing hangs on the order they came in."""
    rows = None if facts.rows is None else tuple(sorted(facts.rows, key=_age))
    traces = None if facts.traces is None else tuple(sorted(facts.traces, key=lambda repo: repo.name))
    return msgspec.structs.replace(facts, rows=rows, traces=traces)


def matching(facts: EvalFacts) -> list[RowFacts]:
    """The rows that are this run's by their ids."""
    return [row for row in facts.rows or () if row.of_run == "yes"]


def own(facts: EvalFacts) -> list[RowFacts]:
    """This run's rows that are ours to change."""
    return [row for row in matching(facts) if row.owner in facts.owners]


def foreign(facts: EvalFacts) -> RowFacts | None:
    """A row of this run that is somebody else's."""
    return next((row for row in matching(facts) if row.owner not in facts.owners), None)


def standing(facts: EvalFacts) -> list[RowFacts]:
    """The rows that stand for this run: its finished ones, beside which others wait for nothing; without one, all."""
    rows = matching(facts)
    return [row for row in rows if row.status == FINISHED] or rows


def good_row(rows: Iterable[RowFacts]) -> RowFacts | None:
    """A finished row whose own statistics pass the gates."""
    return next((row for row in rows if row.status == FINISHED and row.fails is False), None)


def contested(facts: EvalFacts, *, again: bool = False) -> str | None:
    """Why the rows of this run are for a person to sort out, before it is registered, or run ``again``."""
    other = foreign(facts)
    if again and other is not None:
        return f"row {other.id} of this run is {other.owner}'s: tell them"
    maybe = [row for row in facts.rows or () if row.of_run == "maybe"]
    if maybe and not matching(facts):
        return f"rows {some(row.id for row in maybe)} may be of this run, and nothing says so for sure"
    finished = [row for row in own(facts) if row.status == FINISHED]
    shown = any(row.id not in facts.grandfathered for row in finished)
    for row in maybe:
        shows = row.status == FINISHED and (again or row.fails is not False)
        if row.owner in facts.owners and (shows or (again and not shown)):
            return f"row {row.id} may be of this run too, and nothing says so for sure"
    if not again and len(finished) > 1:
        return f"rows {some(row.id for row in finished)} are all of this run: which one stays is for you to say"
    return None


def filed_elsewhere(facts: EvalFacts) -> str | None:
    """That a row is this run's by its id, and another model's or benchmark's, or nobody's, by its name."""
    for row in standing(facts):
        if "dangling-id" in row.issues:
            return f"row {row.id} has the id of an agent, model or benchmark that there is not"
        wrong = [name for name in ("model", "benchmark") if f"other-{name}" in row.issues]
        if wrong:
            filed = " and ".join(f"the {name} {getattr(row, name)}" for name in wrong)
            right = " and ".join(str(getattr(facts, name)) for name in wrong)
            return f"row {row.id} has {filed}, the run {right}: which is right is for you to say"
    return None


def serving(facts: EvalFacts) -> RowFacts | None:
    """The row of another run that shows a score for the same agent, model and benchmark."""
    return next((row for row in scored(facts) if _is_of_agent(facts, row)), None)


def served_beside(facts: EvalFacts) -> str | None:
    """Why this run may not get a score of its own: another run's row shows one, and none of this run's does yet."""
    served = serving(facts)
    if served is None or any(row.status == FINISHED and row.score is not None for row in matching(facts)):
        return None
    return f"row {served.id} of {served.owner} serves this agent, model and benchmark with {as_score(served.score)}"


def scored(facts: EvalFacts) -> list[RowFacts]:
    """Rows of other runs with a score for the same model and benchmark, but for those known to be partial."""
    return [
        row
        for row in facts.rows or ()
        if row.of_run == "no" and row.status == FINISHED and row.score is not None and row.fails is not True
    ]


def advice(facts: EvalFacts, decision: Decision, *, now: datetime) -> tuple[RowAdvice, ...]:
    """What to do about every row, of whomever it is."""
    return tuple(_advice(facts, row, decision, now) for row in facts.rows or ())


def is_stale(row: RowFacts, now: datetime) -> bool:
    """Whether a row waits for a score that will not come: unknown liveness and an unknown age are no proof of that."""
    since = row.submitted or row.created
    return row.status in WAITING and row.live is False and since is not None and now - since > STALE_AFTER


def _advice(facts: EvalFacts, row: RowFacts, decision: Decision, now: datetime) -> RowAdvice:
    def say(what: str, why: str) -> RowAdvice:
        return RowAdvice(id=row.id, owner=row.owner, status=row.status, advice=what, why=why)  # type: ignore[arg-type]

    if row.owner not in facts.owners:
        return say("leave", f"{row.owner}'s")
    if row.live is not False:
        return say("leave", "its job is live" if row.live else "whether its job is live is unknown")
    if row.id in facts.grandfathered:
        return say("keep", "spared by a logged decision")
    if row.id in decision.off:
        partial = decision.verdict == "DEREGISTER+RESUME"
        return say("deregister", "partial" if partial else "a score that says nothing")
    if decision.verdict in _TOUCH_NOTHING:
        return say("leave", f"nothing is to be touched: {decision.verdict}")
    if is_stale(row, now) and not _is_needed(facts, row, decision):
        return say("drop", "not finished for more than 12 hours, and its job is not live")
    if row.of_run == "maybe":
        return say("leave", "whose run it is is unclear")
    if row.of_run == "no":
        return say("leave", "another run's, partial: audit that run" if row.fails else "another run's")
    return say("keep", "this run's")


def _is_needed(facts: EvalFacts, row: RowFacts, decision: Decision) -> bool:
    """Whether a row that waits for this run's score is the one that will show it."""
    return row in standing(facts) and decision.verdict not in _LAUNCHED_ANEW


def _is_of_agent(facts: EvalFacts, row: RowFacts) -> bool:
    return facts.agent is None or row.agent is None or facts.agent.casefold() == row.agent.casefold()


def _age(row: RowFacts) -> tuple[bool, float, str]:
    since = row.created or row.submitted
    return since is None, since.timestamp() if since else 0.0, row.id
