"""What keeps a score out of the database: every hard gate that a run fails, and not what is merely advised.

The rules recommend one thing; a writer that may not write says all that is wrong. Both go by the same figures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchwright.audit import commands, gates
from benchwright.audit.evidence import Proof, proof_of_zero, why_open
from benchwright.audit.facts import EvalFacts, RowFacts, TrialFacts
from benchwright.audit.rows import contested, foreign, own, served_beside, standing
from benchwright.contract import Problem, some
from benchwright.evaldb import is_hash, is_numeric_model
from benchwright.harbor.number import as_score

UNKNOWN = frozenset({"job-unknown", "trials-unknown", "rows-unknown"})
"""Refusals that a source which answers may lift."""
_WAIT = "wait for it to end, then run this again"
_ASK = "run this where SLURM's clients answer, or name the jobs table: --iris-jobs FILE"
PAIR_SERVED = "leave this run without a score, or have a person say which of the two counts"

_MISNAMED = {
    "numeric-model": ("model", "fix-model", "--model-name"),
    "hash-benchmark": ("benchmark", "fix-benchmark", "--benchmark-name"),
    "run-dir-benchmark": ("benchmark", "fix-benchmark", "--benchmark-name"),
}


def refusals(facts: EvalFacts) -> tuple[Problem, ...]:
    """Why the score of a run may not be written, all of it; nothing where it may.

    That the names of model and benchmark are not known, and where the traces are, is not looked at.
    """
    if facts.measurement:
        return (
            _problem(
                facts,
                "measurement-run",
                "a measurement run, which is not registered",
                "",
                "register nothing; if it is none: measurement no, in a manifest",
            ),
        )
    found = [*_of_job(facts), *_of_trials(facts), *_of_rows(facts)]
    return tuple(found)


def _problem(facts: EvalFacts, code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, facts.run_tag, found, expected, fix)


def _launch(facts: EvalFacts) -> str:
    return commands.launch_command(facts) or "launch it again, as it was launched"


def _of_job(facts: EvalFacts) -> Iterator[Problem]:
    if facts.job is None:
        found = f"whether its job is live is unknown ({facts.why_unknown('job')})"
        yield _problem(facts, "job-unknown", found, "", _ASK)
    elif facts.job.phase == "live":
        yield _problem(facts, "job-live", f"its job is {facts.job.state or 'live'}", "one that has ended", _WAIT)
    if facts.moving:
        yield _problem(
            facts, "job-live", "its files changed while they were read", "a run that nothing writes to", _WAIT
        )
    for row in facts.rows or ():
        if row.of_run != "no" and row.live:
            yield _problem(facts, "job-live", f"the job of row {row.id} is live", "one that has ended", _WAIT)
    for row in own(facts):
        if row.live is None:
            yield _problem(facts, "job-unknown", f"whether the job of row {row.id} is live is unknown", "", _ASK)


def _of_trials(facts: EvalFacts) -> Iterator[Problem]:
    trials = facts.trials
    if trials is None:
        yield _problem(
            facts,
            "trials-unknown",
            f"its trials are unknown ({facts.why_unknown('trials')})",
            "",
            f"audit the folder that has its trials: {commands.again(facts)}",
        )
        return
    if not trials.attempted:
        yield _problem(facts, "no-trials", "no trial left a result", "", _launch(facts))
        return
    resume = commands.resume_command(facts)
    if not trials.planned:
        found = "how many trials were planned is unknown"
        yield _problem(
            facts,
            "plan-unknown",
            found,
            "the benchmark's name, or its size in the benchmarks file",
            "--benchmark-name NAME, or the column trials in a manifest",
        )
    elif gates.covers_too_little(trials):
        found = f"{trials.covered:,} of {trials.planned:,} planned trials say how they ended"
        yield _problem(facts, "coverage", found, "at least 90 %", resume)
    if gates.errs_too_much(trials):
        share = 100 * trials.invalid / trials.attempted
        found = f"{trials.invalid:,} of {trials.attempted:,} trials have errors that count, {share:.1f} %"
        yield _problem(facts, "error-fraction", found, "at most 10 %", resume)
    yield from _of_proof(facts, trials)


def _of_proof(facts: EvalFacts, trials: TrialFacts) -> Iterator[Problem]:
    """What keeps the figures of enough trials from being the model's."""
    if facts.kind == "iris-tpu" and gates.times_out_too_often(trials):
        share = 100 * trials.errors[gates.TIMEOUT] / trials.attempted
        found = f"{share:.0f} % of the trials timed out on a TPU leg: its score says nothing of the model"
        yield _problem(facts, "contaminated", found, "below 80 %", _launch(facts))
    if abs(trials.reward_sum) == sys.float_info.max:
        found = "the sum of its rewards is larger than any number that is kept, and no score"
        fix = "look at what its verifier writes as a reward"
        yield _problem(facts, "score-unknown", found, "rewards of a scale that is meant", fix)
    if not trials.whole:
        yield _problem(
            facts,
            "aggregate-alone",
            "an aggregate alone was read: no trial is proved",
            "its trials",
            "bring its trials' folders to where the aggregate is",
        )
    if trials.rejecting:
        found = f"{some(sorted(trials.rejecting))} is in no class of the taxonomy"
        yield _problem(
            facts,
            "unknown-error-class",
            found,
            f"classes that {facts.profile or 'the profile'} knows",
            "read exception.txt of one of them, and say what it means; or --profile NAME",
        )
    doubt = gates.why_plan_doubtful(trials)
    if doubt is not None:
        yield _problem(
            facts,
            "plan-doubtful",
            doubt,
            "the right number, in a manifest or in the benchmarks file",
            "say which is right: the column trials in a manifest, or --benchmarks FILE",
        )
    if gates.is_disputed(trials):
        mean = trials.reward_sum / trials.attempted
        found = f"the aggregate stores the score {as_score(trials.stored_score)}, and its trials make {as_score(mean)}"
        yield _problem(
            facts,
            "score-disputed",
            found,
            "one score: look which of them is damaged",
            "compare result.json with the trials' own; a resume writes it anew",
        )
    proof = proof_of_zero(trials)
    if proof is Proof.BROKEN:
        found = "the score is 0, and its trials never reached the model"
        yield _problem(facts, "zero-unproved", found, "trials that ran", _launch(facts))
    elif proof is Proof.OPEN and trials.whole:
        found = f"the score is 0, and {why_open(trials)}"
        expected = "tokens or requests that were counted, and no error for all"
        fix = "look for requests in the server's log; without them, run it again"
        yield _problem(facts, "zero-unproved", found, expected, fix)


def _of_rows(facts: EvalFacts) -> Iterator[Problem]:
    if facts.rows is None:
        found = f"what the database holds of it is unknown ({facts.why_unknown('rows')})"
        yield _problem(
            facts,
            "rows-unknown",
            found,
            "an answer",
            "set DATABASE_URL, or SUPABASE_URL and a key, and BENCHWRIGHT_OWNERS",
        )
        return
    other = foreign(facts)
    if other is not None:
        found = f"row {other.id} of this run is {other.owner}'s"
        yield _problem(facts, "not-yours", found, "a row of yours, or none", "tell them")
    disputed = contested(facts)
    if disputed is not None:
        yield _problem(
            facts,
            "rows-unclear",
            disputed,
            "one row, named by row_id in a manifest",
            "--manifest FILE with the columns job_dir and row_id",
        )
    for row in standing(facts):
        if row.owner in facts.owners:
            yield from _of_names(facts, row)
    served = served_beside(facts)
    if served is not None:
        yield _problem(facts, "pair-served", served, "a pair without a score", PAIR_SERVED)


def _of_names(facts: EvalFacts, row: RowFacts) -> Iterator[Problem]:
    """A row of the run that is filed wrongly: its names are mended first, and by a repair of their own."""
    issues = set(row.issues)
    issues |= {"numeric-model"} if row.model and is_numeric_model(row.model) else set()
    issues |= {"hash-benchmark"} if row.benchmark and is_hash(row.benchmark) else set()
    for code, (noun, repair, flag) in _MISNAMED.items():
        if code in issues:
            right = getattr(facts, noun)
            fix = commands.repair(facts, repair, row, flag, right) if right else f"say its name: {flag} NAME"
            yield _problem(facts, code, f"row {row.id} names the {noun} {getattr(row, noun)}", right or "", fix)
    if "dangling-id" in issues:
        found = f"row {row.id} has the id of an agent, model or benchmark that there is not"
        yield _problem(
            facts,
            "dangling-id",
            found,
            "ids of rows that are there",
            "ask whoever keeps the database: no repair here guesses the id",
        )
    for noun in ("model", "benchmark"):
        if f"other-{noun}" in issues:
            found = f"row {row.id} has the {noun} {getattr(row, noun)}"
            yield _problem(facts, f"other-{noun}", found, str(getattr(facts, noun)), "say which is right")
