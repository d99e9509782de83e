"""Which splits to work on at a time: as many as memory has room for, those with most work first."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from benchwright.contract import Failure
from benchwright.raw.finding import RawFile
from benchwright.raw.loading import load_file

BUDGET = 560 * 2**20
"""Bytes for all processes of a build together, whatever their number."""
_MAIN_PROCESS = 150 * 2**20
"""Measured: interpreter, numpy, numba and pyarrow, shared where forked."""
_WORKER = 25 * 2**20
"""Measured: what a worker has for itself before it loads anything."""
_COPIES_OF_PREDICTIONS = 3
"""Of all configs' reduced predictions: gathered, joined, and in the order that their scorer needs."""
_COPIES_OF_FILE = 8
"""Of one file: packed, unpacked, as objects, as plain values, packed again."""
_WORK_OF_AUC = 4
"""Measured on the splits of 201 configs: how much more of it a byte is where predictions are ranked."""


def affordable(units: Sequence[Sequence[RawFile]]) -> int:
    """How many of ``units`` (the files of a split each) can be worked on at a time within the budget, at least one.

    One file of the largest split tells how much of a file is kept until the split's ensembles are fitted.
    """
    largest = max(units, key=lambda unit: sum(file.size for file in unit), default=())
    for file in largest:
        try:
            loaded = load_file(file.place)
        except Failure:
            continue
        predictions = loaded.result.predictions
        kept = 0 if predictions is None else 4 * len(largest) * (len(predictions.y_val) + len(predictions.y_test))
        need = _WORKER + _COPIES_OF_PREDICTIONS * kept + _COPIES_OF_FILE * file.size
        return max(1, (BUDGET - _MAIN_PROCESS) // need)
    return 1


def heaviest_first(units: Sequence[Sequence[RawFile]]) -> list[int]:
    """The positions of ``units`` (the files of a split each), most work first: the last ones then end together.

    One file of each task tells its metric.
    """
    per_byte: dict[str, int] = {}
    for unit in units:
        if unit[0].task_key not in per_byte:
            per_byte[unit[0].task_key] = _WORK_OF_AUC if _metric(unit) == "roc_auc" else 1
    work = [per_byte[unit[0].task_key] * sum(file.size for file in unit) for unit in units]
    return sorted(range(len(units)), key=lambda number: -work[number])


def _metric(files: Sequence[RawFile]) -> str | None:
    """The metric of the first result that can be read."""
    for file in files:
        with contextlib.suppress(Failure):
            return load_file(file.place).result.metric
    return None
