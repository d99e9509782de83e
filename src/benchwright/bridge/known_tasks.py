"""What is known of the tasks of results: the table of a published arena, or the one that their run was set up by."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

from benchwright.bridge.task_tables import read_table, task_table
from benchwright.contract import Failure
from benchwright.files import RunPaths

_PUBLISHED = ("TabArena-v0.1", "BeyondArena")
_TABLE = "task_metadata.csv"


def task_rows(results: Path, datasets: Collection[str]) -> list[Mapping[str, str]]:
    """One row a split, as texts by column: of the published arena that has all ``datasets``, else of the run.

    The run is found where ``results`` is its output folder or the data folder in that. None of either is no failure:
    then the results themselves must tell. Nothing is looked up outside this machine.
    """
    for suite in _PUBLISHED:
        with contextlib.suppress(Failure):  # tabarena is not installed
            rows = read_table(task_table(suite))
            if {row["tabarena_task_name"] for row in rows}.issuperset(datasets):
                return list(rows)
    splits: dict[tuple[str, ...], Mapping[str, str]] = {}
    for table in _run_tables(results):
        for row in read_table(table):
            splits.setdefault(tuple(row.get(name) or "" for name in ("tabarena_task_name", "repeat", "fold")), row)
    return list(splits.values())


def _run_tables(results: Path) -> list[Path]:
    """The tables of splits beside the run's job batches."""
    output = results.expanduser().absolute()
    output = output.parent if output.name == "data" else output
    if output.parent.name != "output":
        return []
    try:
        setup = RunPaths(output.parents[1], output.name).setup
    except Failure:
        return []
    return sorted(setup.glob(f"job_batch_*/{_TABLE}"))
