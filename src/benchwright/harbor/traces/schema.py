"""The columns of a dataset of traces, and the arrays that rows are gathered in.

The first are those of Harbor's own exporter, by its names, its ``result`` among them; ``reward`` and ``exception`` keep
apart what that one column mixes. Every text is stored once in a group of rows, however often it is said: the episodes
of a trial are the beginnings of one conversation, and grow with its length and not with its square.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pyarrow as pa

TEXTS = (
    "agent",
    "model",
    "model_provider",
    "date",
    "task",
    "episode",
    "run_id",
    "trial_name",
    "result",
    "tool_definitions",
    "instruction",
    "verifier_output",
    "trace_source",
    "step",
    "exception",
)
"""The columns of texts, any of which may be null."""


def schema(*, sharegpt: bool) -> pa.Schema:
    """What a reader sees, in this order: the conversations, the texts, the reward, and ShareGPT's form if wanted."""
    turns = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    fields = [pa.field("conversations", turns), *(pa.field(name, pa.string()) for name in TEXTS)]
    fields.append(pa.field("reward", pa.float64()))
    if sharegpt:
        pairs = pa.list_(pa.struct([("from", pa.string()), ("value", pa.string())]))
        fields.append(pa.field("conversations_sharegpt", pairs))
    return pa.schema(fields)


class Words:
    """Texts by number, each kept once. ``size`` counts their characters."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.size = 0

    def number(self, text: str) -> int:
        """The number of a text."""
        numbers = self._numbers
        known = numbers.get(text)
        if known is None:
            known = numbers[text] = len(numbers)
            self.size += len(text)
        return known

    @property
    def texts(self) -> frozenset[str]:
        """All of them."""
        return frozenset(self._numbers)

    def values(self) -> pa.StringArray:
        """The texts, by number. Arrow's own converter would import pandas, which takes a second."""
        builder = pa.lib.StringBuilder()
        builder.append_values(self._numbers)
        return builder.finish()


class TextColumn:
    """A column of texts, or of none."""

    def __init__(self) -> None:
        self._words = Words()
        self._numbers = array("i")
        self._present = array("B")

    def add(self, text: str | None) -> None:
        """One row more."""
        self._numbers.append(0 if text is None else self._words.number(text))
        self._present.append(text is not None)

    @property
    def size(self) -> int:
        """The characters of its texts, each counted once."""
        return self._words.size

    @property
    def texts(self) -> frozenset[str]:
        """The different ones."""
        return self._words.texts

    def column(self) -> pa.DictionaryArray:
        """The texts."""
        return pa.DictionaryArray.from_arrays(_plain(pa.int32(), self._numbers, self._present), self._words.values())


class NumberColumn:
    """A column of numbers, or of none."""

    def __init__(self) -> None:
        self._numbers = array("d")
        self._present = array("B")

    def add(self, number: float | None) -> None:
        """One row more."""
        self._numbers.append(number or 0.0)
        self._present.append(number is not None)

    def column(self) -> pa.DoubleArray:
        """The numbers."""
        return _plain(pa.float64(), self._numbers, self._present)


class TurnColumn:
    """A column of conversations: the numbers of the roles and of the texts of all turns, and where each one ends."""

    def __init__(self, roles: str, texts: str) -> None:
        self._names = (roles, texts)
        self._roles = array("i")
        self._texts = array("i")
        self._ends = array("i", [0])

    def add(self, roles: array[int], texts: array[int]) -> None:
        """One row more."""
        self._roles.extend(roles)
        self._texts.extend(texts)
        self._ends.append(len(self._texts))

    def __len__(self) -> int:
        """How many turns there are in all."""
        return len(self._texts)

    def column(self, roles: pa.StringArray, texts: pa.StringArray) -> pa.ListArray:
        """The conversations, given what the numbers stand for."""
        parts = [
            pa.DictionaryArray.from_arrays(_plain(pa.int32(), numbers), values)
            for numbers, values in ((self._roles, roles), (self._texts, texts))
        ]
        turns = pa.StructArray.from_arrays(parts, names=self._names)
        return pa.ListArray.from_arrays(_plain(pa.int32(), self._ends), turns)


def _plain(kind: pa.DataType, numbers: array[Any], present: array[int] | None = None) -> pa.Array:
    """Numbers as Arrow has them, null where they are not present."""
    validity = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(numbers)])
