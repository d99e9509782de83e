"""Numbers in the words of the pages; what is missing is said, never shown as zero."""

from __future__ import annotations

import math
from collections.abc import Mapping

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.labels import Source

MISSING = "—"


def with_interval(value: float, plus: float | None, minus: float | None, *, digits: int = 0, unit: str = "") -> str:
    """A measure and the distances to the ends of its interval: "875 (+134/-194)"."""
    if not math.isfinite(value):
        return "missing"
    text = f"{value:.{digits}f}{unit}"
    if plus is None or minus is None:
        return f"{text} (no interval)"
    return f"{text} (+{plus:.{digits}f}/-{minus:.{digits}f})"


def seconds(value: float | None) -> str:
    """A time per 1,000 rows to three digits, or that it is missing."""
    if value is None:
        return "missing"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


def hardware(subset: SubsetEvaluation, entrant: Entrant, metadata: Mapping[Source, MethodMetadata]) -> str:
    """What an entrant's method was fitted on."""
    row = subset.leaderboard.loc[entrant.name]
    known = metadata.get((row["ta_name"], row["ta_suite"]))
    return "unknown" if known is None else known.compute.upper()
