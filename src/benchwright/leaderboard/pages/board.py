"""The rows of the leaderboard's page: the published cells, and what each column sorts by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.pages.words import MISSING
from benchwright.leaderboard.style import colour_of
from benchwright.leaderboard.table import website_rows


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the page: the published one behind it, its heading, what it says, and how it sorts first."""

    published: str
    heading: str
    says: str
    numeric: bool = True
    descending: bool = False


COLUMNS = (
    Column("#", "#", "Place by Elo"),
    Column("Model", "Model", "Method and variant", numeric=False),
    Column("Elo", "Elo", "Rating from all pairwise comparisons; higher is better", descending=True),
    Column("Elo 95% CI", "95% interval", "Elo when datasets are resampled; sorts by width"),
    Column("Score", "Score", "One minus the normalized error; higher is better", descending=True),
    Column("Rank", "Rank", "Mean rank; lower is better"),
    Column("Harmonic Rank", "Harm. rank", "Harmonic mean of ranks; lower is better"),
    Column("Improvability (%)", "Impro. (%)", "How far from the best result, in percent; lower is better"),
    Column("Median Train Time (s/1K)", "Train (s/1K)", "Median training time, seconds per 1,000 rows"),
    Column("Median Predict Time (s/1K)", "Predict (s/1K)", "Median inference time, seconds per 1,000 rows"),
    Column("Imputed (%)", "Imputed (%)", "Share of results taken from the fallback method"),
    Column("Verified", "Verified", "Whether the method's authors checked the results", numeric=False),
    Column("Hardware", "Hardware", "What the method was fitted on", numeric=False),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, and the number or text it sorts by; None sorts last, whichever way."""

    text: str
    sort: float | str | None


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """Where an Elo and its interval are drawn, in percent of the cell's width; a cut end is beyond the scale."""

    at: float
    low: float
    high: float
    cut_low: bool
    cut_high: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the page; ``mark`` is None where there is no Elo to draw."""

    entrant: Entrant
    colour: str
    cells: tuple[Cell, ...]
    mark: IntervalMark | None


def board_rows(
    subset: SubsetEvaluation, field: Sequence[Entrant], metadata: Mapping[Source, MethodMetadata]
) -> list[Row]:
    """The rows of the page, best Elo first; ``field`` are the subset's entrants in the same order."""
    low, high = _scale(field)
    return [
        Row(
            entrant,
            colour_of(entrant),
            tuple(_cell(column, published, entrant) for column in COLUMNS),
            _mark(entrant, low, high),
        )
        for entrant, published in zip(field, website_rows(subset.leaderboard, metadata), strict=True)
    ]


def _cell(column: Column, published: Mapping[str, str], entrant: Entrant) -> Cell:
    text = published[column.published]
    if column.published == "Model":
        return Cell(entrant.label, entrant.label.casefold())
    if column.published == "Elo 95% CI":
        if entrant.elo_plus is None or entrant.elo_minus is None:
            return Cell("none", None)
        return Cell(text, entrant.elo_plus + entrant.elo_minus)
    if not column.numeric:
        return Cell(text, text)
    number = float(text)
    return Cell(text, number) if math.isfinite(number) else Cell(MISSING, None)


def _scale(field: Sequence[Entrant]) -> tuple[float, float]:
    """The Elo at both ends of the drawn scale.

    Wide enough for the intervals, but never so wide that the ratings fill less than a third of it: of few datasets
    intervals run to thousands.
    """
    rated = [entrant for entrant in field if math.isfinite(entrant.elo)]
    if not rated:
        return 0.0, 1.0
    low, high = min(entrant.elo for entrant in rated), max(entrant.elo for entrant in rated)
    room = max(high - low, 100.0)
    lowest = min(entrant.elo - (entrant.elo_minus or 0) for entrant in rated)
    highest = max(entrant.elo + (entrant.elo_plus or 0) for entrant in rated)
    return max(lowest, low - room), min(max(highest, low + 1), high + room)


def _mark(entrant: Entrant, low: float, high: float) -> IntervalMark | None:
    if not math.isfinite(entrant.elo):
        return None
    ends = (entrant.elo - (entrant.elo_minus or 0), entrant.elo + (entrant.elo_plus or 0))

    def percent(elo: float) -> float:
        return round(4 + 92 * (min(max(elo, low), high) - low) / (high - low), 2)

    return IntervalMark(percent(entrant.elo), percent(ends[0]), percent(ends[1]), ends[0] < low, ends[1] > high)
