"""The mini arena's reference results: fitted through the steps of any benchmark, and compared with the shipped ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.contract import Exit, Failure, Problem, Progress

if TYPE_CHECKING:
    import pyarrow

BENCHMARK = "mini_reference"
COLUMNS = (
    "dataset",
    "fold",
    "method",
    "metric_error",
    "time_train_s",
    "time_infer_s",
    "metric",
    "problem_type",
    "metric_error_val",
    "method_type",
    "method_subtype",
    "config_type",
    "imputed",
    "ta_name",
    "ta_suite",
)
_SHIP = "look why; to ship what is computed here, run this again without --check"
COORDINATES = ("method", "dataset", "fold")


def fit(workspace: Path, jobs: int, progress: Progress | None = None) -> None:
    """Set up and run what is missing of the reference fits.

    Raises:
        Failure: an item failed (exit 1), or as for ``setup_jobs`` and ``run_local``.
    """
    from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, run_local, setup_jobs
    from benchwright.mini import REFERENCE_CONFIGS

    plan = BenchmarkPlan(
        benchmark_name=BENCHMARK,
        arena="mini",
        model_jobs=[ModelJob(list(REFERENCE_CONFIGS.items()), name="cpu")],
        path_setup=PathSetup(workspace),
        scheduler_setup=LocalSetup(bundle_size=20, parallel=jobs),
    )
    setup_jobs(plan)
    report = run_local(plan, progress=progress).outcome()
    if report.exit != Exit.DONE:
        raise Failure(report.problems, exit=report.exit)


def processed(workspace: Path) -> pyarrow.Table:
    """The result rows of every reference method, sorted by method, dataset and split."""
    import pyarrow

    from benchwright.bridge import model_info
    from benchwright.files import RunPaths
    from benchwright.mini import source
    from benchwright.processing import process_files
    from benchwright.raw import find_results

    found = find_results(RunPaths(workspace, BENCHMARK).data)
    if found.problems:
        raise Failure(found.problems)
    tables = []
    for method in source().reference_methods():
        prefix = f"{model_info(method.method).ag_name}_"
        results = process_files([file for file in found.files if file.method.startswith(prefix)], method).hpo_results
        assert results is not None, "a method with configs has this table"
        tables.append(results.select([name for name in COLUMNS if name in results.column_names]))
    table = pyarrow.concat_tables(tables, promote_options="default").select(list(COLUMNS))
    return table.sort_by([(name, "ascending") for name in COORDINATES])


def ship(table: pyarrow.Table) -> None:
    """Let ``table`` and the tasks as they are now take the shipped files' place."""
    from pyarrow import parquet

    from benchwright import mini
    from benchwright.files import atomic_writer

    mini.write_table()
    with atomic_writer(mini.RESULTS) as file:
        parquet.write_table(table, file, compression="zstd")


def differences(new: pyarrow.Table, shipped: pyarrow.Table, tolerance: float) -> list[Problem]:
    """What tells two tables apart: rows that only one has, and errors that differ. Times are not compared."""
    found, expected = ({_coordinates(row): row for row in table.to_pylist()} for table in (new, shipped))
    problems = [
        Problem("mini-reference", where, "only computed here" if where in found else "only shipped", "in both", _SHIP)
        for where in sorted(found.keys() ^ expected.keys())
    ]
    for where in sorted(found.keys() & expected.keys()):
        for name in ("metric_error", "metric_error_val"):
            here, there = found[where][name], expected[where][name]
            if not math.isclose(here, there, rel_tol=tolerance):
                problems.append(Problem("mini-reference", f"{where} {name}", f"{here:.6f}", f"{there:.6f}", _SHIP))
    return problems


def _coordinates(row: dict[str, object]) -> str:
    return " ".join(str(row[name]) for name in COORDINATES)
