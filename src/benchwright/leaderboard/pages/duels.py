"""Who beats whom: the win rates between the variants that stand for their methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.style import colour_of, shortened_apart
from benchwright.leaderboard.winrates import representatives

_WIDE, _NARROW = 28, 15
"""Characters of a row's name beside the heat map, by the width of the screen."""


def duel_data(subset: SubsetEvaluation, field: Sequence[Entrant]) -> dict[str, Any]:
    """The page's data, ready for JSON: ``methods``, best mean first, and ``rates`` row against column in percent.

    A rate is None on the diagonal and where there is none. A method's ``mean`` is over its rates, its ``names`` are for
    wide and narrow screens.
    """
    known = {entrant.name: entrant for entrant in field}
    shown = [name for name in subset.winrates.index if name in known]
    matrix = representatives(subset.winrates.loc[shown, shown], subset.leaderboard)
    rates = [[_percent(value) for value in row] for row in matrix.to_numpy()]
    chosen = [known[name] for name in matrix.index]
    labels = [entrant.label.replace("(tuned + ensemble)", "(T+E)") for entrant in chosen]
    wide = shortened_apart(labels, _WIDE)
    narrow = shortened_apart([entrant.method for entrant in chosen], _NARROW)
    methods = [
        {
            "label": label,
            "names": [wide[label], narrow[entrant.method]],
            "isNew": entrant.new,
            "colour": colour_of(entrant),
            "mean": _mean([rate for rate in row if rate is not None]),
        }
        for entrant, label, row in zip(chosen, labels, rates, strict=True)
    ]
    return {"methods": methods, "rates": rates}


def _mean(rates: Sequence[float]) -> float | None:
    return sum(rates) / len(rates) if rates else None


def _percent(value: float) -> float | None:
    return round(100 * float(value), 4) if math.isfinite(value) else None
