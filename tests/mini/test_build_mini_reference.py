import importlib.util
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from benchwright.mini import source

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_mini_reference.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_mini_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def changed(table: pa.Table, column: str, row: int, value: float) -> pa.Table:
    values = table[column].to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(column), column, pa.array(values))


def test_a_table_agrees_with_itself_whatever_its_times(script):
    shipped = source().reference_results()
    assert script.differences(changed(shipped, "time_train_s", 0, 1e6), shipped, 0.0) == []


def test_errors_within_the_tolerance_agree_and_others_are_named(script):
    shipped = source().reference_results()
    error = shipped["metric_error"][5].as_py()
    assert script.differences(changed(shipped, "metric_error", 5, error * 1.01), shipped, 0.02) == []
    (problem,) = script.differences(changed(shipped, "metric_error", 5, error * 1.05), shipped, 0.02)
    row = shipped.to_pylist()[5]
    assert str(problem) == (
        f"{row['method']} {row['dataset']} {row['fold']} metric_error: {error * 1.05:.6f}, expected {error:.6f}"
    )


def test_a_missing_and_an_extra_row_are_named(script):
    shipped = source().reference_results()
    one_less = shipped.slice(1)
    assert [problem.found for problem in script.differences(one_less, shipped, 0.02)] == ["only shipped"]
    assert [problem.found for problem in script.differences(shipped, one_less, 0.02)] == ["only computed here"]


def test_shipped_columns_are_the_scripts(script):
    assert tuple(source().reference_results().column_names) == script.COLUMNS


def test_help_names_what_it_replaces():
    shown = subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=True).stdout
    assert "replaces the shipped task table and reference" in " ".join(shown.split())
