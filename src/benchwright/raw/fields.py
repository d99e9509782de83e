"""Typed access to a mapping out of a pickle, noting every problem instead of stopping at the first."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from benchwright.arena.names import FOLDER_NAME, can_name_folder
from benchwright.contract import Problem
from benchwright.raw.rebuild import plain_array
from benchwright.raw.stand_in import StandIn, StandInType

_MAX_NODES = 200_000
_MAX_DEPTH = 100
_KINDS = {"f": "floats", "iu": "integers", "biu": "integers"}
_CONTAINERS = (list, tuple, set, frozenset)
_SCALARS = frozenset({str, int, float, bool, type(None)})
AGAIN = "run this item again"


class Fields:
    """The entries of one mapping of a result file.

    ``prefix`` names the mapping in messages (``task_metadata.``). Every getter returns a value of the right type; where
    the entry is missing or wrong it notes a problem and returns a neutral one, so that reading goes on to the next.
    """

    def __init__(self, source: Mapping[Any, Any], where: str, problems: list[Problem], prefix: str = "") -> None:
        self.source = source
        self.where = where
        self.problems = problems
        self.prefix = prefix

    def inside(self, key: str, source: Mapping[Any, Any]) -> Fields:
        """The fields of a mapping in this one, noting into the same list."""
        return Fields(source, self.where, self.problems, f"{self.prefix}{key}.")

    def note(self, code: str, found: str, expected: str, fix: str = AGAIN) -> None:
        """Note a problem of this file."""
        self.problems.append(Problem(code, self.where, found, expected, fix))

    def has(self, key: str) -> bool:
        """Whether there is an entry, whatever it holds."""
        return key in self.source

    def name(self, key: str) -> str:
        """A text that may become a folder's name, see `can_name_folder`."""
        value = self.text(key)
        if value and not can_name_folder(value):
            self.note("bad-name", f"{self.prefix}{key} is {show(value)}", FOLDER_NAME)
        return value

    def text(self, key: str) -> str:
        """A text that is not empty."""
        value = self._get(key, "a text")
        if isinstance(value, str) and value:
            return str(value)
        self._wrong(key, value, "a text")
        return ""

    def number(self, key: str) -> float:
        """A finite number."""
        value = self._get(key, "a number")
        if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
            number = _float(value)
            if not math.isfinite(number):
                self.note("not-finite", f"{self.prefix}{key} is {number}", "a finite number")
            return number
        self._wrong(key, value, "a number")
        return math.nan

    def count(self, key: str) -> int:
        """A whole number from 0."""
        value = self._get(key, "a whole number from 0")
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 2**63:
            return int(value)
        self._wrong(key, value, "a whole number from 0")
        return 0

    def mapping(self, key: str, *, needed: bool = False) -> dict[Any, Any]:
        """A mapping; an empty one where it may be missing and is, or is None."""
        value = self._get(key, "a mapping") if needed else self.source.get(key)
        if isinstance(value, dict) and not isinstance(value, StandIn):
            return value
        if needed or value is not None:
            self._wrong(key, value, "a mapping")
        return {}

    def array(self, key: str, value: Any, kinds: str, shapes: Iterable[int] = (1,)) -> np.ndarray[Any, Any] | None:
        """``value`` as an ordinary array, if it has one of these dtype kinds and numbers of dimensions."""
        if isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim in shapes:
            return plain_array(value)
        sides = " or ".join(f"{count}-dimensional" for count in shapes)
        self._wrong(key, value, f"a {sides} array of {_KINDS.get(kinds, 'numbers or texts')}")
        return None

    def _get(self, key: str, expected: str) -> Any:
        if key not in self.source:
            self.note("missing-key", f"no {self.prefix}{key}", expected)
            return _MISSING
        return self.source[key]

    def _wrong(self, key: str, value: Any, expected: str) -> None:
        if value is _MISSING:
            return
        if isinstance(value, StandIn):
            self.note(
                "unsupported-object",
                f"{self.prefix}{key} is an object of {value.origin}",
                f"{expected} (objects are what the first versions of the runner stored)",
            )
        else:
            self.note("wrong-type", f"{self.prefix}{key} is {show(value)}", expected)


_MISSING = object()


def show(value: Any) -> str:
    """A value in a message: short, printable, and never the repr of something large or nested."""
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int) and abs(value) < 10**20:
        return str(value)
    if isinstance(value, str):
        return f"{str(value)!a}" if len(value) <= 60 else f"{value[:60]!a}..."
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    if isinstance(value, StandInType):
        return f"the class {value.origin}"
    if isinstance(value, StandIn):
        return f"an object of {value.origin}"
    return f"a value of type {type(value).__name__}"


def text_in(source: Mapping[str, Any], key: str) -> str | None:
    """The text under a key of a result's metadata; None for anything else."""
    value = source.get(key)
    return str(value) if isinstance(value, str) else None


def number_in(source: Mapping[str, Any], key: str) -> float | None:
    """The number under a key of a result's metadata; None for anything else."""
    value = source.get(key)
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def too_large(values: Iterable[Any]) -> str | None:
    """Why these values cannot be walked by others (written as JSON, compared, printed), or None.

    A pickle may hold a list that holds one list twice, thirty times over: small in memory, a billion lists to a walker.
    """
    level = list(values)
    nodes = 0
    for _ in range(_MAX_DEPTH):
        if not level:
            return None
        below: list[Any] = []
        for value in level:
            if type(value) in _SCALARS:  # nearly all of them
                continue
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, _CONTAINERS):
                below.extend(value)
            if nodes + len(below) > _MAX_NODES:
                return f"more than {_MAX_NODES:,} values"
        nodes += len(below)
        level = below
    return f"values nested more than {_MAX_DEPTH} deep"


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
