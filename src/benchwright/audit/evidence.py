"""Whether trials ran: a score of 0 counts only where they did."""

from __future__ import annotations

from enum import Enum

from benchwright.audit.facts import TrialFacts


class Proof(Enum):
    """What the records say of a score of 0."""

    NOT_NEEDED = "the score is not 0"
    PROVED = "the trials reached the model and failed"
    BROKEN = "they never reached it"
    OPEN = "nothing recorded tells"


def walls(trials: TrialFacts) -> list[str]:
    """The classes of errors that nine tenths of the attempted trials ended in."""
    return [name for name, number in trials.errors.items() if 10 * number >= 9 * trials.attempted]


def why_open(trials: TrialFacts) -> str:
    """Why the records of a score of 0 do not tell whether it is the model's own, as a clause."""
    hit = walls(trials)
    if hit and (trials.tokens or trials.requests):
        number = f"{trials.errors[hit[0]]:,} of {trials.attempted:,} trials"
        return f"{number} ended in {hit[0]}, for which the model or what served it may be the reason"
    return "nothing recorded proves that the trials reached the model"


def proof_of_zero(trials: TrialFacts) -> Proof:
    """Whether a score of 0, or none at all, is the model's own.

    It is proved where nine tenths of the planned trials have a reward, as many agents were at work, tokens or requests
    were counted for as many, and no single class of errors is all there is. It is broken where nothing reached the
    model: counts are there and are 0, no agent worked, or nothing is counted and nearly every trial ended in one error
    that is not the agent's own running out of time. Counts of a few for many trials tell neither, nor does an aggregate
    alone.
    """
    if trials.reward_sum or trials.nonzero or not trials.attempted:
        return Proof.NOT_NEEDED
    if not trials.whole:
        return Proof.OPEN
    counts = [count for count in (trials.tokens, trials.requests) if count is not None]
    hit = walls(trials)
    if not any(counts) and (counts or trials.worked == 0 or any(name not in trials.informative for name in hit)):
        return Proof.BROKEN
    enough = bool(trials.planned) and 10 * trials.valid >= 9 * (trials.planned or 0)
    at_work = [trials.worked or 0, *counts]
    if counts and enough and not hit and all(10 * count >= 9 * trials.valid for count in at_work):
        return Proof.PROVED
    return Proof.OPEN
