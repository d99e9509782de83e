"""The children of a bagged result: what each predicts, and the means that take the place of what was stored.

The arithmetic is the benchmark's own (accumulate in float64, store float32), so that arrays are equal to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.raw.fields import Fields, show
from benchwright.raw.result import Float32

_TEST_KEYS = ("pred_test_per_child", "pred_proba_test_per_child")
_ROWS_KEY = "val_idx_per_child"
_VAL_KEY = "pred_val_per_child"
_NO_PREDICTIONS = np.zeros(0, dtype=np.float32)
_NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Children:
    """The children of one bag of ``C``, and the means over them.

    ``test`` are C arrays like the stored test predictions, ``val_rows`` C arrays of positions into the validation
    rows. The means are shaped as the stored predictions are.
    """

    test: list[Float32]
    val_rows: list[NDArray[Any]]
    mean_test: Float32
    mean_val: Float32


def read_children(bag: Fields, val: Float32, test: Float32, y_val_index: NDArray[Any]) -> Children | None:
    """The children in ``bag_info``, each fitting the stored predictions ``val`` and ``test`` (n,) or (n, K).

    None if anything is wrong; every problem is noted in ``bag``.
    """
    before = len(bag.problems)
    test_key = _TEST_KEYS[0] if bag.has(_TEST_KEYS[0]) else _TEST_KEYS[1]
    tests = _list(bag, test_key)
    positions = _list(bag, _ROWS_KEY)
    given = _list(bag, _VAL_KEY) if bag.has(_VAL_KEY) else None
    if len(bag.problems) > before:
        return None
    if len({len(tests), len(positions), len(tests if given is None else given)}) > 1:
        bag.note("shape-mismatch", f"{len(tests)} children on test rows, {len(positions)} on val rows", "one number")
        return None
    on_test = [_predictions(bag, f"{test_key}[{child}]", raw, test.shape) for child, raw in enumerate(tests)]
    if given is None and len(positions) == 1:
        positions = [_as_positions(bag, positions[0], y_val_index)]
    val_rows = [_positions(bag, child, raw) for child, raw in enumerate(positions)]
    every = _every_row(bag, val_rows, len(val))
    if len(bag.problems) > before:
        return None
    on_val = [
        _predictions(bag, f"{_VAL_KEY}[{child}]", raw, (len(rows), *val.shape[1:]))
        for child, (raw, rows) in enumerate(zip(given or (), val_rows, strict=False))
    ]
    covered = _times_covered(bag, val_rows, every, len(val))
    if len(bag.problems) > before:
        return None
    # Children that are cut from the stored predictions cannot have another mean (adding 0 turns -0 into 0, as sums do).
    mean_val = val + np.float32(0) if given is None else _mean_on_val(val_rows, on_val, covered)
    mean_test = _mean_on_test(on_test)
    for key, mean in ((_VAL_KEY, mean_val), (test_key, mean_test)):
        if not np.isfinite(mean).all():
            bag.note("not-finite", f"{bag.prefix}{key} has NaN or infinite values", "finite numbers")
    return None if len(bag.problems) > before else Children(on_test, val_rows, mean_test, mean_val)


def _list(bag: Fields, key: str) -> list[Any]:
    value = bag.source.get(key)
    if isinstance(value, list | tuple) and value:
        return list(value)
    if bag.has(key):
        bag.note("wrong-type", f"{bag.prefix}{key} is {show(value)}", "a list with one array a child")
    else:
        bag.note("missing-key", f"no {bag.prefix}{key}", "a list with one array a child")
    return []


def _predictions(bag: Fields, key: str, raw: Any, shape: tuple[int, ...]) -> Float32:
    array = bag.array(key, raw, "f", (len(shape),))
    if array is None:
        return _NO_PREDICTIONS
    if array.shape != shape:
        bag.note("shape-mismatch", f"{bag.prefix}{key} has shape {array.shape}", f"{shape}")
    return array.astype(np.float32, copy=False)


def _positions(bag: Fields, child: int, raw: Any) -> NDArray[Any]:
    array = bag.array(f"{_ROWS_KEY}[{child}]", raw, "iu")
    return _NO_ROWS if array is None else array


def _as_positions(bag: Fields, raw: Any, y_val_index: NDArray[Any]) -> Any:
    """The rows of an only child: AutoGluon before 1.6.2 stored row ids there, which become positions here."""
    at = bag.array(f"{_ROWS_KEY}[0]", raw, "iu")
    if at is None or np.array_equal(at, np.arange(len(y_val_index))):
        return raw
    position = {row: place for place, row in enumerate(y_val_index.tolist())}
    try:
        return np.array([position[row] for row in at.tolist()], dtype=np.int64)
    except KeyError:
        bag.note("contradiction", f"{bag.prefix}{_ROWS_KEY}[0] names rows that y_val_idx lacks", "rows of y_val_idx")
        return _NO_ROWS


def all_rows(val_rows: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """The positions of all children one after another, of whatever integer types they are."""
    return np.concatenate(val_rows, dtype=np.int64, casting="unsafe")


def _every_row(bag: Fields, val_rows: list[NDArray[Any]], rows: int) -> NDArray[np.int64]:
    """The positions of all children, noting those that are none of so many ``rows``."""
    every = all_rows(val_rows)
    if len(every) and (every.min() < 0 or every.max() >= rows):
        for child, at in enumerate(val_rows):
            if len(at) and (at.min() < 0 or at.max() >= rows):
                found = f"{bag.prefix}{_ROWS_KEY}[{child}] goes from {at.min()} to {at.max()}"
                bag.note("shape-mismatch", found, f"positions from 0 to {rows - 1}")
    return every


def _times_covered(bag: Fields, val_rows: list[NDArray[Any]], every: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """How many children predict each validation row: (n,)."""
    covered = np.bincount(every, minlength=rows)
    if covered.max() > 1:  # a child may name a row twice, and counts once all the same
        covered = np.zeros(rows, dtype=np.int64)
        for at in val_rows:
            covered[at] += 1
    if missing := int(np.count_nonzero(covered == 0)):
        bag.note("shape-mismatch", f"{missing:,} of {rows:,} val rows are in no child", "every row in a child")
    return covered


def _mean_on_val(val_rows: list[NDArray[Any]], on_val: list[Float32], covered: NDArray[np.int64]) -> Float32:
    total = np.zeros((len(covered), *on_val[0].shape[1:]), dtype=np.float64)
    for at, predicted in zip(val_rows, on_val, strict=True):
        total[at] += predicted
    mean: Float32 = (total / (covered if total.ndim == 1 else covered[:, None])).astype(np.float32)
    return mean


def _mean_on_test(on_test: list[Float32]) -> Float32:
    total = np.zeros(on_test[0].shape, dtype=np.float64)
    for predicted in on_test:
        total += predicted
    mean: Float32 = (total / len(on_test)).astype(np.float32)
    return mean
