"""The simulation artifacts of a result, aligned: children replace what was stored, and everything fits together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.raw.children import read_children
from benchwright.raw.fields import Fields, show
from benchwright.raw.result import Float32, Predictions, ProblemType

VAL_TOLERANCE, TEST_TOLERANCE = 1e-5, 5e-4
_ABSOLUTE_TOLERANCE = 1e-8
_LABELS = (str, int, float, np.generic)


@dataclass(frozen=True, slots=True)
class Aligned:
    """What the artifacts gave: the predictions, the stored ones of both parts, and the shares not close.

    ``scored`` says that the stored ones are those that the runner scored: a copy that was aligned before stores means.
    """

    predictions: Predictions
    stored_val: Float32
    stored_test: Float32
    scored: bool
    not_close: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one part, ``val`` or ``test``: encoded labels and original row ids, both (n,)."""

    y: NDArray[Any]
    index: NDArray[Any]


def align_predictions(sim: Fields, framework: str, problem_type: ProblemType) -> Aligned | None:
    """Aligned predictions out of ``simulation_artifacts`` (already taken out of an old layout's nesting).

    None if anything is wrong; every problem is noted in ``sim``.
    """
    before = len(sim.problems)
    val = _stored(sim, "val", framework, problem_type)
    test = _stored(sim, "test", framework, problem_type)
    rows_val = _rows(sim, "val", val, problem_type)
    rows_test = _rows(sim, "test", test, problem_type)
    if val is None or test is None or rows_val is None or rows_test is None:
        return None
    if val.ndim != test.ndim or val.shape[1:] != test.shape[1:]:
        sim.note("shape-mismatch", f"pred_val {val.shape} and pred_test {test.shape}", "as many classes in both")
        return None
    num_classes, labels = _classes(sim, problem_type, val)
    _check_labels(sim, rows_val, rows_test, num_classes)
    children = None
    if sim.source.get("bag_info") is not None:
        children = read_children(sim.inside("bag_info", sim.mapping("bag_info")), val, test, rows_val.index)
    if len(sim.problems) > before:
        return None
    predictions = Predictions(
        val=children.mean_val if children else val,
        test=children.mean_test if children else test,
        y_val=rows_val.y,
        y_test=rows_test.y,
        y_val_index=rows_val.index,
        y_test_index=rows_test.index,
        label=_plain_label(sim.source.get("label", "")),
        num_classes=num_classes,
        class_labels=labels,
        test_per_child=children.test if children else (),
        val_rows_per_child=children.val_rows if children else (),
    )
    shares = {
        "VAL": _share_not_close(predictions.val, val, VAL_TOLERANCE),
        "TEST": _share_not_close(predictions.test, test, TEST_TOLERANCE),
    }
    not_close = {part: share for part, share in shares.items() if share}
    return Aligned(predictions, val, test, sim.has("pred_proba_dict_test"), not_close)


def _stored(sim: Fields, part: str, framework: str, problem_type: ProblemType) -> Float32 | None:
    """The stored predictions of a part: ``pred_*`` as aligned files have it, or the entry of ``pred_proba_dict_*``."""
    key = f"pred_{part}"
    by_name = f"pred_proba_dict_{part}"
    if sim.has(by_name):
        before = len(sim.problems)
        entries = sim.mapping(by_name, needed=True)
        if len(sim.problems) > before:
            return None
        if framework not in entries:
            names = ", ".join(show(name) for name in list(entries)[:3]) or "nothing"
            sim.note("contradiction", f"{sim.prefix}{by_name} is of {names}", f"predictions of {framework}")
            return None
        key, value = f"{by_name}[{framework}]", entries[framework]
    elif sim.has(key):
        value = sim.source[key]
    else:
        sim.note("missing-key", f"no {sim.prefix}{by_name}", "predictions")
        return None
    shapes = {"regression": (1,), "binary": (1, 2), "multiclass": (2,)}[problem_type]
    return _floats(sim, key, value, shapes)


def _floats(fields: Fields, key: str, value: Any, shapes: tuple[int, ...]) -> Float32 | None:
    """Finite float32 predictions; of two columns of binary probabilities the second."""
    array = fields.array(key, value, "f", shapes)
    if array is None:
        return None
    if array.ndim == 2 and 1 in shapes:
        if array.shape[1] != 2:
            fields.note("shape-mismatch", f"{fields.prefix}{key} has shape {array.shape}", "(n,) or (n, 2) for binary")
            return None
        array = array[:, 1]
    array = array.astype(np.float32, copy=False)
    if not np.isfinite(array).all():
        bad = int(array.size - np.count_nonzero(np.isfinite(array)))
        fields.note(
            "not-finite", f"{fields.prefix}{key} has {bad:,} NaN or infinite of {array.size:,}", "finite numbers"
        )
        return None
    return array


def _rows(sim: Fields, part: str, stored: Float32 | None, problem_type: ProblemType) -> _Rows | None:
    """Labels and row ids of a part, as many as it has predictions."""
    labels = _needed_array(sim, f"y_{part}", "f" if problem_type == "regression" else "biu")
    index = _needed_array(sim, f"y_{part}_idx", "iuSUO")
    if labels is None or index is None:
        return None
    if index.dtype.hasobject and not all(type(row) in (str, int) for row in index.tolist()):
        sim.note("wrong-type", f"{sim.prefix}y_{part}_idx holds objects", "numbers or texts as row ids")
        return None
    if stored is not None and not len(labels) == len(index) == len(stored):
        found = f"{len(stored):,} predictions, {len(labels):,} labels and {len(index):,} row ids on {part} rows"
        sim.note("shape-mismatch", found, "as many of each")
        return None
    if not len(labels):
        sim.note("shape-mismatch", f"no {part} rows", "at least one row")
        return None
    if problem_type == "regression":
        labels = labels.astype(np.float64, copy=False)
        if not np.isfinite(labels).all():
            sim.note("not-finite", f"{sim.prefix}y_{part} has NaN or infinite values", "finite targets")
    return _Rows(labels, index)


def _needed_array(sim: Fields, key: str, kinds: str) -> NDArray[Any] | None:
    if not sim.has(key):
        sim.note("missing-key", f"no {sim.prefix}{key}", "an array")
        return None
    return sim.array(key, sim.source[key], kinds)


def _classes(sim: Fields, problem_type: ProblemType, val: Float32) -> tuple[int | None, list[Any] | None]:
    """Number of classes and original labels; old files lack them, and get 0 to K-1."""
    if problem_type == "regression":
        return None, None
    count = 2 if problem_type == "binary" else val.shape[1]
    if sim.source.get("num_classes") is not None and sim.count("num_classes") != count:
        sim.note("contradiction", f"{sim.prefix}num_classes is {show(sim.source['num_classes'])}", f"{count}")
    labels = sim.source.get("ordered_class_labels")
    if labels is None:
        return count, list(range(count))
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    if not isinstance(labels, list | tuple) or len(labels) != count:
        sim.note("wrong-type", f"{sim.prefix}ordered_class_labels is {show(labels)}", f"a list of {count} labels")
        return count, None
    return count, [label if isinstance(label, _LABELS) else show(label) for label in labels]


def _plain_label(label: Any) -> str:
    """The target column's name; a column may be named by a number."""
    return label if type(label) is str else show(label)


def _check_labels(sim: Fields, val: _Rows, test: _Rows, num_classes: int | None) -> None:
    if num_classes is None:
        return
    for part, rows in (("val", val), ("test", test)):
        low, high = int(rows.y.min()), int(rows.y.max())
        if low < 0 or high >= num_classes:
            found = f"{sim.prefix}y_{part} goes from {low} to {high}"
            sim.note("label-out-of-range", found, f"labels from 0 to {num_classes - 1}")


def _share_not_close(mean: Float32, stored: Float32, tolerance: float) -> float:
    """Share of entries further from the stored ones than ``np.isclose`` allows with this relative tolerance."""
    if np.array_equal(mean, stored):
        return 0.0
    close = np.abs(mean - stored) <= _ABSOLUTE_TOLERANCE + tolerance * np.abs(stored)
    return float(1 - close.mean())
