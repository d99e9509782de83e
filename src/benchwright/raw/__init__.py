"""Raw results: find ``results.pkl`` files, load them without running their code, align them, reduce them to rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.raw.finding import Found, RawFile, find_results
    from benchwright.raw.integrity import check_file, decode_fully
    from benchwright.raw.loading import iter_results, load_result, load_results
    from benchwright.raw.protocol import Protocol, effective_protocol, infer_validation_protocol
    from benchwright.raw.result import Predictions, ProblemType, Result
    from benchwright.raw.rows import reduce_results, result_row, row_schema

_HOMES = {
    "Found": "finding",
    "RawFile": "finding",
    "find_results": "finding",
    "check_file": "integrity",
    "decode_fully": "integrity",
    "iter_results": "loading",
    "load_result": "loading",
    "load_results": "loading",
    "Protocol": "protocol",
    "effective_protocol": "protocol",
    "infer_validation_protocol": "protocol",
    "Predictions": "result",
    "ProblemType": "result",
    "Result": "result",
    "reduce_results": "rows",
    "result_row": "rows",
    "row_schema": "rows",
}
__all__ = [
    "Found",
    "Predictions",
    "ProblemType",
    "Protocol",
    "RawFile",
    "Result",
    "check_file",
    "decode_fully",
    "effective_protocol",
    "find_results",
    "infer_validation_protocol",
    "iter_results",
    "load_result",
    "load_results",
    "reduce_results",
    "result_row",
    "row_schema",
]


def __getattr__(name: str) -> Any:
    # The cache check walks trees without numpy; the rest imports it when it is first used.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
