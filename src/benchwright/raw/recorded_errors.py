"""Whether the predictions and labels of a result belong together: they must give the errors that it records."""

from __future__ import annotations

import math

from benchwright.raw.fields import AGAIN, Fields
from benchwright.raw.metrics import error_range, metric_error
from benchwright.raw.predictions import Aligned

_CLOSE = 0.01
"""The runner's own files agree to 1e-12, and labels of other rows miss by a multiple; between them lies what an older
library may have computed differently."""
_NOISE = 1e-9
"""What the error of perfect predictions may be off zero."""


def check_errors(top: Fields, metric: str, errors: tuple[float, float], aligned: Aligned) -> None:
    """Note where ``errors``, recorded on validation and test rows, are not those of the stored predictions.

    Nothing is noted of metrics that are not computed here.
    """
    rows = aligned.predictions
    parts = (
        ("metric_error_val", "validation", rows.y_val, aligned.stored_val),
        ("metric_error", "test", rows.y_test, aligned.stored_test),
    )
    for recorded, (key, part, labels, stored) in zip(errors, parts, strict=True):
        limits = error_range(metric, labels, stored)
        if limits is None or not math.isfinite(recorded):
            continue
        least, most = limits
        if max(least - recorded, recorded - most) > _CLOSE * max(abs(recorded), most) + _NOISE:
            error = metric_error(metric, labels, stored)
            found = f"{key} is {recorded:.6g}, and the {metric} error of its {part} predictions is {error:.6g}"
            top.note("labels-differ", found, "the labels of the rows that were predicted", AGAIN)
