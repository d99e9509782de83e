"""Numbers as results hold them: any JSON number, and whatever else stands where one belongs."""

from __future__ import annotations

import math
from typing import Any

_MOST = 2**40
"""No trial has as many of anything; sums of smaller counts can be packed."""


def count(value: Any) -> int | None:
    """The count that a field holds, None where it holds none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        return None
    return int(value) if value == int(value) else None


def as_score(score: float | None) -> str:
    """A score for people, to four digits behind the point, or that there is none; a float may have 309 before it."""
    if score is None:
        return "—"
    return f"{score:.4f}" if abs(score) < 1e6 else f"{score:.4g}"


def finite(value: Any) -> float | None:
    """The number that a field holds, None where it holds none or one that no float is. ``true`` is 1, as for Harbor."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:  # JSON has whole numbers of any length
        return None
    return found if math.isfinite(found) else None
