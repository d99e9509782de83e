"""The four checks, each by itself: how it came out and by which figures. They explain; the rules decide."""

from __future__ import annotations

from benchwright.audit import gates
from benchwright.audit.evidence import Proof, proof_of_zero, why_open
from benchwright.audit.facts import EvalFacts
from benchwright.audit.rows import standing
from benchwright.audit.verdict import Check, Checks
from benchwright.harbor.number import as_score


def checks_of(facts: EvalFacts) -> Checks:
    """All four."""
    if facts.measurement:
        skipped = Check("skip", "a measurement run")
        return Checks(finished=skipped, score=skipped, traces=skipped, trials=skipped)
    return Checks(finished=_finished(facts), score=_score(facts), traces=_traces(facts), trials=_trials(facts))


def _finished(facts: EvalFacts) -> Check:
    if facts.job is None:
        return Check("unknown", facts.why_unknown("job"))
    said = " ".join(
        part for part in (facts.job.state or facts.job.phase, facts.job.told_by and f"({facts.job.told_by})") if part
    )
    if facts.job.phase == "completed":
        return Check("pass", said)
    if facts.job.phase == "live":
        return Check("warn", said)
    registrable = facts.trials is not None and not gates.fails(facts.trials)
    return Check("warn", f"{said}, and every gate passes") if registrable else Check("fail", said)


def _score(facts: EvalFacts) -> Check:
    trials = facts.trials
    if trials is None:
        return Check("unknown", facts.why_unknown("trials"))
    if not trials.valid:
        return Check("fail", "no trial has a reward")
    mean = trials.reward_sum / trials.attempted
    text = f"{as_score(mean)} over {trials.attempted:,} attempted"
    if facts.kind == "iris-tpu" and gates.times_out_too_often(trials):
        return Check("fail", f"{text}: too many of them ran out of time")
    proof = proof_of_zero(trials)
    if proof is Proof.BROKEN:
        return Check("fail", f"{text}: {proof.value}")
    if proof is Proof.OPEN:
        return Check("unknown", f"{text}: {why_open(trials)}")
    if facts.rows is None:
        return Check("unknown", f"{text}; its rows: {facts.why_unknown('rows')}")
    shown = [row for row in standing(facts) if row.score is not None]
    if not shown:
        return Check("fail", f"{text}; no row of this run shows a score")
    wrong = [row for row in shown if not gates.is_score_of(row.score, trials)]
    if wrong:
        return Check("fail", f"{text}; row {wrong[0].id} shows {as_score(wrong[0].score)}")
    return Check("warn" if gates.is_untrustworthy(trials) else "pass", text)


def _traces(facts: EvalFacts) -> Check:
    if facts.traces is None:
        return Check("unknown", facts.why_unknown("traces"))
    if facts.rows is None:
        return Check("unknown", f"its rows: {facts.why_unknown('rows')}")
    links = [row.link for row in standing(facts) if row.link]
    for link in links:
        repo = next((repo for repo in facts.traces if repo.name == link), None)
        if repo is None or (repo.state == "filled" and repo.of_this_run is None):
            return Check("unknown", f"{link}: not looked into")
        if repo.state != "filled":
            return Check("fail", f"{link}: {repo.state}")
        if not repo.of_this_run:
            return Check("fail", f"{link}: another run's")
        valid = facts.trials.valid if facts.trials is not None else 0
        if repo.is_from_before(valid):
            return Check("fail", f"{link}: {repo.shared:,} of its {repo.compared:,} trials are there still")
        rows = "many" if repo.rows is None else f"{repo.rows:,}"
        return Check("warn" if repo.is_sparse(valid) else "pass", f"{link}: {rows} rows")
    there = [repo.name for repo in facts.traces if repo.state == "filled" and repo.of_this_run]
    return Check("fail", f"{there[0]}: not linked" if there else "no traces")


def _trials(facts: EvalFacts) -> Check:
    trials = facts.trials
    if trials is None:
        return Check("unknown", facts.why_unknown("trials"))
    text = gates.matrix(trials)
    if not trials.whole:
        return Check("fail" if gates.fails(trials) else "unknown", f"{text}, by the aggregate alone")
    if not trials.planned and trials.attempted:
        return Check("unknown", text)
    if gates.fails(trials):
        return Check("fail", "; ".join((text, *gates.broken_gates(trials))))
    timeouts = trials.errors.get(gates.TIMEOUT, 0)
    if facts.kind == "iris-tpu" and 25 * timeouts >= 17 * trials.attempted:
        share = 100 * timeouts / trials.attempted
        return Check("warn", f"{text}; {share:.0f} % timed out, more than the 68 % of a leg with a prefix cache")
    return Check("warn" if gates.is_untrustworthy(trials) else "pass", text)
