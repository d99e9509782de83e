"""The errors of the three metrics that the benchmarks use, by predictions and labels as results store them.

Equal to AutoGluon's (``autogluon.core.metrics``) on predictions in the stored form. The runner scores them before it
rounds them to float32, so that what it records may be any error of a range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Labels = NDArray[Any]
_Floats = NDArray[np.floating[Any]]
_BINARY_CLIP = 1e-15
_MARGIN = np.finfo(np.float32).eps
_HALF_UNIT = 2.0**-24
"""The most, relatively, that rounding to float32 moves a number."""


def metric_error(metric: str, labels: _Labels, predictions: _Floats) -> float | None:
    """The error of ``predictions`` (n,) or (n, K) against encoded ``labels`` (n,); lower is better.

    None if the metric is none of ``roc_auc``, ``log_loss`` and ``rmse``, or is not defined on these labels.
    """
    compute = _ERRORS.get(metric)
    return compute(labels, predictions) if compute is not None and len(labels) else None


def error_range(metric: str, labels: _Labels, predictions: _Floats) -> tuple[float, float] | None:
    """The least and the most error of predictions that round to these float32 ones; for the rest see `metric_error`."""
    compute = _RANGES.get(metric)
    return compute(labels, predictions) if compute is not None and len(labels) else None


def _roc_auc_error(labels: _Labels, predictions: _Floats) -> float | None:
    """1 - AUC by the Mann-Whitney statistic, ties counting half."""
    limits = _roc_auc_range(labels, predictions)
    return None if limits is None else sum(limits) / 2


def _roc_auc_range(labels: _Labels, predictions: _Floats) -> tuple[float, float] | None:
    """All ties won, and all lost: rounding keeps the order, and so can only have made ties."""
    if predictions.ndim != 1:
        return None
    is_positive = labels == 1
    # What is sorted is found in half the time, and few predictions have ties.
    positives, negatives = np.sort(predictions[is_positive]), np.sort(predictions[~is_positive])
    pairs = len(positives) * len(negatives)
    if not pairs:
        return None
    below = negatives.searchsorted(positives)
    won = with_ties = int(below.sum())
    if (negatives.take(below, mode="clip") == positives).any():
        with_ties = int(negatives.searchsorted(positives, "right").sum())
    return 1.0 - with_ties / pairs, 1.0 - won / pairs


def _log_loss_error(labels: _Labels, predictions: _Floats) -> float | None:
    if predictions.ndim == 1:
        return _mean_log(np.clip(_of_true_class(labels, predictions), _BINARY_CLIP, 1 - _BINARY_CLIP))
    # Scikit-learn stays in the precision of the predictions, logarithms and mean included.
    margin = np.finfo(predictions.dtype).eps
    return _mean_log(np.clip(_of_true_class(labels, predictions), margin, 1 - margin))


def _log_loss_range(labels: _Labels, predictions: _Floats) -> tuple[float, float] | None:
    """Clipped as float32 and as float64 would be: a 0 of the one may be anything below the margin of the other."""
    chosen = _of_true_class(labels, predictions).astype(np.float64)
    least = _mean_log(np.maximum(chosen, _MARGIN))
    return least, least if chosen.min() >= _MARGIN else _mean_log(np.maximum(chosen, np.finfo(np.float64).eps))


def _of_true_class(labels: _Labels, predictions: _Floats) -> _Floats:
    """The probability (n,) that each row's own class got."""
    if predictions.ndim == 1:
        exact = predictions.astype(np.float64)
        return np.where(labels == 1, exact, 1 - exact)
    chosen: _Floats = predictions[np.arange(len(labels)), labels.astype(np.int64)]
    return chosen


def _mean_log(chosen: _Floats) -> float:
    return float((-np.log(chosen)).mean())


def _rmse_error(labels: _Labels, predictions: _Floats) -> float | None:
    return float(np.sqrt(((labels - predictions) ** 2).mean())) if predictions.ndim == 1 else None


def _rmse_range(labels: _Labels, predictions: _Floats) -> tuple[float, float] | None:
    error = _rmse_error(labels, predictions)
    if error is None:
        return None
    moved = _HALF_UNIT * float(np.abs(predictions).max())
    return error - moved, error + moved


_ERRORS: dict[str, Callable[[_Labels, _Floats], float | None]] = {
    "roc_auc": _roc_auc_error,
    "log_loss": _log_loss_error,
    "rmse": _rmse_error,
}
_RANGES: dict[str, Callable[[_Labels, _Floats], tuple[float, float] | None]] = {
    "roc_auc": _roc_auc_range,
    "log_loss": _log_loss_range,
    "rmse": _rmse_range,
}
