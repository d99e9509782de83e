"""From facts to a verdict: a pure function, whose rules are asked in order until one decides.

What cannot be told is never taken for good: every way to ``OK`` leads past all four checks. Nothing is recommended that
could harm a live job, a row of somebody else, or a row that may be right. The rules here are about the run, those of
``registration`` about its rows and its traces.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec

from benchwright.audit import commands, gates, registration
from benchwright.audit.checks import checks_of
from benchwright.audit.evidence import Proof, proof_of_zero, why_open
from benchwright.audit.facts import EvalFacts, RowFacts, TrialFacts
from benchwright.audit.rows import (
    advice,
    contested,
    filed_elsewhere,
    foreign,
    good_row,
    in_order,
    matching,
    own,
    served_beside,
    serving,
)
from benchwright.audit.verdict import Action, Decision, Judgement, Verdict
from benchwright.contract import counted, some
from benchwright.evaldb.rows import ENDED, FINISHED
from benchwright.harbor.number import as_score

_RUN_AGAIN: tuple[Verdict, ...] = ("RESUME", "DEREGISTER+RESUME", "RERUN", "RELAUNCH", "VOID")
"""Verdicts after which the run's folder is written once more."""


def judge(facts: EvalFacts, *, now: datetime) -> Judgement:
    """The verdict on an eval, its four checks, and what to do.

    Args:
        facts: what is known.
        now: an aware time; rows are stale or not by it.
    """
    facts = in_order(facts)
    decision = next(found for rule in _RULES if (found := rule(facts)) is not None)
    checks = checks_of(facts)
    lacking = [name for name, check in checks.named() if check.status in ("fail", "unknown")]
    if decision.verdict == "OK" and lacking:  # whatever rule is changed or forgotten, that is no OK
        decision = Decision("STOP", f"nothing decides, and {some(lacking)} did not pass")
    if decision.verdict in _RUN_AGAIN:
        decision = _beside_others(facts, decision)
    rows = advice(facts, decision, now=now)
    stale = {one.id for one in rows if one.advice == "drop"}
    drops = [
        Action(f"drop row {row.id}, which is stale", commands.repair(facts, "drop-stale", row))
        for row in facts.rows or ()
        if row.id in stale
    ]
    return Judgement(
        verdict=decision.verdict,
        why=decision.why,
        checks=checks,
        actions=(*decision.actions, *drops),
        rows=rows,
        notes=facts.notes,
    )


def _beside_others(facts: EvalFacts, decision: Decision) -> Decision:
    """A decision to run once more, beside the rows of what may run already, or may have replaced this run."""
    for row in facts.rows or ():
        if row.of_run == "maybe" and row.status not in ENDED and row.live is None:
            why = f"row {row.id} bears its name, and whether its job is live is unknown"
            return Decision("STOP", f"{decision.why}; but {why}")
    served = serving(facts)
    if served is None:
        return decision
    whose = f"row {served.id} of another run of {served.owner}"
    other = f"{whose} shows a score of the same: run this only if it is to count"
    return msgspec.structs.replace(decision, why=f"{decision.why}; {other}")


def _exempt(facts: EvalFacts) -> Decision | None:
    if facts.measurement:
        return Decision("EXEMPT", "a measurement run, which is not audited")
    return None


def _live(facts: EvalFacts) -> Decision | None:
    table = ", with a new jobs table" if facts.buckets else ""
    wait = (Action(f"look again when it has ended{table}", commands.again(facts)),)
    if facts.job is not None and facts.job.phase == "live":
        return Decision("WAIT", f"the job is {facts.job.state or 'live'}: touch nothing", wait)
    if facts.moving:
        return Decision("WAIT", "its files changed while they were read: something still writes them", wait)
    for row in facts.rows or ():
        if row.of_run != "no" and row.live:
            return Decision("WAIT", f"the job of row {row.id} is live: touch nothing", wait)
    return None


def _copy(facts: EvalFacts) -> Decision | None:
    """One of several folders of a run, for which another one speaks: two of them would act on one row."""
    if facts.copy_of is None:
        return None
    return Decision("STOP", f"a copy of {facts.copy_of}, which has more of its trials, or as many: act there")


def _life_unknown(facts: EvalFacts) -> Decision | None:
    """Nothing is done to a run, or to a row of it, whose job may be at work."""
    if facts.job is None:
        why = f"whether the job is live is unknown ({facts.why_unknown('job')}): nothing may be done to it"
        return Decision("STOP", why)
    for row in own(facts):
        if row.live is None:
            return Decision("STOP", f"whether the job of row {row.id} is live is unknown: nothing may be done to it")
    return None


def _contaminated(facts: EvalFacts) -> Decision | None:
    """A TPU leg served without a prefix cache: its timeouts say nothing of the model."""
    trials = facts.trials
    if facts.kind != "iris-tpu" or trials is None or not gates.times_out_too_often(trials):
        return None
    share = 100 * trials.errors[gates.TIMEOUT] / trials.attempted
    cache = {None: "cached tokens are unknown", 0: "no token came from the prefix cache"}.get(
        trials.cached_tokens, "though some tokens came from the prefix cache"
    )
    why = f"{share:.0f} % of the trials timed out on a TPU leg, {cache}: its score says nothing of the model"
    return _launched_anew(facts, "VOID", why, commands.launch(facts, "fire it again", anew=True))


def _trials_unknown(facts: EvalFacts) -> Decision | None:
    if facts.trials is None:
        return Decision("STOP", f"its trials are unknown ({facts.why_unknown('trials')})")
    return None


def _nothing_ran(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    broken = proof_of_zero(trials) is Proof.BROKEN
    if trials.attempted and not broken:
        return None
    good = good_row(matching(facts))
    if good is not None and not broken:
        why = f"row {good.id} is complete, and the folder is not: has it been cleaned up, or is it another run's?"
        return Decision("STOP", why)
    if broken:
        why = "its trials never reached the model: its score says nothing"
        return _launched_anew(facts, "RERUN", why, commands.launch(facts, "launch it again", anew=True))
    verdict: Verdict = "RERUN" if facts.job and facts.job.phase == "completed" else "RELAUNCH"
    looks = [Action(gotcha) for gotcha in commands.LAUNCH_GOTCHAS] if verdict == "RELAUNCH" else []
    return _launched_anew(
        facts, verdict, "no trial left a result", (*commands.launch(facts, "launch it again"), *looks)
    )


def _launched_anew(facts: EvalFacts, verdict: Verdict, why: str, launch: tuple[Action, ...]) -> Decision:
    """A run whose score, if it has one, says nothing. A row of it goes only where it shows no other score than that."""
    if facts.rows is None:
        return Decision(verdict, f"{why}; whether a row of it is registered is unknown", launch)
    other = foreign(facts)
    if other is not None:
        return Decision("STOP", f"{why}; row {other.id} of {other.owner} is of this run: ask them")
    filed = filed_elsewhere(facts)
    if filed is not None:
        return Decision("STOP", f"{why}; {filed}")
    rows = [row for row in own(facts) if row.status == FINISHED and row.id not in facts.grandfathered]
    for row in rows:
        if row.score is not None and not row.fails and not gates.is_score_of(row.score, _trials(facts)):
            shown = f"row {row.id} shows {as_score(row.score)}, which is no score of this folder"
            return Decision("STOP", f"{why}; but {shown}: has it been cleaned up?")
    off = [row for row in rows if row.score is not None or row.fails]
    drops = [Action("take the score that says nothing off the board", commands.deregister(facts, r)) for r in off]
    return Decision(verdict, why, (*launch, *drops), frozenset(row.id for row in off))


def _plan_unknown(facts: EvalFacts) -> Decision | None:
    if not _trials(facts).planned:
        why = "how many trials were planned is unknown: name the benchmark, or its size in the benchmarks file"
        return Decision("STOP", why)
    return None


def _gate(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    if not gates.fails(trials):
        return None
    why = "; ".join(gates.broken_gates(trials))
    resume = commands.resume(facts, "run again what has no reward, and keep the rest")
    if facts.rows is None:
        return Decision("RESUME", f"{why}; whether a row of it is registered is unknown", resume)
    disputed = contested(facts, again=True) or filed_elsewhere(facts)
    if disputed is not None:
        return Decision("STOP", f"{why}; {disputed}")
    partial, spared = _partial(facts)
    if spared:
        why += f"; row {some(spared)} is spared by a logged decision"
    if len(partial) > 1:
        return Decision("STOP", f"{why}; which of rows {some(row.id for row in partial)} is the partial one is unclear")
    if not partial:
        return Decision("RESUME", why, resume)
    (row,) = partial
    if row.status == FINISHED and row.fails is not True:
        says = "says that it is complete" if row.fails is False else "has no statistics to compare with"
        return Decision("STOP", f"{why}; but row {row.id} {says}: has the folder been cleaned up?")
    drop = Action("take the partial row off the board", commands.deregister(facts, row))
    return Decision("DEREGISTER+RESUME", why, (drop, *resume), frozenset({row.id}))


def _partial(facts: EvalFacts) -> tuple[list[RowFacts], list[str]]:
    """Our rows that may show a run that fails a gate, finished ones before others, and those that are spared."""
    rows = [row for row in own(facts) if row.id not in facts.grandfathered]
    spared = [row.id for row in own(facts) if row.id in facts.grandfathered]
    return [row for row in rows if row.status == FINISHED] or rows, spared


def _aggregate_alone(facts: EvalFacts) -> Decision | None:
    if not _trials(facts).whole:
        return Decision("STOP", "an aggregate alone was read: no trial is proved")
    return None


def _rejected(facts: EvalFacts) -> Decision | None:
    """An exception of a name for which the profile takes no eval."""
    names = _trials(facts).rejecting
    if names:
        why = f"{some(sorted(names))} is in no class of the taxonomy, for which {facts.profile or 'the profile'}"
        return Decision("STOP", f"{why} rejects an eval: read exception.txt of one of them, and say what it means")
    return None


def _plan_doubtful(facts: EvalFacts) -> Decision | None:
    """A run of another size than its plan, or its benchmark, has: its score is of other trials than the others'."""
    why = gates.why_plan_doubtful(_trials(facts))
    if why is None:
        return None
    return Decision("STOP", f"{why}: which is right is for you to say, in the manifest or in the benchmarks file")


def _worth_a_resume(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    if not gates.is_untrustworthy(trials):
        return None
    disputed = contested(facts, again=True)
    if disputed is not None:
        return Decision("STOP", disputed)
    hidden = gates.hidden_zeros(trials)
    without = counted((trials.planned or 0) - trials.valid, "planned trial")
    why = f"the gates pass, but {without} have no reward"
    if hidden:
        why += f", {hidden:,} of them for a reason that hides a 0 or a real pass"
    actions = commands.resume(facts, "run again what has no reward, and keep row and rest")
    registrable = facts.rows is not None and not own(facts) and served_beside(facts) is None
    if registrable and facts.model and facts.benchmark:
        actions += (commands.push(facts, "or register it as it is", traces=True),)
    return Decision("RESUME", why, actions)


def _zero_unproved(facts: EvalFacts) -> Decision | None:
    if proof_of_zero(_trials(facts)) is Proof.OPEN:
        return Decision("STOP", f"the score is 0, and {why_open(_trials(facts))}: see the server's log")
    return None


def _score_disputed(facts: EvalFacts) -> Decision | None:
    """An aggregate that stores a score which its own trials do not make."""
    trials = _trials(facts)
    if not gates.is_disputed(trials):
        return None
    mean = trials.reward_sum / trials.attempted
    scores = f"the score {as_score(trials.stored_score)}, and its trials make {as_score(mean)} over the attempted ones"
    why = f"the aggregate stores {scores}"
    return Decision("STOP", f"{why}: which is right is for you to say")


def _fine(facts: EvalFacts) -> Decision | None:
    return Decision("OK", gates.matrix(_trials(facts)), registration.more_traces(facts))


_RULES: tuple[Callable[[EvalFacts], Decision | None], ...] = (
    _exempt,
    _live,
    _copy,
    _life_unknown,
    _contaminated,
    _trials_unknown,
    _nothing_ran,
    _plan_unknown,
    _gate,
    _aggregate_alone,
    _rejected,
    _plan_doubtful,
    _worth_a_resume,
    _zero_unproved,
    _score_disputed,
    *registration.RULES,
    _fine,
)


def _trials(facts: EvalFacts) -> TrialFacts:
    assert facts.trials is not None  # the rules behind _trials_unknown
    return facts.trials
