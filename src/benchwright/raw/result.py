"""One result of one method on one split, aligned: what every later step reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
ProblemType = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True, slots=True)
class Predictions:
    """A config's predictions on its validation and test rows, in label-encoded space.

    Shapes, with ``n`` rows, ``K`` classes and ``C`` bagged children: ``val`` and ``test`` are ``(n,)`` float32 for
    binary (the positive class' probability) and regression, ``(n, K)`` for multiclass. ``y_val`` and ``y_test`` hold
    integer codes or float64 targets, ``y_*_index`` the original row ids. ``val_rows_per_child`` are positions into
    ``y_val``; the two per-child sequences are empty for a result without bagging.
    """

    val: Float32
    test: Float32
    y_val: NDArray[Any]
    y_test: NDArray[Any]
    y_val_index: NDArray[Any]
    y_test_index: NDArray[Any]
    label: str
    num_classes: int | None
    class_labels: Sequence[Any] | None = None
    test_per_child: Sequence[Float32] = ()
    val_rows_per_child: Sequence[NDArray[np.integer[Any]]] = ()

    @property
    def is_bagged(self) -> bool:
        """Whether the result records its children (holdout results do not)."""
        return bool(self.val_rows_per_child)


@dataclass(frozen=True, slots=True)
class Result:
    """One aligned ``results.pkl``.

    Errors are lower-is-better in the metric's own unit, times are seconds. ``split`` is the split index that every
    table calls ``fold``; ``repeat`` and ``fold`` are the raw coordinates. ``kind`` is ``config`` for a result with
    predictions and ``baseline`` for one without (systems, full AutoGluon, outer fits).
    """

    path: Path
    framework: str
    dataset: str
    tid: int
    repeat: int
    fold: int
    split: int
    problem_type: ProblemType
    metric: str
    metric_error: float
    metric_error_val: float | None
    time_train_s: float
    time_infer_s: float
    kind: Literal["config", "baseline"]
    method_metadata: Mapping[str, Any] = field(default_factory=dict)
    experiment_metadata: Mapping[str, Any] = field(default_factory=dict)
    memory_usage: Mapping[str, Any] = field(default_factory=dict)
    predictions: Predictions | None = None
    warnings: Sequence[str] = ()
    """Findings that do not fail a result, such as stored predictions that differ from their children's mean."""
    not_close: Mapping[str, float] = field(default_factory=dict)
    """Share of the stored predictions, by part (``VAL``, ``TEST``), that are not close to their children's mean."""
