import pyarrow as pa

from benchwright.mini import source
from benchwright.rehearsal import mini_reference


def changed(table: pa.Table, column: str, row: int, value: float) -> pa.Table:
    values = table[column].to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(column), column, pa.array(values))


def test_a_table_agrees_with_itself_whatever_its_times():
    shipped = source().reference_results()
    assert mini_reference.differences(changed(shipped, "time_train_s", 0, 1e6), shipped, 0.0) == []


def test_errors_within_the_tolerance_agree_and_others_are_named():
    shipped = source().reference_results()
    error = shipped["metric_error"][5].as_py()
    assert mini_reference.differences(changed(shipped, "metric_error", 5, error * 1.01), shipped, 0.02) == []
    (problem,) = mini_reference.differences(changed(shipped, "metric_error", 5, error * 1.05), shipped, 0.02)
    row = shipped.to_pylist()[5]
    assert str(problem) == (
        f"{row['method']} {row['dataset']} {row['fold']} metric_error: {error * 1.05:.6f}, expected {error:.6f}\n"
        "    fix: look why; to ship what is computed here, run this again without --check"
    )


def test_a_missing_and_an_extra_row_are_named():
    shipped = source().reference_results()
    one_less = shipped.slice(1)
    assert [problem.found for problem in mini_reference.differences(one_less, shipped, 0.02)] == ["only shipped"]
    assert [problem.found for problem in mini_reference.differences(shipped, one_less, 0.02)] == ["only computed here"]


def test_shipped_columns_are_the_scripts():
    assert tuple(source().reference_results().column_names) == mini_reference.COLUMNS
