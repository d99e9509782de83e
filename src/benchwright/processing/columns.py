"""Arrow tables out of plain rows, without pandas.

Arrow's own converters of Python lists import pandas wherever it is installed, which takes a second. These build the
buffers themselves, for the few types that result tables have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

_NUMBERS: Mapping[pa.DataType, type[np.generic]] = {pa.int64(): np.int64, pa.float64(): np.float64}


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table with a row for each mapping. Keys outside the schema are left out; a missing or None value is null.

    Raises:
        TypeError: a column is neither text, int64, float64, bool, null nor a struct of these, or a value is not of
            its column's type.
    """
    arrays = [_array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind == pa.null():
        return pa.nulls(len(values))
    if kind == pa.string():
        builder = pa.lib.StringBuilder()
        builder.append_values(values)
        return builder.finish()
    present = np.array([value is not None for value in values], dtype=bool)
    validity = None if present.all() else _bits(present)
    if pa.types.is_struct(kind):
        children = [_array([value and value.get(field.name) for value in values], field.type) for field in kind]
        return pa.Array.from_buffers(kind, len(values), [validity], children=children)
    if kind == pa.bool_():
        return pa.Array.from_buffers(kind, len(values), [validity, _bits(np.array([bool(value) for value in values]))])
    if kind not in _NUMBERS:
        raise TypeError(f"no column of type {kind}")
    numbers = np.array([0 if value is None else value for value in values], dtype=_NUMBERS[kind])
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(numbers)])


def _bits(flags: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags.astype(bool), bitorder="little"))
