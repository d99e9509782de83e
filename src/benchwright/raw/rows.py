"""Reduce results to rows: what inference, coverage and tables need of a result once its arrays are gone."""

from __future__ import annotations

import numbers
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchwright.raw.protocol import effective_protocol
from benchwright.raw.result import Predictions, Result

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 4_096
_TEXT, _WHOLE, _REAL = "string", "int64", "float64"
_COLUMNS: dict[str, str] = {
    "framework": _TEXT,
    "dataset": _TEXT,
    "split": _WHOLE,
    "repeat": _WHOLE,
    "fold": _WHOLE,
    "tid": _WHOLE,
    "problem_type": _TEXT,
    "metric": _TEXT,
    "metric_error": _REAL,
    "metric_error_val": _REAL,
    "time_train_s": _REAL,
    "time_infer_s": _REAL,
    "kind": _TEXT,
    "method_cls": _TEXT,
    "ag_key": _TEXT,
    "model_type": _TEXT,
    "name_prefix": _TEXT,
    "num_cpus": _REAL,
    "num_gpus": _REAL,
    "disk_usage": _REAL,
    "children": _WHOLE,
    "protocol": _TEXT,
    "protocol_note": _TEXT,
    "peak_mem_cpu": _REAL,
    "peak_mem_gpu": _REAL,
    "labels": _TEXT,
    "path": _TEXT,
}


def row_schema() -> pa.Schema:
    """The declared columns of `reduce_results`, all nullable.

    ``split`` is the split index that result tables call ``fold``. Times are seconds, memory and disk bytes.
    ``labels`` is a checksum of the labels and row ids, equal for all results of one task and split made from the same
    data (None for results without predictions).
    """
    import pyarrow as pa

    types = {_TEXT: pa.string(), _WHOLE: pa.int64(), _REAL: pa.float64()}
    return pa.schema([(name, types[kind]) for name, kind in _COLUMNS.items()])


def reduce_results(results: Iterable[Result]) -> pa.Table:
    """One row a result, in their order; memory holds rows alone, however large the results are."""
    import pyarrow as pa

    schema = row_schema()
    batches = []
    rows: list[dict[str, Any]] = []
    for result in results:
        rows.append(result_row(result))
        if len(rows) == BATCH:
            batches.append(pa.RecordBatch.from_pylist(rows, schema))
            rows = []
    batches.append(pa.RecordBatch.from_pylist(rows, schema))
    return pa.Table.from_batches(batches, schema)


def result_row(result: Result) -> dict[str, Any]:
    """The row of one result; what the file does not say, or says in another type, is None."""
    protocol = effective_protocol(result)
    method = result.method_metadata
    model_type = text_in(method, "model_type")
    return {
        "framework": result.framework,
        "dataset": result.dataset,
        "split": result.split,
        "repeat": result.repeat,
        "fold": result.fold,
        "tid": result.tid,
        "problem_type": result.problem_type,
        "metric": result.metric,
        "metric_error": result.metric_error,
        "metric_error_val": result.metric_error_val,
        "time_train_s": result.time_train_s,
        "time_infer_s": result.time_infer_s,
        "kind": result.kind,
        "method_cls": text_in(result.experiment_metadata, "method_cls"),
        "ag_key": text_in(method, "ag_key") or model_type,
        "model_type": model_type,
        "name_prefix": text_in(method, "name_prefix"),
        "num_cpus": number_in(method, "num_cpus"),
        "num_gpus": number_in(method, "num_gpus"),
        "disk_usage": number_in(method, "disk_usage"),
        "children": protocol.children,
        "protocol": protocol.key,
        "protocol_note": protocol.explanation,
        "peak_mem_cpu": number_in(result.memory_usage, "peak_mem_cpu"),
        "peak_mem_gpu": number_in(result.memory_usage, "peak_mem_gpu"),
        "labels": None if result.predictions is None else labels_checksum(result.predictions),
        "path": str(result.path),
    }


def labels_checksum(predictions: Predictions) -> str:
    """16 hex digits over labels and row ids of both parts, whatever integer widths they are stored in."""
    sums = []
    for parts in ((predictions.y_val, predictions.y_test), (predictions.y_val_index, predictions.y_test_index)):
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(f"{len(part)} ".encode(), checksum)
            checksum = zlib.crc32(_content(part), checksum)
        sums.append(checksum)
    return f"{sums[0]:08x}{sums[1]:08x}"


def _content(part: NDArray[Any]) -> bytes | memoryview:
    if part.dtype.hasobject:
        return repr(part.tolist()).encode()
    return np.ascontiguousarray(part.astype(np.int64) if part.dtype.kind in "biu" else part).data


def text_in(source: Mapping[str, Any], key: str) -> str | None:
    """The text under a key of a result's metadata; None for anything else."""
    value = source.get(key)
    return str(value) if isinstance(value, str) else None


def number_in(source: Mapping[str, Any], key: str) -> float | None:
    """The number under a key of a result's metadata; None for anything else."""
    value = source.get(key)
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
