"""Root mean squared error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.processing.ensemble.rows import Float32, Float64, Indices, MetricRows, Step

_ROWS_AT_ONCE = 8192
_FLOAT32_HALF_STEP = 2.0**-24


class RmseRows(MetricRows):
    """Numeric labels and predictions, both (n,)."""

    metric = "rmse"

    def __init__(self, labels: NDArray[Any]) -> None:
        super().__init__(labels)
        self.labels = labels.astype(np.float64)

    def _reduce(self, prediction: NDArray[Any]) -> Float32:
        if prediction.ndim != 1:
            raise self.refusal(f"predictions of shape {prediction.shape}", "one prediction a row")
        return prediction.astype(np.float32, copy=False)

    def error(self, mix: NDArray[Any]) -> float:
        """The root of the mean squared difference."""
        difference = self.labels - mix
        return float(np.sqrt(np.dot(difference, difference) / len(difference)))

    def scorer(self, candidates: Float32) -> RmseScorer:
        """A scorer of candidates (m, n)."""
        return RmseScorer(self, candidates)


class RmseScorer:
    """Errors of candidates, bounded through the inner products of their residuals.

    With residuals r, the mean of the members and a candidate has the residual (sum of the members' r + r_j) / (s + 1);
    its square is a sum of inner products that are known. The exact arithmetic rounds products to float32, which moves
    a row by at most ``_rounding``, and the root of the mean square by no more than that.
    """

    never_negative = True

    def __init__(self, rows: RmseRows, candidates: Float32) -> None:
        self.alone: Float64 = np.array([rows.error(candidate) for candidate in candidates])
        self._rows = rows
        self._candidates = candidates
        self._products = _residual_products(rows.labels, candidates)
        self._noise = np.finfo(np.float64).eps * self._products.diagonal().max()
        self._rounding = 4 * _FLOAT32_HALF_STEP * float(np.abs(candidates).max())

    def errors(self, order: Indices, mean: Float64, counts: Indices, *, rounded: bool) -> Float64:
        """See ``Scorer``."""
        size = int(counts.sum())
        step = Step.after(size, mean)
        least, most = self._bounds(order, counts, size)
        errors = np.full(len(order), np.inf)
        for position in np.flatnonzero(least <= most.min() + step.close):
            errors[position] = self._rows.error(step.weighted + step.share * self._candidates[order[position]])
        return errors

    def _bounds(self, order: Indices, counts: Indices, size: int) -> tuple[Float64, Float64]:
        """At least and at most the error of each candidate's mix."""
        members = np.flatnonzero(counts)
        sums = counts[members] @ self._products[order[members]]
        own = sums[order[members]] @ counts[members]
        squares = (own + 2 * sums[order] + self._products.diagonal()[order]) / (size + 1) ** 2
        least = np.sqrt(np.maximum(squares - self._noise, 0.0) / len(self._rows)) - self._rounding
        most = np.sqrt(np.maximum(squares + self._noise, 0.0) / len(self._rows)) + self._rounding
        return least, most


def _residual_products(labels: Float64, candidates: Float32) -> Float64:
    """The inner products of all residuals, shape (m, m), a block of rows at a time to keep memory flat."""
    products = np.zeros((len(candidates), len(candidates)))
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        residuals = candidates[:, block].astype(np.float64) - labels[block]
        products += residuals @ residuals.T
    return products
