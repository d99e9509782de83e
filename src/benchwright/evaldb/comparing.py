"""Whether a row holds what it should, for JSON that two servers print in different forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

_LONGEST = 60
_PADDED = frozenset({"agent_version_hash", "benchmark_version_hash"})
"""Columns of the type char(64), in which shorter texts come back with blanks behind them."""


def holds(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row has every value of ``wanted``."""
    return all(column in row and same(row[column], value, column) for column, value in wanted.items())


def differences(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What a row has in place of the values of ``wanted``, in words."""
    for column, value in wanted.items():
        if column not in row:
            yield f"it has no {column}"
        elif not same(row[column], value, column):
            yield f"{column} is {_shown(row[column])}, and not {_shown(value)}"


def same(stored: Any, wanted: Any, column: str) -> bool:
    """Whether a stored value of a column is the one that is wanted: the same JSON, or where times are the same time."""
    if isinstance(stored, str) and isinstance(wanted, str):
        if column in _PADDED:
            return stored.rstrip(" ") == wanted.rstrip(" ")
        return stored == wanted or (_has_times(column) and _is_moment(stored, wanted))
    return _is_same_json(stored, wanted)


def _is_same_json(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same_json, one, other))
    if isinstance(one, bool) != isinstance(other, bool):  # True == 1 in Python alone
        return False
    return bool(one == other) or _is_same_float(one, other)


def _is_same_float(one: Any, other: Any) -> bool:
    """Whether a number is a float that was written out: beyond 10**22 its digits are not all its own."""
    if {type(one), type(other)} != {int, float}:
        return False
    try:
        return float(one) == float(other)
    except OverflowError:
        return False


def _has_times(column: str) -> bool:
    return column.endswith(("_at", "_time", "_start", "_end"))


def _is_moment(one: str, other: str) -> bool:
    try:
        times = [datetime.fromisoformat(text) for text in (one, other)]
        return times[0] == times[1]
    except ValueError:
        return False


def _shown(value: Any) -> str:
    text = repr(value) if value is not None else "NULL"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
