"""A job's own ``result.json``: what Harbor counted. It is kept apart from the trials and never stands for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.moment import moment
from benchwright.harbor.number import count, finite

_MEANS = ("mean", "mean_reward")
"""What the mean of the rewards is called: upstream, and in a fork whose results are still about."""


class EvalStats(msgspec.Struct, frozen=True, kw_only=True):
    """What the aggregate says of one agent, model and dataset.

    ``rewarded`` counts the trials with rewards, ``errors`` those with an exception; a trial can be in both. ``score``
    is the stored mean, None where the metrics have none (as with several reward keys); ``metrics`` is what they have.
    ``exceptions`` counts the trials of each class; a class whose trials are no list is in ``malformed`` instead.
    """

    rewarded: int | None = None
    errors: int | None = None
    score: float | None = None
    metrics: tuple[str, ...] = ()
    exceptions: dict[str, int] = {}
    malformed: tuple[str, ...] = ()


class Aggregate(msgspec.Struct, frozen=True, kw_only=True):
    """The aggregate of a job: ``ok``, or else ``missing`` or ``corrupt``, with the reason in ``why`` and no figures.

    ``planned`` counts trials, ``completed`` those that ended, with a result or an exception, whatever the version calls
    it. ``running`` stays above 0 when a job is killed. ``evals`` is in the order of the file, of which a database keeps
    the first alone. Counts that the version does not write are None.
    """

    state: Literal["ok", "missing", "corrupt"]
    why: str = ""
    id: str | None = None
    started: datetime | None = None
    updated: datetime | None = None
    finished: datetime | None = None
    planned: int | None = None
    completed: int | None = None
    errored: int | None = None
    running: int | None = None
    pending: int | None = None
    cancelled: int | None = None
    tokens_cached: int | None = None
    evals: dict[str, EvalStats] = {}

    @property
    def ok(self) -> bool:
        """Whether there is one to read."""
        return self.state == "ok"


MISSING = Aggregate(state="missing", why="no result.json")


class _Eval(msgspec.Struct):
    n_trials: Any = None
    n_errors: Any = None
    metrics: Any = None
    exception_stats: Any = None


class _Stats(msgspec.Struct):
    n_trials: Any = None
    n_completed_trials: Any = None
    n_errors: Any = None
    n_errored_trials: Any = None
    n_running_trials: Any = None
    n_pending_trials: Any = None
    n_cancelled_trials: Any = None
    n_cache_tokens: Any = None
    evals: dict[str, _Eval] | None = None


class _JobResult(msgspec.Struct):
    """The fields of Harbor's JobResult that count. A version may keep every trial in it while the job runs."""

    id: Any = None
    task_name: Any = None
    started_at: Any = None
    updated_at: Any = None
    finished_at: Any = None
    n_total_trials: Any = None
    stats: _Stats | None = None


_JOB_RESULT = msgspec.json.Decoder(_JobResult)


def read_aggregate(data: bytes) -> Aggregate:
    """The aggregate that a job's ``result.json`` holds; damage is a state of it and no error."""
    try:
        result = decode(data, _JOB_RESULT)
    except NotJson as error:
        return Aggregate(state="corrupt", why=str(error))
    if result.stats is None or result.task_name is not None:
        return Aggregate(state="corrupt", why="no result of a job: it has no stats")
    stats = result.stats
    evals = {key: _eval_stats(one) for key, one in (stats.evals or {}).items()}
    return Aggregate(
        state="ok",
        id=result.id if isinstance(result.id, str) else None,
        started=moment(result.started_at),
        updated=moment(result.updated_at),
        finished=moment(result.finished_at),
        planned=count(result.n_total_trials),
        completed=_first(stats.n_completed_trials, stats.n_trials),
        errored=_first(stats.n_errored_trials, stats.n_errors),
        running=count(stats.n_running_trials),
        pending=count(stats.n_pending_trials),
        cancelled=count(stats.n_cancelled_trials),
        tokens_cached=count(stats.n_cache_tokens),
        evals=evals,
    )


def _eval_stats(one: _Eval) -> EvalStats:
    metrics = [entry for entry in one.metrics if isinstance(entry, Mapping)] if isinstance(one.metrics, list) else []
    classes = one.exception_stats if isinstance(one.exception_stats, Mapping) else {}
    return EvalStats(
        rewarded=count(one.n_trials),
        errors=count(one.n_errors),
        score=_score(metrics),
        metrics=tuple(dict.fromkeys(str(name) for entry in metrics for name in entry)),
        exceptions={name: len(trials) for name, trials in classes.items() if isinstance(trials, list)},
        malformed=tuple(name for name, trials in classes.items() if not isinstance(trials, list)),
    )


def _score(metrics: list[Mapping[str, Any]]) -> float | None:
    """The first mean among the metrics; a job may have others, such as sums, before it."""
    for entry in metrics:
        for name in _MEANS:
            if (score := finite(entry.get(name))) is not None:
                return score
    return None


def _first(*values: Any) -> int | None:
    return next((found for found in map(count, values) if found is not None), None)
