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


def proof_of_zero(trials: TrialFacts) -> Proof:
    """Whether a score of 0, or none at all, is the model's own.

    It is proved where nine tenths of the planned trials have a reward, their agents were at work, tokens or requests
    were counted, and no single class of errors is all there is. It is broken where counts are there and are 0, where
    no agent worked, or where nearly every trial ended in one error that is not the agent's own running out of time.
    An aggregate alone shows neither.
    """
    if trials.reward_sum or trials.nonzero or not trials.attempted:
        return Proof.NOT_NEEDED
    if not trials.whole:
        return Proof.OPEN
    counts = [count for count in (trials.tokens, trials.requests) if count is not None]
    reached = any(counts)
    wall = [name for name, number in trials.errors.items() if 10 * number >= 9 * trials.attempted]
    if not reached and (counts or trials.worked == 0):
        return Proof.BROKEN
    if any(name not in trials.informative for name in wall):
        return Proof.BROKEN
    enough = trials.planned is not None and 10 * trials.valid >= 9 * trials.planned
    at_work = trials.worked is not None and 10 * trials.worked >= 9 * trials.valid
    if reached and enough and not wall and at_work:
        return Proof.PROVED
    return Proof.OPEN
