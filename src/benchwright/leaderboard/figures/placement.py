"""Where names go beside their points so that none covers another: greedy, and the same each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in inches."""

_NEAR = 0.075
"""Inches between a point's middle and a name right beside it."""
_FARTHER = (0.17, 0.28, 0.4, 0.55, 0.72, 0.95)
"""Inches to a name that a line leads to."""
_APART = 0.025
"""Inches that names keep from each other and from what they must not cover."""
_BEADS = 0.04
"""A leading line is kept clear as a string of small boxes so many inches apart: less than any name is high."""
_CROSSING_COST, _LINE_COST, _POINT_COST, _NAME_COST = 1.0, 8.0, 50.0, 1000.0
"""What covering costs, where a name one ring farther out costs 1; crossing is of leading lines."""
_FIRST = (0, 45, 315, 180, 90, 270, 135, 225)
"""Directions in degrees, the best one first: beside, above, below."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A name of ``width`` x ``height`` inches for the point at (``x``, ``y``); a ``needed`` one always gets in."""

    x: float
    y: float
    width: float
    height: float
    needed: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A name's box, and the end of the line that leads to it from its point, where there is one."""

    box: Box
    leader: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    box: Box
    cost: float
    leader: tuple[float, float] | None


def place_names(wishes: Sequence[Wish], bounds: Box, points: Sequence[Box], lines: Sequence[Box]) -> list[Place | None]:
    """A place for each name in ``bounds``, in the order of ``wishes``; None where it would cover a name or a point.

    Names come close to their points before they go farther out with a leading line. They avoid ``points`` and, at less
    cost, ``lines`` (thin boxes). A needed name takes the place that covers least.
    """
    marks, strokes = _array(points), _array(lines)
    names: list[Box] = []
    leaders: list[Box] = []
    places: list[Place | None] = []
    for wish in wishes:
        candidates = [candidate for candidate in _candidates(wish) if _inside(candidate.box, bounds)]
        taken, crossed = _array(names), _array(leaders)
        boxes = _array([candidate.box for candidate in candidates])
        costs = np.array([candidate.cost for candidate in candidates])
        costs = costs + _NAME_COST * _covered(boxes, taken) + _POINT_COST * _covered(boxes, marks)
        costs += _POINT_COST * _covered(boxes, crossed) + _LINE_COST * (_covered(boxes, strokes) > 0)
        for at, candidate in enumerate(candidates):
            if candidate.leader is not None and costs[at] < _POINT_COST:
                beads = _array(_beads(wish, candidate.leader))
                costs[at] += _NAME_COST * _covered(beads, taken, 0.0).sum()
                costs[at] += _POINT_COST * _covered(beads, marks).sum()
                costs[at] += _CROSSING_COST * (_covered(beads, crossed) > 0).sum()
        best = int(costs.argmin()) if len(costs) else -1
        if best < 0 or (costs[best] >= _POINT_COST and not wish.needed):
            places.append(None)
            continue
        chosen = candidates[best]
        names.append(chosen.box)
        leaders += _beads(wish, chosen.leader) if chosen.leader else []
        places.append(Place(chosen.box, chosen.leader))
    return places


def _candidates(wish: Wish) -> list[_Candidate]:
    found = [_Candidate(_box(wish, degrees, _NEAR), 0.05 * at, None) for at, degrees in enumerate(_FIRST)]
    for ring, distance in enumerate(_FARTHER, start=1):
        for degrees in np.arange(0, 360, 15):
            box = _box(wish, float(degrees), distance)
            end = (min(max(wish.x, box[0]), box[2]), min(max(wish.y, box[1]), box[3]))
            found.append(_Candidate(box, float(ring), end))
    return found


def _box(wish: Wish, degrees: float, distance: float) -> Box:
    """The name's box in a direction: its nearest edge or corner is at ``distance``."""
    across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = wish.x + distance * across, wish.y + distance * up
    left = x if across > 0.3 else x - wish.width if across < -0.3 else x - wish.width / 2
    bottom = y if up > 0.3 else y - wish.height if up < -0.3 else y - wish.height / 2
    return left, bottom, left + wish.width, bottom + wish.height


def _beads(wish: Wish, end: tuple[float, float]) -> list[Box]:
    """The leading line as small boxes, from beyond its own point's mark to the name."""
    length = math.dist((wish.x, wish.y), end)
    steps = np.arange(2 * _NEAR / 1.5, max(length, _BEADS), _BEADS) / max(length, _BEADS)
    return [
        (x, y, x, y)
        for x, y in ((wish.x + (end[0] - wish.x) * s, wish.y + (end[1] - wish.y) * s) for s in steps.tolist())
    ]


def _inside(box: Box, bounds: Box) -> bool:
    return box[0] >= bounds[0] and box[1] >= bounds[1] and box[2] <= bounds[2] and box[3] <= bounds[3]


def _covered(boxes: np.ndarray, obstacles: np.ndarray, gap: float = _APART) -> np.ndarray:
    """How many obstacles each box comes closer to than ``gap``."""
    a, b = boxes[:, None, :], obstacles[None, :, :]
    apart = (
        (a[..., 2] + gap <= b[..., 0])
        | (b[..., 2] + gap <= a[..., 0])
        | (a[..., 3] + gap <= b[..., 1])
        | (b[..., 3] + gap <= a[..., 1])
    )
    covered: np.ndarray = (~apart).sum(axis=1)
    return covered


def _array(boxes: Sequence[Box]) -> np.ndarray:
    return np.array(boxes, dtype=float).reshape(-1, 4)
