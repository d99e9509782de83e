"""One minus the area under the ROC curve, ranked as the public pipeline does: on 23 bits of the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.processing.ensemble.compiled import run
from benchwright.processing.ensemble.rows import Float32, Float64, Indices, MetricRows, Step

_STEPS = 2**23


class AucRows(MetricRows):
    """Binary labels (0 and 1); predictions are scores of the positive class, ranked within [0, 1]."""

    metric = "roc_auc"

    def __init__(self, labels: NDArray[Any]) -> None:
        super().__init__(labels)
        self.positive = labels.astype(bool)
        if self.positive.all() or not self.positive.any():
            raise self.refusal(f"{len(labels)} labels of a single class", "labels of two classes")

    def _reduce(self, prediction: NDArray[Any]) -> Float32:
        if prediction.ndim != 1:
            raise self.refusal(f"predictions of shape {prediction.shape}", "one score a row (binary)")
        return prediction.astype(np.float32, copy=False)

    def error(self, mix: NDArray[Any]) -> float:
        """One minus the AUC. Scores that agree on their 23 highest bits tie and count half."""
        scores = np.clip(mix.astype(np.float32), np.float32(0), np.float32(1)) * np.float32(_STEPS)
        levels = np.minimum(np.rint(scores).astype(np.int32), _STEPS - 1)
        negatives = np.sort(levels[~self.positive])
        positives = levels[self.positive]
        below = np.searchsorted(negatives, positives, side="left").sum(dtype=np.int64)
        not_above = np.searchsorted(negatives, positives, side="right").sum(dtype=np.int64)
        return float(1.0 - float(below + not_above) * 0.5 / (float(len(positives)) * float(len(negatives))))

    def scorer(self, candidates: Float32) -> AucScorer:
        """A scorer of candidates (m, n)."""
        return AucScorer(self, candidates)


class AucScorer:
    """Errors of candidates; their rows are kept with the smaller class first, for the kernel."""

    never_negative = True

    def __init__(self, rows: AucRows, candidates: Float32) -> None:
        self.alone: Float64 = np.array([rows.error(candidate) for candidate in candidates])
        positives = int(np.count_nonzero(rows.positive))
        positive_is_smaller = 2 * positives < len(rows)
        self._classes = (min(positives, len(rows) - positives), positive_is_smaller)
        self._smaller_first = np.argsort(rows.positive != positive_is_smaller, kind="stable")
        self._candidates = np.ascontiguousarray(candidates[:, self._smaller_first])
        self._extremes = (candidates.min(), candidates.max())

    def errors(self, order: Indices, mean: Float64, counts: Indices, *, rounded: bool) -> Float64:
        """See ``Scorer``."""
        step = Step.after(int(counts.sum()), mean[self._smaller_first])
        errors: Float64 = run("auc_errors", self._candidates, order, step, self._classes, self._extremes)
        return errors
