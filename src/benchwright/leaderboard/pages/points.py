"""The points of a Pareto chart: every entrant that has a time, and everything that is known of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.pages.words import hardware, seconds, with_interval
from benchwright.leaderboard.style import SYMBOLS, colour_of, shortened_apart

Time = Literal["time_infer", "time_train"]
_WIDE, _NARROW = 34, 24
"""Characters of a name in the chart, by the width of the screen."""


TIMES: dict[Time, str] = {"time_infer": "Inference time", "time_train": "Training time"}


def point_data(
    subset: SubsetEvaluation, field: Sequence[Entrant], metadata: Mapping[Source, MethodMetadata], time: Time
) -> dict[str, Any]:
    """The chart's data, ready for JSON: ``points``, best Elo first, and the labels that have no place on it.

    A point's measures are a value and its interval, its ``names`` are for wide and narrow screens, its ``facts`` the
    words of the hover box and of the table.
    """
    labels = [entrant.label for entrant in field]
    wide, narrow = shortened_apart(labels, _WIDE), shortened_apart(labels, _NARROW)
    points = []
    hidden = []
    for entrant in field:
        seconds_per_1k: float | None = getattr(entrant, time)
        if seconds_per_1k is None or not math.isfinite(entrant.elo) or not math.isfinite(entrant.improvability):
            hidden.append(entrant.label)
            continue
        points.append(
            {
                "label": entrant.label,
                "names": [wide[entrant.label], narrow[entrant.label]],
                "variant": entrant.variant,
                "group": "new" if entrant.new else entrant.family,
                "isNew": entrant.new,
                "colour": colour_of(entrant),
                "symbol": SYMBOLS[entrant.variant],
                "time": seconds_per_1k,
                "elo": [entrant.elo, entrant.elo_plus, entrant.elo_minus],
                "improvability": [entrant.improvability, entrant.improvability_plus, entrant.improvability_minus],
                "facts": _facts(entrant, hardware(subset, entrant, metadata)),
            }
        )
    return {"points": points, "hidden": hidden, "axis": f"{TIMES[time]} (seconds per 1,000 rows, median)"}


def _facts(entrant: Entrant, hardware: str) -> dict[str, str]:
    return {
        "Elo": with_interval(entrant.elo, entrant.elo_plus, entrant.elo_minus),
        "Improvability": with_interval(
            entrant.improvability, entrant.improvability_plus, entrant.improvability_minus, digits=2, unit="%"
        ),
        "Training": seconds(entrant.time_train),
        "Inference": seconds(entrant.time_infer),
        "Imputed": f"{100 * entrant.imputed:.2f}%" if entrant.imputed else "none",
        "Hardware": hardware,
        "Family": entrant.family,
    }
