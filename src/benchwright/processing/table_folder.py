"""Writes a method's tables into its artifact folder, the completion marker last."""

from __future__ import annotations

from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.files import atomic_writer, write_text
from benchwright.processing.layout import HPO_RESULTS, METADATA, MODEL_RESULTS
from benchwright.processing.tables import ResultTables


def write_tables(folder: Path | str, tables: ResultTables, metadata: MethodMetadata) -> list[Path]:
    """Write ``results/*.parquet`` and, last, ``metadata.yaml`` below ``folder``; the files written, in that order.

    An earlier ``metadata.yaml`` goes first: a folder without one is incomplete, so that a kill never leaves old and
    new tables under one marker. An earlier ``hpo_results`` that the tables have no successor for is removed.

    Raises:
        OSError: the folder cannot be written, or the disk is full. No file is left half-written.
    """
    import pyarrow.parquet as pq

    folder = Path(folder)
    marker = folder / METADATA
    marker.unlink(missing_ok=True)
    written = []
    for name, table in ((MODEL_RESULTS, tables.model_results), (HPO_RESULTS, tables.hpo_results)):
        path = folder / name
        if table is None:
            path.unlink(missing_ok=True)
            continue
        with atomic_writer(path) as file:
            pq.write_table(table, file, compression="gzip")
        written.append(path)
    write_text(marker, metadata.to_yaml())
    return [*written, marker]
