"""What an ensemble needs to know of a metric: reduced predictions, the error of a mix, the errors of candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchwright.contract import Failure, Problem

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Indices = NDArray[np.int64]


CLOSE = 1.1e-6
"""Errors further apart than this differ in the sixth decimal too, with room for the last digits of the arithmetic."""


class Step(NamedTuple):
    """What the candidates of one greedy step, with s members so far, are mixed into: E * s/(s+1) + p * 1/(s+1)."""

    weighted: Float64
    """The running mean E of the members times s/(s+1), (n,)."""
    share: np.float32
    """1/(s+1); the product with a candidate is float32, the sum float64."""
    close: float
    """How far apart a bound and an error may be while the two could still tie."""

    @classmethod
    def after(cls, size: int, mean: Float64, close: float = CLOSE) -> Step:
        """The step after ``size`` members, whose mean is ``mean``."""
        return cls((size / (size + 1)) * mean, np.float32(1.0 / (size + 1)), close)


class Scorer(Protocol):
    """The errors of candidates, each mixed into a running mean: what one greedy step asks."""

    alone: Float64
    """The error of each candidate by itself, shape (m,)."""
    never_negative: bool
    """Whether an error of zero is certainly the best there is."""

    def errors(self, order: Indices, mean: Float64, counts: Indices, *, rounded: bool) -> Float64:
        """The error of (s * mean + candidate) / (s + 1) for the candidates ``order``, shape (k,).

        ``counts`` (k,) says how often each is a member already, s = counts.sum() > 0. ``rounded`` says that the caller
        rounds to six decimals. A candidate that can neither win nor tie may get infinity.
        """
        ...


class MetricRows(ABC):
    """The labels of one part of a split (its validation or its test rows), seen through one metric.

    Raises on construction:
        Failure: there are no labels, they are not finite, or the metric is not defined on them.
    """

    metric: ClassVar[str]

    def __init__(self, labels: NDArray[Any]) -> None:
        bad = np.count_nonzero(~np.isfinite(labels))
        if labels.ndim != 1 or not len(labels) or bad:
            raise self.refusal(f"labels of shape {labels.shape}, {bad} of them not finite", "one finite label a row")
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def reduce(self, prediction: NDArray[Any]) -> Float32:
        """The part of a prediction that the metric looks at, shape (n,) float32.

        Raises:
            Failure: it has another shape than the labels ask for, or values that are not finite.
        """
        bad = np.count_nonzero(~np.isfinite(prediction))
        if len(prediction) != len(self) or bad:
            raise self.refusal(
                f"predictions of shape {prediction.shape}, {bad} of them not finite", f"{len(self)} finite predictions"
            )
        return self._reduce(prediction)

    @abstractmethod
    def _reduce(self, prediction: NDArray[Any]) -> Float32: ...

    @abstractmethod
    def error(self, mix: NDArray[Any]) -> float:
        """The error of reduced predictions or of a weighted mean of them, shape (n,); lower is better."""

    @abstractmethod
    def scorer(self, candidates: Float32) -> Scorer:
        """The scorer of reduced predictions, shape (m, n)."""

    @classmethod
    def refusal(cls, found: str, expected: str) -> Failure:
        """The failure that says what this metric cannot work on."""
        return Failure(Problem("not-scorable", cls.metric, found, expected, "run this item again"))
