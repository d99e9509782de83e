"""What trials amount to, whatever profile judges them: counts and sums from which every figure follows."""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from benchwright.harbor.trial import Trial, TrialState


class Kind(msgspec.Struct, frozen=True):
    """Trials that count alike: their state, and the exception that they recorded, in a step alone or as a whole."""

    state: TrialState
    exception: str | None = None
    in_step: bool = False


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What shows that trials ran: how many of them an agent worked on, for how long in all, tokens and requests.

    A sum is None where no trial records it.
    """

    worked: int = 0
    agent_seconds: float = 0.0
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    requests: int | None = None


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """Trials of a job: all of them, or those of one agent, model and dataset. Surplus ones are in ``surplus...`` alone.

    ``kinds`` counts them by ``Kind``, ``tasks`` how many different tasks they are of, ``zeros`` the rewards that are 0.
    ``reward_sum`` is exact to the last bit, ``lowest`` and ``highest`` are the extremes of the rewards. Of the surplus
    trials that are no copy of another some are valid or unscored; ``surplus_sum`` is what their rewards add up to.
    """

    kinds: tuple[tuple[Kind, int], ...] = ()
    surplus: int = 0
    surplus_valid: int = 0
    surplus_unscored: int = 0
    surplus_sum: float = 0.0
    tasks: int = 0
    reward_sum: float = 0.0
    lowest: float | None = None
    highest: float | None = None
    zeros: int = 0
    evidence: Evidence = Evidence()

    def count(self, *states: TrialState) -> int:
        """How many are in one of some states."""
        return sum(number for kind, number in self.kinds if kind.state in states)


def tally(trials: Iterable[Trial]) -> Tally:
    """The tally of some trials."""
    trials = list(trials)
    kept = [trial for trial in trials if not trial.surplus]
    surplus = [trial for trial in trials if trial.surplus]
    copied = {trial.id or trial.folder for trial in kept}
    more = {trial.id or trial.folder: trial for trial in surplus if (trial.id or trial.folder) not in copied}.values()
    kinds = Counter((one.state, one.exception, one.exception is None and one.step_exceptions[:1]) for one in kept)
    rewards = [trial.reward for trial in kept if trial.reward is not None]
    times = [trial.agent_seconds for trial in kept if trial.agent_seconds]
    return Tally(
        kinds=tuple(
            (Kind(state, exception or (step[0] if step else None), bool(step)), number)
            for (state, exception, step), number in sorted(kinds.items(), key=repr)
        ),
        surplus=len(surplus),
        surplus_valid=sum(trial.state == "valid" for trial in more),
        surplus_unscored=sum(trial.state == "unscored" for trial in more),
        surplus_sum=_total([trial.reward for trial in more if trial.reward is not None]),
        tasks=len({(trial.source, trial.task) for trial in kept}),
        reward_sum=_total(rewards),
        lowest=min(rewards, default=None),
        highest=max(rewards, default=None),
        zeros=rewards.count(0.0),
        evidence=Evidence(
            worked=sum(time > 0 for time in times),
            agent_seconds=math.fsum(times),
            tokens_in=_sum(trial.tokens_in for trial in kept),
            tokens_cached=_sum(trial.tokens_cached for trial in kept),
            tokens_out=_sum(trial.tokens_out for trial in kept),
            requests=_sum(trial.requests for trial in kept),
        ),
    )


def by_eval(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials of each agent, model and dataset, by the key that Harbor gives them, sorted.

    Trials of which nothing says whose they are belong to none, unless all are such.
    """
    runners: dict[tuple[str | None, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        runners[trial.agent, trial.model, trial.source].append(trial)
    if any(agent for agent, _, _ in runners):
        runners = {runner: group for runner, group in runners.items() if runner[0]}
    groups: dict[str, list[Trial]] = {}
    for group in runners.values():
        groups.setdefault(group[0].key, []).extend(group)
    return dict(sorted(groups.items()))


def _total(rewards: Sequence[float]) -> float:
    try:
        return math.fsum(rewards)
    except OverflowError:
        return math.copysign(sys.float_info.max, sum(rewards))


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
