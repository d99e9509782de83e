"""The predictions and labels of one split in the form that ``tabarena`` maps into memory."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.processing.layout import PREDICTIONS
from benchwright.processing.recorded_folder import RecordedFile, RecordedFolder
from benchwright.processing.zip_entry import zip_entry
from benchwright.raw.result import Float32, Predictions, Result

FILES_OF_PREDICTIONS = ("metadata.json", "pred-test.dat", "pred-val.dat")
FILES_OF_LABELS = ("label-test.csv.zip", "label-val.csv.zip")


class StoredSplit:
    """Takes the results of one split one after another, in the order of their names; as a context manager.

    ``pred-val.dat`` and ``pred-test.dat`` hold float32 numbers in C order, shape (models, rows[, classes]), little
    endian; ``metadata.json`` names the models and shapes. Labels are CSV files with a column of row ids.
    """

    def __init__(self, folder: RecordedFolder, first: Result) -> None:
        self._folder = folder
        self._first = first
        self._place = f"{PREDICTIONS}/{first.dataset}/{first.split}"
        self._models: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> StoredSplit:
        self._val = self._open("pred-val.dat")
        self._test = self._open("pred-test.dat")
        return self

    def _open(self, name: str) -> RecordedFile:
        return self._stack.enter_context(self._folder.open(f"{self._place}/{name}"))

    def add(self, model: str, predictions: Predictions) -> None:
        """Append one model's predictions, shaped as those of the first."""
        self._models.append(model)
        self._val.write(_content(predictions.val))
        self._test.write(_content(predictions.test))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        predictions = self._first.predictions
        if kind is not None or predictions is None:
            return
        shapes = {
            "models": self._models,
            "dataset": self._first.dataset,
            "fold": self._first.split,
            "pred_val_shape": [len(self._models), *predictions.val.shape],
            "pred_test_shape": [len(self._models), *predictions.test.shape],
            "dtype": "float32",
        }
        self._folder.write(f"{self._place}/metadata.json", json.dumps(shapes).encode())
        for part, rows, labels in (
            ("val", predictions.y_val_index, predictions.y_val),
            ("test", predictions.y_test_index, predictions.y_test),
        ):
            table = _csv(predictions.label, rows, labels)
            self._folder.write(f"{self._place}/label-{part}.csv.zip", _zipped(f"label-{part}.csv", table))


def _content(predictions: Float32) -> memoryview:
    return np.ascontiguousarray(predictions, dtype="<f4").data.cast("B")


def _csv(label: str, rows: NDArray[Any], labels: NDArray[Any]) -> str:
    """Row ids and labels, as pandas writes a series: an unnamed column and one named like the target."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("", label))
    writer.writerows(zip(rows.tolist(), labels.tolist(), strict=True))
    return text.getvalue()


def _zipped(name: str, content: str) -> bytes:
    """A zip file with one member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zip_entry(name), content, compresslevel=1)
    return stream.getvalue()
