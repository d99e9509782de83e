"""Results of one method become the public pipeline's tables and artifact folder, numbers equal to 1e-9."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.processing.artifact import Artifact, build_artifact
    from benchwright.processing.findings import Finding
    from benchwright.processing.pipeline import process_files
    from benchwright.processing.sidecar import Sidecar, read_sidecar
    from benchwright.processing.table_folder import write_tables
    from benchwright.processing.tables import ResultTables

_HOMES = {
    "Artifact": "artifact",
    "build_artifact": "artifact",
    "Finding": "findings",
    "process_files": "pipeline",
    "Sidecar": "sidecar",
    "read_sidecar": "sidecar",
    "write_tables": "table_folder",
    "ResultTables": "tables",
}
__all__ = [
    "Artifact",
    "Finding",
    "ResultTables",
    "Sidecar",
    "build_artifact",
    "process_files",
    "read_sidecar",
    "write_tables",
]


def __getattr__(name: str) -> Any:
    # Uploads need the layout and the sidecar alone; the rest imports numpy when it is first used.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
