"""The score of each eval in every reading on one scale, with the interval that its missing trials leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.audit.record import Audited
from benchwright.audit.report_figures import Readings, readings
from benchwright.audit.report_words import LONGEST, titles, visible
from benchwright.harbor.number import as_score

READINGS = {
    "stored": "as stored in the job's own result",
    "attempted": "over attempted trials",
    "valid": "over valid trials",
    "planned": "over planned trials",
    "likely": "a missing reward taken for 0 where it hides one",
}
"""The readings that are drawn, and what each is."""
_FURTHEST = 1e6
"""Scores beyond it are drawn there: they have no meaning that a picture could show."""


@dataclass(frozen=True, slots=True)
class Value:
    """A reading: its text, the number it sorts by, and where it is drawn, in percent of the width."""

    name: str
    text: str
    sort: float | None
    at: float | None


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """An eval's readings; ``low`` and ``high`` are where the open interval is drawn, ``open`` says it in figures."""

    id: str
    tag: str
    values: list[Value]
    low: float | None
    high: float | None
    open: str
    width: float | None


@dataclass(frozen=True)
class ScoreChart:
    """The rows of the evals that have a score, and the scores at both ends of the scale."""

    rows: list[ScoreRow]
    low: float
    high: float


def score_chart(audited: Sequence[Audited]) -> ScoreChart:
    """The chart of some evals, in their order."""
    shown = []
    names = titles(one.facts for one in audited)
    for place, (one, name) in enumerate(zip(audited, names, strict=True), start=1):
        found = readings(one.facts)
        if found is not None and found.known():
            shown.append((f"eval-{place}", name, found))
    low, high = _scale([value for _, _, found in shown for value in found.known()])
    return ScoreChart([_row(id, name, found, low, high) for id, name, found in shown], low, high)


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the scale, on tenths: as narrow as the scores allow, but at least two tenths wide."""
    drawn = [min(max(value, -_FURTHEST), _FURTHEST) for value in values]
    low = math.floor(10 * min(drawn, default=0.0)) / 10
    high = math.ceil(10 * max(drawn, default=1.0)) / 10
    return low, max(high, round(low + 0.2, 1))


def _row(id: str, name: str, found: Readings, low: float, high: float) -> ScoreRow:
    def at(value: float | None) -> float | None:
        if value is None:
            return None
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    values = [
        Value(key, as_score(getattr(found, key)), getattr(found, key), at(getattr(found, key))) for key in READINGS
    ]
    known = found.low is not None and found.high is not None
    return ScoreRow(
        id=id,
        tag=visible(name, LONGEST),
        values=values,
        low=at(found.low) if known else None,
        high=at(found.high) if known else None,
        open=f"{as_score(found.low)} to {as_score(found.high)}" if known else "not known",
        width=found.high - found.low if found.low is not None and found.high is not None else None,
    )
