"""How far a job is, and whether it is to be resumed: one word for it, and the figures that the word follows from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from benchwright.harbor.figures import Figures
from benchwright.harbor.job import Job

Status = Literal[
    "DONE",
    "DONE_WITH_ERRORS",
    "INCOMPLETE",
    "PARTIAL",
    "PARTIAL_OK",
    "EARLY_KILL",
    "IN_FLIGHT",
    "AT_RESUME_LIMIT",
    "REJECTED",
    "UNKNOWN",
]
NEEDS_RESUME: frozenset[Status] = frozenset({"EARLY_KILL", "INCOMPLETE", "PARTIAL", "DONE_WITH_ERRORS"})
REJECTED = ".no-resume"
"""The file in a job's folder that says that nobody is to resume it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """From how many errors on a job is to be resumed, and how often it may be launched, the first time included.

    Without ``errors`` a tenth of the attempted trials may have errors that count, else as many as it says.
    """

    errors: int | None = None
    fires: int = 2

    def passes(self, invalid: int, attempted: int) -> bool:
        """Whether so few trials have errors that count."""
        return 10 * invalid <= attempted if self.errors is None else invalid <= self.errors


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job is. ``done`` trials left a result that can be read, ``fires`` is how often it was launched.

    ``live`` is None where nobody said whether it is. Where ``whole`` is False the figures are those of the job's own
    aggregate: its trials are not there to be counted. A figure that is not known is None.
    """

    name: str
    where: str
    status: Status
    why: str = ""
    live: bool | None = None
    whole: bool = True
    planned: int | None = None
    done: int | None = None
    valid: int | None = None
    corrupt: int | None = None
    invalid: int | None = None
    fires: int | None = None
    finished: datetime | None = None
    score: float | None = None

    @property
    def needs_resume(self) -> bool:
        """Whether it is to be resumed, once it is known not to be live."""
        return self.status in NEEDS_RESUME

    def to_dict(self) -> dict[str, Any]:
        """The progress as JSON data."""
        data = {name: getattr(self, name) for name in self.__slots__}
        return data | {
            "finished": self.finished.isoformat() if self.finished else None,
            "needs_resume": self.needs_resume,
        }


def progress_of(
    job: Job, figures: Figures, *, live: bool | None = None, rejected: bool = False, limits: Limits = DEFAULT_LIMITS
) -> Progress:
    """How far a job is, by its trials; by its aggregate where it has none, whatever version of Harbor wrote it.

    ``live`` is what a scheduler says of it, ``rejected`` whether it bears the file that forbids a resume.
    """
    counts = _by_trials(figures) if job.present or not job.aggregate.ok else _by_aggregate(job, figures)
    planned = figures.planned.total
    resumes = job.meta.get("RESUME_COUNT", "")
    fires = 1 + (int(resumes) if resumes.isdecimal() and len(resumes) < 10 else 0)
    status, why = _status(job, counts, planned, limits)
    if status in NEEDS_RESUME and fires >= limits.fires:
        status, why = "AT_RESUME_LIMIT", f"launched {fires} times; {why}"
    if live or job.live:
        status, why = "IN_FLIGHT", "" if live else "its files changed while they were read"
    if rejected:
        status, why = "REJECTED", f"{REJECTED} is in its folder"
    reasons = [why] if why else []
    if figures.planned.disagreements:
        reasons.append(f"planned by the {figures.planned.source}, but {', '.join(figures.planned.disagreements)}")
    return Progress(
        name=job.name,
        where=job.folders[0],
        status=status,
        why="; ".join(reasons),
        live=True if job.live else live,
        whole=counts.whole,
        planned=planned,
        done=counts.done,
        valid=figures.valid if counts.whole else None,
        corrupt=figures.corrupt if counts.whole else None,
        invalid=counts.invalid,
        fires=fires,
        finished=job.aggregate.finished,
        score=figures.scores.stored,
    )


class _Counts(NamedTuple):
    """``attempted`` trials left a result, ``done`` ones a readable one, ``covered`` ones say how they ended."""

    attempted: int
    done: int | None
    covered: int
    invalid: int
    whole: bool


def _by_trials(figures: Figures) -> _Counts:
    done = figures.valid + figures.unscored
    return _Counts(figures.attempted, done, figures.covered, figures.invalid, whole=True)


def _by_aggregate(job: Job, figures: Figures) -> _Counts:
    """What the aggregate counts; its evals count the rewarded trials alone, and stand for no other number."""
    done = job.aggregate.completed
    return _Counts(done or 0, done, done or 0, figures.invalid_in_aggregate or 0, whole=False)


def _status(job: Job, counts: _Counts, planned: int | None, limits: Limits) -> tuple[Status, str]:
    """The word for a job that is not live, and what it follows from."""
    if not counts.attempted and not job.aggregate.ok:
        if job.aggregate.state == "corrupt":
            return "UNKNOWN", f"its result.json: {job.aggregate.why}"
        return "EARLY_KILL", "no trial left a result"
    if not planned:
        return "UNKNOWN", "how many trials were planned is unknown"
    if counts.done is None:
        return "UNKNOWN", "how many trials have ended is unknown"
    reasons = [] if limits.passes(counts.invalid, counts.attempted) else ["too many have errors that count"]
    reasons += ["fewer than 9 in 10 say how they ended"] if 10 * counts.covered < 9 * planned else []
    why = ", ".join(reasons)
    if counts.done >= planned:
        return ("DONE_WITH_ERRORS" if reasons else "DONE"), why
    if job.aggregate.finished is None:
        return "INCOMPLETE", why or "Harbor has not finished"
    return ("PARTIAL" if reasons else "PARTIAL_OK"), why or "Harbor finished with fewer than it planned"
