#!/usr/bin/env python3
"""Compute the mini arena's reference results again, through the same steps as any benchmark, and ship or check them.

Fits every reference method on every mini task below --workspace (378 fits, about 20 minutes on one core; a second call
takes up what is there), and processes the results. Without --check it replaces the shipped task table and reference
results. With --check it compares: the same rows, and errors within --tolerance; nothing is replaced.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import benchwright  # noqa: F401
except ModuleNotFoundError:
    for folder in Path(__file__).resolve().parents:
        if (folder / "src" / "benchwright").is_dir():
            sys.path.insert(0, str(folder / "src"))
            break
    else:
        print("benchwright is not installed; in its checkout: make setup", file=sys.stderr)
        raise SystemExit(3) from None

from benchwright.cli import ScriptParser, Shell, run_script
from benchwright.contract import Exit, Failure, Outcome, Problem

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
COORDINATES = ("method", "dataset", "fold")


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True, help="where the fits go; keep it to check again")
    parser.add_argument("--jobs", type=int, default=2, help="fits side by side (default: 2)")
    parser.add_argument("--check", action="store_true", help="compare with the shipped files instead of replacing them")
    parser.add_argument(
        "--tolerance", type=float, default=0.02, help="largest relative difference of an error (default: 0.02)"
    )
    return parser


def build(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Fit, process, and write or compare."""
    from pyarrow import parquet

    from benchwright import mini
    from benchwright.files import atomic_writer

    if not args.check:
        mini.write_table()
    fit(args.workspace, args.jobs, shell)
    table = processed(args.workspace)
    counts = {"rows": table.num_rows, "methods": len(set(table["method"].to_pylist()))}
    if args.check:
        problems = differences(table, mini.source().reference_results(), args.tolerance)
        summary = f"{len(problems)} differences" if problems else f"{table.num_rows} rows agree with the shipped ones"
        return Outcome(summary, counts, problems=problems, exit=Exit.NO if problems else Exit.DONE)
    with atomic_writer(mini.RESULTS) as file:
        parquet.write_table(table, file, compression="zstd")
    return Outcome(f"wrote {table.num_rows} rows of {counts['methods']} methods", counts | {"file": str(mini.RESULTS)})


def fit(workspace: Path, jobs: int, shell: Shell) -> None:
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
    for line in setup_jobs(plan).lines:
        shell.talk(line)
    with shell.progress("fits") as progress:
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


def differences(new: pyarrow.Table, shipped: pyarrow.Table, tolerance: float) -> list[Problem]:
    """What tells two tables apart: rows that only one has, and errors that differ. Times are not compared."""
    found, expected = ({_coordinates(row): row for row in table.to_pylist()} for table in (new, shipped))
    problems = [
        Problem("mini-reference", where, "only computed here" if where in found else "only shipped", "in both")
        for where in sorted(found.keys() ^ expected.keys())
    ]
    for where in sorted(found.keys() & expected.keys()):
        for name in ("metric_error", "metric_error_val"):
            here, there = found[where][name], expected[where][name]
            if not math.isclose(here, there, rel_tol=tolerance):
                problems.append(Problem("mini-reference", f"{where} {name}", f"{here:.6f}", f"{there:.6f}"))
    return problems


def _coordinates(row: dict[str, object]) -> str:
    return " ".join(str(row[name]) for name in COORDINATES)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), build))
