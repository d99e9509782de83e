"""Loads what fitting needs, numba and its compiled code included, so that processes forked afterwards share it."""

from __future__ import annotations

import contextlib

import numpy as np

from benchwright.contract import Failure
from benchwright.processing.ensemble.selection import EnsembleSelection

_LABELS = np.array([0, 1, 1, 0], np.int8)
_PREDICTIONS = [np.array(scores, np.float32) for scores in ([0.6, 0.4, 0.7, 0.1], [0.3, 0.2, 0.8, 0.4])]


def preload() -> None:
    """Fit two tiny ensembles, one with each compiled kernel. Without numba, whoever needs it says so."""
    with contextlib.suppress(Failure):
        for metric in ("roc_auc", "log_loss"):
            EnsembleSelection.of(metric, _LABELS, _PREDICTIONS).select(size=2)
