"""What a run's row shows of its trials: the metrics that the leaderboard reads, and the statistics behind them."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.harbor import Trial

OTHER_REWARDS = "rewards."
"""What the mean of a reward besides the score's is called by, before its own name."""


def metrics_of_trials(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The metrics in the leaderboard's shape, a list of ``{"name", "value"}``: fractions over all attempted trials.

    ``accuracy`` comes first; ``accuracy_stderr`` is there where some task has two attempts. Where trials have more
    rewards than the one that they are scored by, the mean of each other one is there as ``rewards.NAME``.
    """
    attempted = [trial for trial in trials if trial.attempted]
    values = [trial.reward or 0.0 for trial in attempted]
    found = [{"name": "accuracy", "value": _mean(values, len(values))}]
    error = standard_error(attempted)
    if error is not None:
        found.append({"name": "accuracy_stderr", "value": error})
    others: dict[str, list[float]] = defaultdict(list)
    for trial in attempted:
        for name, value in _numbers(trial):
            if name != trial.reward_key or trial.reward is None:
                others[name].append(value)
    found += [{"name": OTHER_REWARDS + name, "value": _mean(others[name], len(attempted))} for name in sorted(others)]
    return found


def standard_error(trials: Iterable[Trial]) -> float | None:
    """The standard error of the mean reward over tasks, None where no task was tried twice.

    Tasks are fixed, their attempts random: sqrt(sum of s_i^2 / k_i) / n over the n tasks with k_i >= 2 attempts, where
    s_i^2 is the sample variance of a task's rewards. For rewards of 0 and 1 it is the leaderboard's own
    sqrt(sum of p_i (1 - p_i) / (k_i - 1)) / n. An attempt without a reward counts as 0, as it does in the mean.
    """
    by_task: dict[tuple[str | None, str], list[float]] = defaultdict(list)
    for trial in trials:
        by_task[trial.source, trial.task].append(trial.reward or 0.0)
    several = [rewards for _, rewards in sorted(by_task.items(), key=repr) if len(rewards) > 1]
    if not several:
        return None
    exponent = _exponent(reward for rewards in several for reward in rewards)
    scaled = [[math.ldexp(reward, -exponent) for reward in rewards] for rewards in several]
    spread = math.fsum(statistics.variance(rewards) / len(rewards) for rewards in scaled)
    return math.ldexp(math.sqrt(spread) / len(several), exponent)


def stats_of_trials(trials: Sequence[Trial]) -> dict[str, Any]:
    """The statistics in the shape of Harbor's own, from the trials alone; its counts have their older names too.

    Every reward of every trial is in ``reward_stats``, by its name and value, as Harbor keeps them.
    """
    attempted = [trial for trial in trials if trial.attempted]
    by_key: dict[str, list[Trial]] = defaultdict(list)
    for trial in attempted:
        by_key[trial.key].append(trial)
    errored = sum(_exception(trial) is not None for trial in attempted)
    tokens = {
        "n_input_tokens": [trial.tokens_in for trial in attempted],
        "n_cache_tokens": [trial.tokens_cached for trial in attempted],
        "n_output_tokens": [trial.tokens_out for trial in attempted],
    }
    known = {name: [count for count in counts if count is not None] for name, counts in tokens.items()}
    return {
        "n_trials": len(attempted),
        "n_errors": errored,
        "n_completed_trials": len(attempted),
        "n_errored_trials": errored,
        "evals": {key: _eval(group) for key, group in sorted(by_key.items())},
        **{name: sum(counts) for name, counts in known.items() if counts},
    }


def _eval(trials: Sequence[Trial]) -> dict[str, Any]:
    rewards: dict[str, dict[str, list[str]]] = {}
    exceptions: dict[str, list[str]] = {}
    rewarded: set[str] = set()
    for trial in sorted(trials, key=lambda one: one.folder):
        for name, value in _numbers(trial):
            rewards.setdefault(name, {}).setdefault(str(value), []).append(trial.folder)
            rewarded.add(trial.folder)
        exception = _exception(trial)
        if exception is not None:
            exceptions.setdefault(exception, []).append(trial.folder)
    return {
        "n_trials": len(rewarded),
        "n_errors": sum(map(len, exceptions.values())),
        "metrics": [{"mean": _mean([trial.reward or 0.0 for trial in trials], len(trials))}],
        "reward_stats": rewards,
        "exception_stats": exceptions,
    }


def _mean(values: Sequence[float], number: int) -> float:
    """The sum of rewards over a number of trials, also where no float is as large as the sum."""
    exponent = _exponent(values)
    return math.ldexp(math.fsum(math.ldexp(value, -exponent) for value in values) / number, exponent)


def _exponent(values: Iterable[float]) -> int:
    """The power of two that values are scaled by, so that none is above 1; no digit is lost by it."""
    return math.frexp(max(map(abs, values), default=0.0))[1]


def _numbers(trial: Trial) -> list[tuple[str, float]]:
    """The rewards of a trial that are finite numbers, ``true`` being 1, by their names."""
    return [
        (name, float(value))
        for name, value in sorted(trial.rewards.items())
        if isinstance(value, int | float) and math.isfinite(value)
    ]


def _exception(trial: Trial) -> str | None:
    return trial.exception or next(iter(trial.step_exceptions), None)
