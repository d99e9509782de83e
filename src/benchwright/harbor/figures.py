"""The figures of an eval: every count exact, every share a fraction, the score in each reading of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from benchwright.harbor.aggregate import Aggregate
from benchwright.harbor.job import Job
from benchwright.harbor.means import Rewards
from benchwright.harbor.plan import Planned
from benchwright.harbor.tally import Tally
from benchwright.harbor.taxonomy import ErrorClass, Profile


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """How many trials recorded an exception of a class, with a reward and without; those of a step alone are apart."""

    error: ErrorClass
    scored: int = 0
    unscored: int = 0
    in_step: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The count as JSON data."""
        return {
            "scored": self.scored,
            "unscored": self.unscored,
            "in_step": self.in_step,
            "benign": self.error.benign,
            "undecided": self.error.undecided,
            "known": self.error.known,
            "missing": self.error.missing,
            "filters": list(self.error.filters),
            "repair": self.error.repair,
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """A score in every reading. None is where there is nothing to divide by, or nothing is stored.

    ``stored`` is the aggregate's mean. The others, up to ``valid_with_surplus``, are those of ``Rewards.means``, and
    ``stored_is`` names the ones that the stored score equals. ``likely`` takes 0 where a reward is missing because of
    what it would have been (MNAR), and leaves out whatever else is missing.
    ``low`` and ``high`` are what the score over the planned trials can still be: an MNAR trial brings 0, any other one
    without a reward, and one that never ran, the least and the most that a trial can bring (0 and 1, or what was seen).
    """

    stored: float | None
    attempted: float | None
    valid: float | None
    planned: float | None
    completed: float | None
    completed_with_surplus: float | None
    valid_with_surplus: float | None
    likely: float | None
    low: float | None
    high: float | None
    stored_is: tuple[str, ...] = ()

    @property
    def bias(self) -> float | None:
        """How far the stored score is above the likely one; below where it is negative."""
        return None if self.stored is None or self.likely is None else self.stored - self.likely

    def to_dict(self) -> dict[str, Any]:
        """The scores as JSON data."""
        scores = {one.name: getattr(self, one.name) for one in fields(self)}
        return scores | {"bias": self.bias, "stored_is": list(self.stored_is)}


@dataclass(frozen=True)
class Figures:
    """What an eval's trials amount to under a profile. Surplus trials are in ``surplus`` and counted nowhere else.

    Two of the ``scores`` alone say in their names that they are over surplus trials, too.
    ``attempted`` trials left a result: valid, unscored or corrupt ones. ``unscored`` ones are benign, counted, or
    ``silent``: without an exception of their own, so that no error rate shows them. ``missing`` planned trials left
    none, of which ``unfinished`` have a folder. ``covered`` trials say how they ended: by a reward or an exception.
    ``invalid`` ones have an exception that counts, rewarded or not; ``invalid_in_aggregate`` is the same from the
    aggregate, None without one. ``by_eval`` has the figures of each agent, model and dataset where there are several.
    """

    profile: str
    planned: Planned
    tally: Tally
    errors: Mapping[str, ErrorCount]
    invalid: int
    invalid_in_aggregate: int | None
    scores: Scores
    by_eval: Mapping[str, Figures] = field(default_factory=dict)

    @property
    def valid(self) -> int:
        """Trials with a finite reward."""
        return self.tally.count("valid")

    @property
    def unscored(self) -> int:
        """Trials with a readable result and no reward."""
        return self.tally.count("unscored")

    @property
    def corrupt(self) -> int:
        """Trials whose result cannot be read."""
        return self.tally.count("corrupt")

    @property
    def unfinished(self) -> int:
        """Trial folders without a result."""
        return self.tally.count("missing")

    @property
    def attempted(self) -> int:
        """Trials that left a result, readable or not."""
        return self.valid + self.unscored + self.corrupt

    @property
    def missing(self) -> int | None:
        """Planned trials that left no result, None where no plan is known."""
        return None if self.planned.total is None else max(0, self.planned.total - self.attempted)

    @property
    def unscored_benign(self) -> int:
        """Unscored trials whose exception does not count as invalid."""
        return sum(count.unscored for count in self.errors.values() if count.error.benign)

    @property
    def silent(self) -> int:
        """Unscored trials without an exception of their own."""
        return self.unscored - sum(count.unscored for count in self.errors.values())

    @property
    def covered(self) -> int:
        """Trials that say how they ended."""
        return self.valid + self.unscored - self.silent

    @property
    def drift(self) -> tuple[str, ...]:
        """Names of exceptions that the taxonomy does not have."""
        return tuple(name for name, count in self.errors.items() if not count.error.known)

    @property
    def error_fraction(self) -> Fraction | None:
        """Invalid over attempted trials."""
        return Fraction(self.invalid, self.attempted) if self.attempted else None

    @property
    def errs_too_much(self) -> bool:
        """Whether the error fraction is above one tenth: 30 of 300 are not, 27 of 267 are."""
        return 10 * self.invalid > self.attempted

    @property
    def coverage(self) -> Fraction | None:
        """Covered over planned trials."""
        return Fraction(self.covered, self.planned.total) if self.planned.total else None

    @property
    def covers_too_little(self) -> bool:
        """Whether the coverage is below nine tenths; an unknown plan covers nothing."""
        return self.planned.total is None or 10 * self.covered < 9 * self.planned.total

    @property
    def valid_fraction(self) -> Fraction | None:
        """Valid over planned trials: always told, and by itself no gate, since benign exceptions lower it."""
        return Fraction(self.valid, self.planned.total) if self.planned.total else None

    def facts(self) -> dict[str, Any]:
        """The figures as JSON data, in an order that does not change."""
        evidence = self.tally.evidence
        return {
            "profile": self.profile,
            "planned": self.planned.total,
            "planned_by": self.planned.source,
            "plan_disagreements": list(self.planned.disagreements),
            "attempted": self.attempted,
            "valid": self.valid,
            "unscored": self.unscored,
            "unscored_benign": self.unscored_benign,
            "silent": self.silent,
            "corrupt": self.corrupt,
            "missing": self.missing,
            "unfinished": self.unfinished,
            "surplus": self.tally.surplus,
            "covered": self.covered,
            "invalid": self.invalid,
            "invalid_in_aggregate": self.invalid_in_aggregate,
            "error_fraction": _share(self.invalid, self.attempted, self.errs_too_much),
            "coverage": _share(self.covered, self.planned.total, self.covers_too_little),
            "valid_fraction": _share(self.valid, self.planned.total, None),
            "scores": self.scores.to_dict(),
            "error_counts": {name: count.to_dict() for name, count in self.errors.items()},
            "drift": list(self.drift),
            "evidence": {
                "worked": evidence.worked,
                "agent_seconds": evidence.agent_seconds,
                "tokens_in": evidence.tokens_in,
                "tokens_cached": evidence.tokens_cached,
                "tokens_out": evidence.tokens_out,
                "requests": evidence.requests,
                "nonzero": self.valid - self.tally.zeros,
            },
            "by_eval": {key: figures.facts() for key, figures in self.by_eval.items()},
        }


def figures(job: Job, profile: Profile, planned: Planned, sizes: Mapping[str, int] | None = None) -> Figures:
    """The figures of a job under a profile: of all of it, and of each of its evals where there are several.

    An eval's part of the plan is what the job's lock lists for it, else what its benchmark makes of it by ``sizes``
    where these are the whole plan together, else that of its agent, None where the job's agents and its evals are not
    the same number.
    """
    by_eval = {}
    if len(job.evals) > 1:
        for key, tally in job.evals.items():
            part = Planned(_part(job, planned.total, key, sizes or {}), planned.source)
            by_eval[key] = _figures(tally, profile, part, job.aggregate, keys=(key, key.replace("/", "-")))
    return _figures(job.whole, profile, planned, job.aggregate, by_eval=by_eval)


def _part(job: Job, total: int | None, key: str, sizes: Mapping[str, int]) -> int | None:
    evals = len(job.evals)
    for parts in (job.locked, sizes):
        if parts.keys() >= job.evals.keys() and sum(parts.values()) == total:
            return parts[key]
    return total // evals if total and evals == len(job.config.agents) and total % evals == 0 else None


def _figures(
    tally: Tally,
    profile: Profile,
    planned: Planned,
    aggregate: Aggregate,
    *,
    keys: tuple[str, ...] | None = None,
    by_eval: Mapping[str, Figures] | None = None,
) -> Figures:
    stats = [one for key, one in aggregate.evals.items() if keys is None or key in keys]
    told = None
    if aggregate.ok:
        told = sum(number for one in stats for name, number in one.exceptions.items() if name not in profile.benign)
    errors = _errors(tally, profile)
    invalid = sum(one.scored + one.unscored for one in errors.values() if one.error.counted)
    score = stats[0].score if len(stats) == 1 else None
    return Figures(
        profile=profile.name,
        planned=planned,
        tally=tally,
        errors=errors,
        invalid=invalid,
        invalid_in_aggregate=told,
        scores=_scores(tally, errors, planned.total, score),
        by_eval=by_eval or {},
    )


def _errors(tally: Tally, profile: Profile) -> dict[str, ErrorCount]:
    """The exceptions of some trials by class, in the order of their names."""
    found: dict[str, dict[str, int]] = {}
    for kind, number in tally.kinds:
        if kind.exception is not None:
            counts = found.setdefault(kind.exception, {"scored": 0, "unscored": 0, "in_step": 0})
            counts["in_step" if kind.in_step else "scored" if kind.state == "valid" else "unscored"] += number
    return {name: ErrorCount(profile.of(name), **found[name]) for name in sorted(found)}


def _scores(tally: Tally, errors: Mapping[str, ErrorCount], planned: int | None, stored: float | None) -> Scores:
    valid = tally.count("valid")
    attempted = tally.count("valid", "unscored", "corrupt")
    rewards = Rewards(
        valid=valid,
        unscored=tally.count("unscored"),
        corrupt=tally.count("corrupt"),
        planned=planned,
        total=tally.reward_sum,
        surplus_valid=tally.surplus_valid,
        surplus_unscored=tally.surplus_unscored,
        surplus_total=tally.surplus_sum,
    )
    zeros = sum(count.unscored for count in errors.values() if count.error.missing == "MNAR")
    means = rewards.means()
    low = high = None
    if planned:
        open_ = max(0, max(planned, attempted) - valid - zeros)
        low = (tally.reward_sum + open_ * min(0.0, tally.lowest or 0.0)) / planned
        high = (tally.reward_sum + open_ * max(1.0, tally.highest or 0.0)) / planned
    likely = tally.reward_sum / (valid + zeros) if valid + zeros else None
    return Scores(stored, **means, likely=likely, low=low, high=high, stored_is=tuple(rewards.readings_of(stored)))


def _share(part: int, whole: int | None, fails: bool | None) -> dict[str, Any]:
    """A share as JSON data: exact, as a number, and whether it fails its gate, None where it has none."""
    return {"exact": f"{part}/{whole}" if whole else None, "value": part / whole if whole else None, "fails": fails}
