"""The errors of the three metrics that the benchmarks use, for results that do not record their validation error.

Equal to AutoGluon's (``autogluon.core.metrics``) on predictions in the stored form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BINARY_CLIP = 1e-15


def metric_error(metric: str, labels: NDArray[Any], predictions: NDArray[np.floating[Any]]) -> float | None:
    """The error of ``predictions`` (n,) or (n, K) against encoded ``labels`` (n,); lower is better.

    None if the metric is none of ``roc_auc``, ``log_loss`` and ``rmse``, or is not defined on these labels.
    """
    compute = _ERRORS.get(metric)
    return compute(labels, predictions) if compute is not None and len(labels) else None


def _roc_auc_error(labels: NDArray[Any], predictions: NDArray[np.floating[Any]]) -> float | None:
    """1 - AUC by the Mann-Whitney statistic, ties counting half."""
    positives = int(np.count_nonzero(labels == 1))
    negatives = len(labels) - positives
    if predictions.ndim != 1 or not positives or not negatives:
        return None
    _, inverse, counts = np.unique(predictions, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[inverse]
    won = ranks[labels == 1].sum() - positives * (positives + 1) / 2
    return float(1.0 - won / (positives * negatives))


def _log_loss_error(labels: NDArray[Any], predictions: NDArray[np.floating[Any]]) -> float | None:
    if predictions.ndim == 1:
        clipped = np.clip(predictions.astype(np.float64), _BINARY_CLIP, 1 - _BINARY_CLIP)
        chosen = np.where(labels == 1, clipped, 1 - clipped)
    else:
        margin = np.finfo(predictions.dtype).eps
        # Scikit-learn stays in the precision of the predictions, logarithms and mean included.
        chosen = np.clip(predictions, margin, 1 - margin)[np.arange(len(labels)), labels.astype(np.int64)]
    return float((-np.log(chosen)).mean())


def _rmse_error(labels: NDArray[Any], predictions: NDArray[np.floating[Any]]) -> float | None:
    return float(np.sqrt(((labels - predictions) ** 2).mean())) if predictions.ndim == 1 else None


_ERRORS: dict[str, Callable[[NDArray[Any], NDArray[np.floating[Any]]], float | None]] = {
    "roc_auc": _roc_auc_error,
    "log_loss": _log_loss_error,
    "rmse": _rmse_error,
}
