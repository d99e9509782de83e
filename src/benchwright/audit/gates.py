"""The gates an eval has to pass before its score may stand in the database: integers against integers.

There is no borderline: 30 of 300 errors pass, 31 do not.
"""

from __future__ import annotations

from benchwright.audit.facts import TrialFacts
from benchwright.contract import counted
from benchwright.harbor import Rewards

TIMEOUT = "AgentTimeoutError"
"""The exception of an agent that ran out of its time."""


def covers_too_little(trials: TrialFacts) -> bool:
    """Whether fewer than nine tenths of the planned trials say how they ended. An unknown plan covers nothing."""
    return not trials.planned or 10 * trials.covered < 9 * trials.planned


def errs_too_much(trials: TrialFacts) -> bool:
    """Whether more than a tenth of the attempted trials have an exception that counts."""
    return 10 * trials.invalid > trials.attempted


def fails(trials: TrialFacts) -> bool:
    """Whether a hard gate stops the eval; without a single trial none is passed."""
    return not trials.attempted or covers_too_little(trials) or errs_too_much(trials)


def is_untrustworthy(trials: TrialFacts) -> bool:
    """Whether a score that passes the gates is worth a resume all the same, the row being kept.

    So it is where fewer than nine tenths of the planned trials have a reward, and where one attempted trial in twenty
    or more lost a reward that would likely have been 0: those hide real passes, or lift the mean.
    """
    return 10 * trials.valid < 9 * (trials.planned or 0) or (
        hidden_zeros(trials) > 0 and 20 * hidden_zeros(trials) >= trials.attempted
    )


def hidden_zeros(trials: TrialFacts) -> int:
    """Trials without a reward whose class says that it would likely have been 0."""
    return sum(number for name, number in trials.unscored.items() if name in trials.informative)


def why_plan_doubtful(trials: TrialFacts) -> str | None:
    """What speaks against the plan of a run that covers it: more results than it has, or a benchmark that has more."""
    if trials.planned and trials.attempted > trials.planned:
        return f"{trials.attempted:,} trials left a result that counts, and {trials.planned:,} were planned"
    if trials.planned and trials.expected is not None and 10 * trials.covered < 9 * trials.expected:
        return f"the run planned {trials.planned:,} trials, and {trials.expected:,} were to be expected"
    return None


def matrix(trials: TrialFacts) -> str:
    """Valid, errored and expected: what every report has to show."""
    planned = "?" if trials.planned is None else f"{trials.planned:,}"
    errored = trials.attempted - trials.valid
    missing = f", {counted(trials.missing, 'trial')} missing" if trials.missing else ""
    return f"{trials.valid:,} valid, {errored:,} errored, of {planned} planned{missing}"


def broken_gates(trials: TrialFacts) -> list[str]:
    """Each gate that stops the eval, with its figures."""
    if not trials.attempted:
        return ["no trial left a result"]
    found = []
    if covers_too_little(trials):
        found.append(f"{trials.covered:,} of {trials.planned or 0:,} planned trials say how they ended, below 90 %")
    if errs_too_much(trials):
        share = 100 * trials.invalid / trials.attempted
        found.append(
            f"{trials.invalid:,} of {trials.attempted:,} trials have errors that count, {share:.1f} %, above 10 %"
        )
    return found


def scores(trials: TrialFacts) -> dict[str, float | None]:
    """The score as stored, and by the names of ``Rewards.means``, with ``over_`` before them, what the trials make."""
    means = _rewards(trials).means()
    return {"stored": trials.stored_score} | {f"over_{name}": mean for name, mean in means.items()}


def _rewards(trials: TrialFacts) -> Rewards:
    return Rewards(
        valid=trials.valid,
        unscored=trials.without_reward,
        corrupt=trials.corrupt,
        planned=trials.planned,
        total=trials.reward_sum,
        surplus_valid=trials.surplus_valid,
        surplus_unscored=trials.surplus_unscored,
        surplus_total=trials.surplus_sum,
    )


def times_out_too_often(trials: TrialFacts) -> bool:
    """Whether four attempted trials in five or more ran out of time: on a TPU, what a leg without a cache shows."""
    return trials.attempted > 0 and 5 * trials.errors.get(TIMEOUT, 0) >= 4 * trials.attempted


def is_score_of(score: float | None, trials: TrialFacts) -> bool:
    """Whether a score is what the trials that count come to, in any reading of it. Without a trial there is none."""
    readings = _rewards(trials).readings_of(score)
    return trials.attempted > 0 and any(not name.endswith("_with_surplus") for name in readings)


def is_disputed(trials: TrialFacts) -> bool:
    """Whether the aggregate stores a score that its trials do not make, with surplus ones or without."""
    return trials.stored_score is not None and not _rewards(trials).readings_of(trials.stored_score)
