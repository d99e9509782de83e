"""Log loss, in the space of the true class's probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.processing.ensemble.compiled import run
from benchwright.processing.ensemble.rows import CLOSE, Float32, Float64, Indices, MetricRows, Step

_SMALLEST = 1e-15


class LogLossRows(MetricRows):
    """Class codes 0..K-1; predictions are probabilities, (n,) of the positive class or (n, K)."""

    metric = "log_loss"

    def __init__(self, labels: NDArray[Any]) -> None:
        super().__init__(labels)
        if not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
            raise self.refusal(f"labels of type {labels.dtype}, lowest {labels.min()}", "class codes 0, 1, ...")

    def _reduce(self, prediction: NDArray[Any]) -> Float32:
        """The probability of the true class, clipped in float64 to [1e-15, 1 - 1e-15], then cast."""
        classes = 2 if prediction.ndim == 1 else prediction.shape[1]
        if prediction.ndim > 2 or self.labels.max() >= classes:
            raise self.refusal(f"predictions of {classes} classes, class code {self.labels.max()}", "a column a class")
        if prediction.ndim == 1:
            true = np.where(self.labels.astype(bool), prediction, 1 - prediction)
        else:
            true = prediction[np.arange(len(self)), self.labels]
        return np.clip(true.astype(np.float64), _SMALLEST, 1 - _SMALLEST).astype(np.float32)

    def error(self, mix: NDArray[Any]) -> float:
        """The mean negative logarithm."""
        return float(-np.log(mix.astype(np.float64)).mean())

    def scorer(self, candidates: Float32) -> LogLossScorer:
        """A scorer of candidates (m, n)."""
        return LogLossScorer(self, candidates)


class LogLossScorer:
    """Errors of candidates. A mix of sure predictions can exceed one by its rounding, so errors may be negative."""

    never_negative = False

    def __init__(self, rows: LogLossRows, candidates: Float32) -> None:
        self.alone: Float64 = np.array([rows.error(candidate) for candidate in candidates])
        self._candidates = np.ascontiguousarray(candidates)

    def errors(self, order: Indices, mean: Float64, counts: Indices, *, rounded: bool) -> Float64:
        """See ``Scorer``."""
        # Twice: rounding may lift the bound and lower the best so far.
        step = Step.after(int(counts.sum()), mean, close=2 * CLOSE)
        errors: Float64 = run("log_loss_errors", self._candidates, order, step, mean, not rounded)
        return errors
