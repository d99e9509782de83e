"""What the JSON of a row holds: ``metrics`` and ``stats`` come in more shapes than the one that is right."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal["null", "list", "empty", "object", "text", "other"]


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a row.

    ``shape`` is what is stored: ``list`` of ``{"name", "value"}``, the one that the leaderboard reads; ``empty``, a
    list without entries; ``object``, ``{"accuracy": x}``; ``text``, JSON within a JSON string; ``null``, or ``other``.
    ``accuracy`` is the fraction that any of them holds (the first of several), None where none does. ``accuracies`` and
    ``stderrs`` count the entries of these names.
    """

    shape: Shape
    accuracy: float | None = None
    accuracies: int = 0
    stderrs: int = 0


def metrics_of(value: Any) -> Metrics:
    """The metrics that the column ``metrics`` holds."""
    if value is None:
        return Metrics("null")
    if isinstance(value, str):
        inner = metrics_of(_parsed(value))
        return Metrics("text", inner.accuracy, inner.accuracies, inner.stderrs)
    shape: Shape = "other"
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        shape, entries = "object", list(value.items())
    elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        shape = "list" if value else "empty"
        entries = [(one.get("name"), one.get("value")) for one in value]
    accuracies = [_number(number) for name, number in entries if name == "accuracy"]
    found = next((one for one in accuracies if one is not None), None)
    return Metrics(shape, found, len(accuracies), sum(name == "accuracy_stderr" for name, _ in entries))


def stats_of(value: Any) -> Mapping[str, Any] | None:
    """The object that the column ``stats`` holds, also where it is JSON within a JSON string; None for all else."""
    if isinstance(value, str):
        value = _parsed(value)
    return value if isinstance(value, Mapping) else None


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if isinstance(value, str) else value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
