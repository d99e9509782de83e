"""Rows of the evaluation database, as both of its backends give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

FINISHED = "Finished"
"""The status of a row whose job has ended and uploaded."""
ENDED = (FINISHED, "Failed")
"""The statuses in which nothing more is to come."""


@dataclass(frozen=True, slots=True)
class RegisteredRow:
    """A row that other rows refer to by its id, with its name and what it is a duplicate of."""

    id: str
    name: str
    duplicate_of: str | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The row in a record."""
        return cls(record["id"], record["name"], record.get("duplicate_of"))


@dataclass(frozen=True, slots=True)
class AgentRow(RegisteredRow):
    """A row of ``agents``."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow(RegisteredRow):
    """A row of ``benchmarks``."""


@dataclass(frozen=True, slots=True)
class ModelRow(RegisteredRow):
    """A row of ``models``. Names are not unique there: one model may have several rows."""

    base_model_id: str | None = None
    created_by: str | None = None
    creation_time: datetime | None = None
    weights_location: str | None = None
    is_external: bool | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The row in a record."""
        return cls(
            record["id"],
            record["name"],
            record.get("duplicate_of"),
            record.get("base_model_id"),
            record.get("created_by"),
            moment(record.get("creation_time")),
            record.get("weights_location"),
            record.get("is_external"),
        )


@dataclass(frozen=True, slots=True)
class JobRow:
    """A row of ``sandbox_jobs`` with the names that its ids stand for, None where there is no such row.

    Times are aware and in UTC, None where the row has none or one that no calendar has. ``metrics``, ``stats`` and
    ``config`` are the JSON as it is stored, of any shape: ``benchwright.evaldb.shapes`` reads the first two. What
    ``n_trials`` counts depends on the status: ``planned_trials`` is what it means in a finished row.
    """

    id: str
    job_name: str
    username: str
    job_status: str
    created_at: datetime | None
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    slurm_job_id: str | None
    n_trials: int | None
    n_rep_eval: int | None
    metrics: Any
    stats: Any
    config: Any
    hf_traces_link: str | None
    agent_id: str
    model_id: str
    benchmark_id: str
    agent: str | None = None
    model: str | None = None
    benchmark: str | None = None
    is_overlong: bool | None = None
    notes: str | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any], *, agent: str | None, model: str | None, benchmark: str | None) -> JobRow:
        """The row in a record. Columns that came later (``submitted_at``, ``notes`` and others) may be missing."""
        return cls(
            record["id"],
            record["job_name"],
            record["username"],
            record["job_status"],
            moment(record["created_at"]),
            moment(record.get("submitted_at")),
            moment(record["started_at"]),
            moment(record["ended_at"]),
            record.get("slurm_job_id"),
            record["n_trials"],
            record["n_rep_eval"],
            record["metrics"],
            record["stats"],
            record["config"],
            record["hf_traces_link"],
            record["agent_id"],
            record["model_id"],
            record["benchmark_id"],
            agent,
            model,
            benchmark,
            record.get("is_overlong"),
            record.get("notes"),
        )

    @property
    def planned_trials(self) -> int | None:
        """``n_trials`` where it is the number of planned trials, in a finished row; None elsewhere.

        A pending row has 0 there, and a started one the number of trials that run at once.
        """
        return self.n_trials if self.job_status == FINISHED else None

    @property
    def last_sign(self) -> datetime | None:
        """The latest time that the row names: its creation, submission, start or end."""
        times = (self.created_at, self.submitted_at, self.started_at, self.ended_at)
        return max((time for time in times if time is not None), default=None)


def moment(text: Any) -> datetime | None:
    """The time in UTC that a text of the database is; None for ``infinity`` and whatever else no calendar has."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
