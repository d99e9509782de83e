"""A leaderboard's rows as charts show them: one entrant per method variant."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.families import family_of
from benchwright.leaderboard.labels import Source

if TYPE_CHECKING:
    from benchwright.leaderboard.evaluation import SubsetEvaluation

VARIANTS = ("default", "tuned", "tuned + ensemble")
"""The variants of a config family, in the order in which charts put them side by side."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One method variant of a leaderboard.

    ``name`` is unique in the leaderboard, ``label`` is what people read: ``method``, and the ``variant`` in brackets
    where there is one ("" for a baseline, a system or a single config). ``new`` marks the run's own. ``elo_plus`` and
    ``elo_minus`` are the distances to the ends of the 95% interval, None where there is no interval;
    ``improvability`` is in percent, lower is better, with its interval alike. ``time_train`` and ``time_infer`` are
    medians in seconds per 1,000 rows, None where they are missing, infinite or not positive. ``imputed`` is a share
    from 0 to 1. ``source`` is the method's own identity, since two methods may share a label.
    """

    name: str
    label: str
    method: str
    variant: str
    family: str
    new: bool
    elo: float
    elo_plus: float | None
    elo_minus: float | None
    improvability: float
    improvability_plus: float | None
    improvability_minus: float | None
    time_train: float | None
    time_infer: float | None
    imputed: float
    source: Source


def entrants(
    subset: SubsetEvaluation, metadata: Mapping[Source, MethodMetadata], new: Collection[Source]
) -> tuple[Entrant, ...]:
    """The entrants of one subset, best Elo first; a method whose every result is imputed is none."""
    board = subset.leaderboard
    ranked = board[board["imputed"] < 1].sort_values("elo", ascending=False, kind="stable")
    several = subset.n_datasets > 1  # one dataset leaves nothing to resample
    found = []
    for name, row in ranked.iterrows():
        source = (row["ta_name"], row["ta_suite"])
        method, variant = _parts(str(row["method"]))
        found.append(
            Entrant(
                name=str(name),
                label=str(row["method"]),
                method=method,
                variant=variant,
                family=family_of(metadata.get(source)),
                new=source in new,
                elo=float(row["elo"]),
                elo_plus=_finite(row["elo+"]) if several else None,
                elo_minus=_finite(row["elo-"]) if several else None,
                improvability=100 * float(row["improvability"]),
                improvability_plus=_finite(100 * row["improvability+"]) if several else None,
                improvability_minus=_finite(100 * row["improvability-"]) if several else None,
                time_train=_positive(row["median_time_train_s_per_1K"]),
                time_infer=_positive(row["median_time_infer_s_per_1K"]),
                imputed=float(row["imputed"]),
                source=source,
            )
        )
    return tuple(found)


def pareto_front(points: Collection[tuple[float, float]]) -> list[int]:
    """The positions of the points that no other one beats, from left to right.

    A point is (x, y), less of x and more of y is better; of equal points the first one counts.
    """
    order = sorted(enumerate(points), key=lambda item: (item[1][0], -item[1][1], item[0]))
    front: list[int] = []
    best = -math.inf
    for index, (_, y) in order:
        if y > best:
            front.append(index)
            best = y
    return front


def _parts(label: str) -> tuple[str, str]:
    """The method and the variant in a label: "LightGBM (tuned)" is of LightGBM."""
    for variant in VARIANTS:
        if label.endswith(f" ({variant})"):
            return label.removesuffix(f" ({variant})"), variant
    return label, ""


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _positive(value: float) -> float | None:
    return float(value) if math.isfinite(value) and value > 0 else None
