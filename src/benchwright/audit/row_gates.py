"""Whether a row's own statistics pass the gates: from the aggregate that was stored with it, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from benchwright.evaldb import stats_of


def row_fails(stats: Any, planned: int | None, benign: Collection[str]) -> bool | None:
    """Whether the statistics in a row fail a gate; None where they do not tell.

    ``planned`` is how many trials its job was to have. What ``n_trials`` counts differs: all trials that ended, or
    those with a reward alone. A gate fails, or passes, only where it does so in either reading.
    """
    found = stats_of(stats)
    evals = found.get("evals") if found is not None else None
    if found is None or not isinstance(evals, Mapping) or not all(isinstance(one, Mapping) for one in evals.values()):
        return None
    exceptions = [pair for one in evals.values() for pair in _lists(one.get("exception_stats")).items()]
    invalid = sum(len(trials) for name, trials in exceptions if name not in benign)
    errored = sum(len(trials) for _, trials in exceptions)
    rewarded = sum(_count(one.get("n_trials")) or 0 for one in evals.values())
    least = max(rewarded, errored, *(_count(found.get(name)) or 0 for name in ("n_trials", "n_completed_trials")))
    most = _count(found.get("n_completed_trials"))
    if most is None:  # an older version's n_trials, or one that was put together from the rewarded ones
        total = _count(found.get("n_trials"))
        most = total if total is not None and total > rewarded else rewarded + errored
    most = max(most, least)
    if most == 0:
        return True
    covered = _names(evals.values())
    covered_least, covered_most = (covered, covered) if covered is not None else (least, min(most, rewarded + errored))
    if 10 * invalid > most or (planned is not None and 10 * covered_most < 9 * planned):
        return True
    sure = planned is not None and 10 * covered_least >= 9 * planned
    return False if sure and 10 * invalid <= least else None


def _names(evals: Collection[Mapping[str, Any]]) -> int | None:
    """How many trials have a reward or an exception, by the names that the statistics list; None where they do not."""
    names: set[str] = set()
    for one in evals:
        rewarded: set[str] = set()
        for values in _mappings(one.get("reward_stats")):
            for trials in _lists(values).values():
                rewarded.update(map(str, trials))
        if len(rewarded) != _count(one.get("n_trials")):
            return None
        names |= rewarded
        for trials in _lists(one.get("exception_stats")).values():
            names.update(map(str, trials))
    return len(names)


def _lists(value: Any) -> dict[str, list[Any]]:
    return {name: one for name, one in value.items() if isinstance(one, list)} if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value.values() if isinstance(one, Mapping)] if isinstance(value, Mapping) else []


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
