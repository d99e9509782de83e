"""Arrow tables out of plain columns, without pandas.

Arrow's own converters of Python lists import pandas wherever it is installed, which takes a second. These build the
buffers themselves, for the few types that our tables have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

_NUMBERS: Mapping[pa.DataType, type[np.generic]] = {pa.int64(): np.int64, pa.float64(): np.float64}
Column: TypeAlias = "Sequence[Any] | np.ndarray[Any, Any] | pa.Array"


def table_of(columns: Mapping[str, Column], schema: pa.Schema) -> pa.Table:
    """A table of equally long columns; None is null. Columns outside the schema are left out.

    Raises:
        KeyError: a column of the schema is missing.
        TypeError: a column is neither text, int64, float64, bool, null nor a struct of these, or a value is not of
            its column's type.
    """
    arrays = [array_of(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def array_of(values: Column, kind: pa.DataType) -> pa.Array:
    """One column, unless it is one already. A struct's values are mappings; a numpy array of numbers has no nulls."""
    if isinstance(values, pa.Array):
        return values
    if kind == pa.null():
        return pa.nulls(len(values))
    if kind == pa.string():
        builder = pa.lib.StringBuilder()
        builder.append_values(values)
        return builder.finish()
    if isinstance(values, np.ndarray) and kind in _NUMBERS:
        return _numbers(values, kind, None)
    present = np.array([value is not None for value in values], dtype=bool)
    validity = None if present.all() else _bits(present)
    if pa.types.is_struct(kind):
        children = [array_of([value and value.get(field.name) for value in values], field.type) for field in kind]
        return pa.Array.from_buffers(kind, len(values), [validity], children=children)
    if kind == pa.bool_():
        return pa.Array.from_buffers(kind, len(values), [validity, _bits(np.array([bool(value) for value in values]))])
    if kind not in _NUMBERS:
        raise TypeError(f"no column of type {kind}")
    return _numbers([0 if value is None else value for value in values], kind, validity)


def _numbers(values: Column, kind: pa.DataType, validity: pa.Buffer | None) -> pa.Array:
    numbers = np.ascontiguousarray(values, dtype=_NUMBERS[kind])
    return pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(numbers)])


def _bits(flags: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags.astype(bool), bitorder="little"))
