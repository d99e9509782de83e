"""Raw results: found, loaded without running their code, aligned, inspected by method."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.raw.finding import Found, RawFile, find_results
    from benchwright.raw.inspection import Inspection, inspect
    from benchwright.raw.integrity import check_file, decode_fully
    from benchwright.raw.loading import iter_results, load_result, load_results
    from benchwright.raw.methods import RawMethod, method_declared, method_named, read_declared, read_methods
    from benchwright.raw.protocol import Protocol, effective_protocol, infer_validation_protocol
    from benchwright.raw.result import Predictions, ProblemType, Result

_HOMES = {
    "Found": "finding",
    "RawFile": "finding",
    "find_results": "finding",
    "Inspection": "inspection",
    "inspect": "inspection",
    "check_file": "integrity",
    "decode_fully": "integrity",
    "iter_results": "loading",
    "load_result": "loading",
    "load_results": "loading",
    "RawMethod": "methods",
    "method_declared": "methods",
    "method_named": "methods",
    "read_declared": "methods",
    "read_methods": "methods",
    "Protocol": "protocol",
    "effective_protocol": "protocol",
    "infer_validation_protocol": "protocol",
    "Predictions": "result",
    "ProblemType": "result",
    "Result": "result",
}
__all__ = [
    "Found",
    "Inspection",
    "Predictions",
    "ProblemType",
    "Protocol",
    "RawFile",
    "RawMethod",
    "Result",
    "check_file",
    "decode_fully",
    "effective_protocol",
    "find_results",
    "infer_validation_protocol",
    "inspect",
    "iter_results",
    "load_result",
    "load_results",
    "method_declared",
    "method_named",
    "read_declared",
    "read_methods",
]


def __getattr__(name: str) -> Any:
    # The cache check walks trees without numpy; the rest imports it when it is first used.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
