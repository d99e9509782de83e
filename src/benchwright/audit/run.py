"""A run on its way to its facts: what its folder and its manifest call it, for the other sources to be asked with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

import msgspec

from benchwright.audit.facts import EvalFacts, Source
from benchwright.audit.manifest import NO_HINT, Hint
from benchwright.evaldb import RunNames
from benchwright.harbor import Job
from benchwright.slurm import is_job_id


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run; each is equal to itself alone. ``job`` is None where its folder could not be read.

    ``models`` and ``benchmarks`` are all names that it is known by, the served ones and those of its datasets too.
    """

    tag: str
    job: Job | None = None
    hint: Hint = NO_HINT
    models: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()

    @cached_property
    def slurm_ids(self) -> tuple[str, ...]:
        """The jobs of the scheduler that are known to have run it."""
        ids = (self.hint.slurm_job_id, *self._recorded("SLURM_JOB_ID"))
        return tuple(dict.fromkeys(id for id in ids if id and is_job_id(id)))

    @cached_property
    def row_ids(self) -> tuple[str, ...]:
        """The ids of rows that are this run's: that of its launch, that of its result, and those of its evals."""
        own = (*self._recorded("DB_JOB_ID"), self.result_id, *self.eval_ids.values())
        return tuple(dict.fromkeys(id.lower() for id in (self.hint.row_id, *own) if id))

    @cached_property
    def eval_ids(self) -> Mapping[str, str]:
        """The ids that rows of its evals get, by Harbor's keys, where it holds several: made of the run's own."""
        keys = tuple(self.job.evals) if self.job else ()
        try:
            own = UUID(self.result_id or self.hint.row_id or "")
        except ValueError:
            return {}
        return {key: str(uuid5(own, key)) for key in keys} if len(keys) > 1 else {}

    def _recorded(self, name: str) -> list[str]:
        """The ids that its launch left on record: several where its shards were launched one by one."""
        return self.job.meta.get(name, "").split(",") if self.job else []

    @cached_property
    def result_id(self) -> str | None:
        """Harbor's id of the run: from its result, or from its trials where they agree on one."""
        if self.job is None or self.job.aggregate.id is not None:
            return self.job.aggregate.id if self.job else None
        ids = {trial.job_id for trial in self.job.trials if trial.state in ("valid", "unscored")}
        return next(iter(ids)) if len(ids) == 1 else None

    @property
    def names(self) -> RunNames:
        """What the database is asked with."""
        return RunNames(self.models, self.benchmarks, (self.tag,), self.row_ids)

    @property
    def launched_by_slurm(self) -> bool:
        """Whether a scheduler's batch script left its record, or a job of it is known."""
        return bool(self.slurm_ids or (self.job is not None and self.job.meta))

    @property
    def began(self) -> datetime | None:
        """When Harbor began it."""
        return self.job.aggregate.started if self.job else None

    @property
    def ended(self) -> datetime | None:
        """When Harbor ended it; None where it did not, or was killed."""
        return self.job.aggregate.finished if self.job else None

    @property
    def written(self) -> datetime | None:
        """When one of its results last changed."""
        return self.job.written if self.job else None

    @property
    def last_sign(self) -> datetime | None:
        """The latest time that it names or shows."""
        own = (self.began, self.job.aggregate.updated, self.ended) if self.job else ()
        return max((time for time in (*own, self.written) if time is not None), default=None)

    @cached_property
    def trial_ids(self) -> frozenset[str]:
        """Harbor's ids of its trials."""
        return frozenset(trial.id.lower() for trial in self.job.trials if trial.id) if self.job else frozenset()

    @cached_property
    def trial_names(self) -> frozenset[str]:
        """What Harbor called its trials."""
        return frozenset(trial.folder.rpartition("/")[2] for trial in self.job.trials) if self.job else frozenset()


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One eval of a run, with the facts so far. ``key`` is Harbor's for it, None where the run is this one eval."""

    run: Run
    facts: EvalFacts
    key: str | None = None
    sole: bool = True
    """Whether no other eval of the run has the same agent."""

    def learned(self, **facts: Any) -> Leg:
        """The eval with more facts."""
        return replace(self, facts=msgspec.structs.replace(self.facts, **facts))

    def noted(self, *notes: str) -> Leg:
        """The eval with more notes."""
        return self.learned(notes=(*self.facts.notes, *notes))

    def lacking(self, source: Source, why: str) -> Leg:
        """The eval with the reason why a part of its facts is not known."""
        return self.learned(unknown={**self.facts.unknown, source: why})
