"""Ensembles of one split: many greedy passes over the same candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.contract import Failure, Problem
from benchwright.processing.ensemble.auc import AucRows
from benchwright.processing.ensemble.greedy import grow
from benchwright.processing.ensemble.log_loss import LogLossRows
from benchwright.processing.ensemble.rmse import RmseRows
from benchwright.processing.ensemble.rows import Float32, Float64, Indices, MetricRows, Scorer

_ROWS: dict[str, type[MetricRows]] = {rows.metric: rows for rows in (AucRows, LogLossRows, RmseRows)}
METRICS = tuple(_ROWS)
"""The metrics of the arenas, for which ensembles can be fitted."""


def metric_rows(metric: str, labels: NDArray[Any]) -> MetricRows:
    """Labels (n,) seen through a metric: ``roc_auc``, ``log_loss`` or ``rmse``.

    Raises:
        Failure: another metric, or labels it is not defined on.
    """
    if metric not in _ROWS:
        expected, fix = f"one of {', '.join(METRICS)}", "score it by one of these"
        raise Failure(Problem("unsupported-metric", metric, "a metric without ensembles", expected, fix))
    return _ROWS[metric](labels)


@dataclass(frozen=True)
class Selection:
    """The outcome of one pass.

    ``order`` (k,) are the candidates that took part; ``indices`` are positions in it, in the order of choice, and
    ``trajectory`` the error after each; ``weights`` (k,) float64 add up to one; ``error_val`` is the error of the
    weighted validation predictions.
    """

    order: Indices
    indices: tuple[int, ...]
    trajectory: tuple[float, ...]
    weights: Float64
    error_val: float

    @property
    def members(self) -> Indices:
        """The candidates with a weight, in the order of the pass."""
        members: Indices = self.order[self.weights != 0]
        return members

    def mix(self, candidates: Float32) -> Float64:
        """The weighted mean of reduced predictions (m, n), shape (n,): added member by member."""
        return _weighted_sum(candidates, self.order, self.weights)

    def error_test(self, rows: MetricRows, candidates: Float32) -> float:
        """The error of this ensemble on test rows, given all candidates' reduced test predictions (m, n)."""
        return rows.error(self.mix(candidates))


class EnsembleSelection:
    """Greedy ensembles over the candidates of one split.

    ``rows`` holds the validation labels and the metric, ``candidates`` (m, n) the reduced predictions
    (``rows.reduce``), in the order in which candidates are numbered. What passes share is computed once.
    """

    def __init__(self, rows: MetricRows, candidates: Float32) -> None:
        if candidates.ndim != 2 or not len(candidates) or candidates.shape[1] != len(rows):
            raise rows.refusal(
                f"candidates of shape {candidates.shape}", f"at least one row of {len(rows)} predictions"
            )
        self.rows = rows
        self.candidates = np.ascontiguousarray(candidates, dtype=np.float32)

    @classmethod
    def of(cls, metric: str, labels: NDArray[Any], predictions: Sequence[NDArray[Any]]) -> EnsembleSelection:
        """The ensembles of predictions as models make them, (n,) or (n, K) each.

        Raises:
            Failure: the metric is not supported, or labels or predictions do not suit it.
        """
        rows = metric_rows(metric, labels)
        return cls(rows, np.array([rows.reduce(prediction) for prediction in predictions], dtype=np.float32))

    @cached_property
    def _scorer(self) -> Scorer:
        return self.rows.scorer(self.candidates)

    def select(self, order: ArrayLike | None = None, *, size: int = 40, seed: int = 0) -> Selection:
        """One pass of at most ``size`` members over the candidates ``order`` (all of them by default).

        The order matters where candidates tie: ``seed`` starts the generator that decides among them.
        """
        rows: Indices = np.asarray(range(len(self.candidates)) if order is None else order, dtype=np.int64)
        indices, trajectory = grow(self._scorer, self.candidates, rows, size, seed)
        weights = _weights(indices, len(rows))
        error_val = self.rows.error(_weighted_sum(self.candidates, rows, weights))
        return Selection(rows, indices, trajectory, weights, error_val)

    def passes(self, orders: Iterable[ArrayLike], *, size: int = 40, seed: int = 0) -> list[Selection]:
        """One pass for each order."""
        return [self.select(order, size=size, seed=seed) for order in orders]


def _weights(indices: tuple[int, ...], count: int) -> Float64:
    """How often each was chosen, as a share of all; scaled, as AutoGluon does, where rounding left the sum below 1."""
    weights = np.bincount(indices, minlength=count) / len(indices)
    total = weights.sum()
    return weights / total if total < 1 else weights


def _weighted_sum(candidates: Float32, order: Indices, weights: Float64) -> Float64:
    total = np.zeros(candidates.shape[1])
    for position in np.flatnonzero(weights):
        total += candidates[order[position]] * weights[position]
    return total
