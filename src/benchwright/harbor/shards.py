"""A run that was cut into shards, put together again."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from benchwright.harbor.aggregate import Aggregate, EvalStats
from benchwright.harbor.job import Job, packed
from benchwright.harbor.places import JobPlace
from benchwright.harbor.remark import Remark, named
from benchwright.harbor.slots import copied
from benchwright.harbor.tally import by_eval, tally
from benchwright.harbor.trial import Trial

_IDS = ("SLURM_JOB_ID", "DB_JOB_ID")


def merged(place: JobPlace, jobs: Sequence[Job]) -> Job:
    """The jobs of all shards as one: trials under ``<shard>/<folder>``, sums of the aggregates, every remark.

    The aggregate is only as good as the worst of the shards', finished when all are, and holds no score: the mean of
    one shard is not that of the run.
    """
    trials, copies = _once(
        msgspec.structs.replace(trial, folder=f"{job.name}/{trial.folder}") for job in jobs for trial in job.trials
    )
    evals = by_eval(trials)
    whole = tally(trials)
    remarks = [
        msgspec.structs.replace(remark, text=f"{job.name}: {remark.text}") for job in jobs for remark in job.remarks
    ]
    whole_run = Remark(
        "shards", "context", f"{len(jobs)} shards are counted as one run: {named(one.name for one in jobs)}"
    )
    if copies:
        remarks.insert(0, copied(copies))
    if place.lacking:
        lacking = named(f"{place.name}_shard{number}" for number in place.lacking)
        whole_run = Remark("missing-shards", "error", f"a part of the run is not there: {lacking}")
    return Job(
        name=place.name,
        folders=tuple(itertools.chain.from_iterable(job.folders for job in jobs)),
        config=jobs[0].config,
        aggregate=_aggregate([job.aggregate for job in jobs]),
        locked=_locked(jobs),
        meta=jobs[0].meta | _ids(jobs),
        whole=whole,
        evals={key: whole if len(evals) == 1 else tally(group) for key, group in evals.items()},
        remarks=(whole_run, *remarks),
        live=any(job.live for job in jobs),
        written=max((job.written for job in jobs if job.written), default=None),
        packed_trials=packed(trials),
    )


def _once(trials: Iterable[Trial]) -> tuple[list[Trial], list[str]]:
    """The trials of all shards, those that an earlier shard has too marked as surplus, and the folders of these."""
    seen: set[str] = set()
    kept, copies = [], []
    for trial in trials:
        again = trial.id in seen and not trial.surplus
        if again:
            copies.append(trial.folder)
        elif trial.id is not None and not trial.surplus:
            seen.add(trial.id)
        kept.append(msgspec.structs.replace(trial, surplus=True) if again else trial)
    return kept, copies


def _ids(jobs: Sequence[Job]) -> dict[str, str]:
    """The ids that the launches of all shards recorded, with commas between: each may be live, or have a row."""
    found = {name: dict.fromkeys(job.meta[name] for job in jobs if job.meta.get(name)) for name in _IDS}
    return {name: ",".join(ids) for name, ids in found.items() if ids}


def _locked(jobs: Sequence[Job]) -> dict[str, int]:
    """What the locks of all shards list; a shard whose lock was not needed planned what its aggregate says."""
    found: Counter[str] = Counter()
    for job in jobs:
        if not job.locked and (job.aggregate.planned is None or len(job.evals) > 1):
            return {}
        found.update(job.locked or {next(iter(job.evals), ""): job.aggregate.planned or 0})
    return dict(found)


def _aggregate(parts: Sequence[Aggregate]) -> Aggregate:
    for state in ("corrupt", "missing"):
        for part in parts:
            if part.state == state:
                return Aggregate(state=part.state, why=f"that of a shard: {part.why}")
    counts = ("planned", "completed", "errored", "running", "pending", "cancelled", "tokens_cached")
    keys = dict.fromkeys(itertools.chain.from_iterable(part.evals for part in parts))
    return Aggregate(
        state="ok",
        started=min((part.started for part in parts if part.started), default=None),
        updated=max((part.updated for part in parts if part.updated), default=None),
        finished=_all([part.finished for part in parts], max),
        evals={key: stats_together([part.evals[key] for part in parts if key in part.evals]) for key in keys},
        **{count: _all([getattr(part, count) for part in parts], sum) for count in counts},
    )


def stats_together(parts: Sequence[EvalStats]) -> EvalStats:
    """What aggregates say of one eval, added up; without a score, since the mean of a part is not that of the whole."""
    exceptions: Counter[str] = Counter()
    for part in parts:
        exceptions.update(part.exceptions)
    return EvalStats(
        rewarded=_all([part.rewarded for part in parts], sum),
        errors=_all([part.errors for part in parts], sum),
        metrics=tuple(dict.fromkeys(itertools.chain.from_iterable(part.metrics for part in parts))),
        exceptions=dict(exceptions),
        malformed=tuple(dict.fromkeys(itertools.chain.from_iterable(part.malformed for part in parts))),
    )


def _all(values: Sequence[Any], join: Callable[[Sequence[Any]], Any]) -> Any:
    """What values amount to; nothing where one of them is not known."""
    return None if None in values else join(values)
