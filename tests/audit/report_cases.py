"""Evals to report: those of the rules' tests, those of job folders, and one whose every name does harm."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchwright.audit import EvalFacts, JobFacts, RowFacts, TraceRepo, TrialFacts
from benchwright.audit.record import Audited, audit
from benchwright.harbor import Job, Taxonomy, figures, plan_of, read_job

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
SCRIPT = "<script>alert(1)</script>"
NASTY = "</script><!-- | `a` ``b`` \\| *c* _d_ [e](f) &lt; $g$ ~h~ \n# i\r\u202e j \"k\" 'l'"
OWN = RowFacts(
    id="r1",
    owner="us",
    status="Finished",
    of_run="yes",
    live=False,
    score=0.3,
    fails=False,
    link="org/traces",
    created=datetime(2026, 8, 30, tzinfo=UTC),
)
FINE = EvalFacts(
    run_tag="eval-fine",
    model="org/model",
    benchmark="bench",
    agent="agent-1",
    folder="/jobs/eval-fine",
    profile="seven",
    owners=frozenset({"us"}),
    job=JobFacts(phase="completed", state="COMPLETED", told_by="sacct"),
    trials=TrialFacts(planned=300, valid=300, nonzero=90, reward_sum=90.0, worked=300, tokens=1000),
    traces=(TraceRepo(name="org/traces", state="filled", rows=300, shared=300, compared=300),),
    rows=(OWN,),
)
"""An eval that nothing is wrong with."""


def with_errors(tag: str, *, stored: float | None = None, **errors: int) -> EvalFacts:
    """300 trials of which some ended with an exception and no reward."""
    trials = TrialFacts(
        planned=300,
        valid=300 - sum(errors.values()),
        nonzero=90,
        reward_sum=90.0,
        errors=errors,
        unscored=errors,
        benign=frozenset({"AgentTimeoutError"}),
        stored_score=stored,
        worked=300,
        tokens=1000,
    )
    return msgspec.structs.replace(FINE, run_tag=tag, trials=trials)


def unknown(tag: str) -> EvalFacts:
    """An eval of which nothing could be learned but its trials."""
    why = {"job": "sacct is not here", "rows": "DATABASE_URL not set"}
    return msgspec.structs.replace(FINE, run_tag=tag, job=None, rows=None, traces=None, unknown=why)


def nasty() -> EvalFacts:
    """An eval whose names do harm where they are taken for more than names."""
    row = RowFacts(id=NASTY, owner=NASTY, status=NASTY, of_run="yes", live=False, score=0.1, fails=True, link=NASTY)
    trials = TrialFacts(planned=9, valid=1, errors={NASTY: 8}, unscored={NASTY: 8}, reward_sum=1.0, nonzero=1)
    return EvalFacts(
        run_tag=f"{SCRIPT}{NASTY}",
        folder=f"/jobs/{NASTY}",
        model=NASTY,
        benchmark=NASTY,
        agent=NASTY,
        profile=NASTY,
        owners=frozenset({NASTY}),
        job=JobFacts(phase="ended", state=NASTY, told_by=NASTY),
        trials=trials,
        traces=(TraceRepo(name=NASTY, state="absent"),),
        rows=(row,),
        notes=(NASTY,),
    )


def of_job(folder: Path) -> tuple[EvalFacts, Job]:
    """What a job folder says of its run, beside a database and a Hub that know it."""
    job = read_job(folder)
    one = figures(job, Taxonomy.load().profile(), plan_of(job))
    trials = TrialFacts(
        planned=one.planned.total,
        valid=one.valid,
        silent=one.silent,
        corrupt=one.corrupt,
        errors={name: count.scored + count.unscored for name, count in one.errors.items()},
        unscored={name: count.unscored for name, count in one.errors.items()},
        benign=frozenset(name for name, count in one.errors.items() if count.error.benign),
        reward_sum=one.tally.reward_sum,
        stored_score=one.scores.stored,
    )
    facts = msgspec.structs.replace(FINE, run_tag=job.name, folder=str(folder), trials=trials, figures=one.facts())
    return facts, job


def audited(*facts: EvalFacts) -> Sequence[Audited]:
    """The verdicts on some evals."""
    return audit(facts, now=NOW)
