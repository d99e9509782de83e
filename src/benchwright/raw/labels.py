"""What tells the labels and rows of one split from those of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from benchwright.raw.result import Predictions


def labels_checksum(predictions: Predictions) -> str:
    """16 hex digits over labels and row ids of both parts, whatever integer widths they are stored in."""
    sums = []
    for parts in ((predictions.y_val, predictions.y_test), (predictions.y_val_index, predictions.y_test_index)):
        checksum = 0
        for part in parts:
            checksum = isal_zlib.crc32(f"{len(part)} ".encode(), checksum)
            checksum = isal_zlib.crc32(_content(part), checksum)
        sums.append(checksum)
    return f"{sums[0]:08x}{sums[1]:08x}"


def _content(part: NDArray[Any]) -> bytes | memoryview:
    if part.dtype.hasobject:
        return repr(part.tolist()).encode()
    return np.ascontiguousarray(part.astype(np.int64) if part.dtype.kind in "biu" else part).data
