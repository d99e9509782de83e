"""The results frame: one row per method variant and split, with one set of columns whatever the rows came from.

In a results frame ``method`` is the variant's unique name within the frame ("GBM (tuned)"), ``fold`` the split index,
errors are lower-is-better in the metric's own unit, and times are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchwright.contract import Failure, Problem, some

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SPLIT = ("dataset", "fold")
"""What identifies a split in a results frame."""
IDENTITY = ("method_type", "method_subtype", "config_type", "ta_name", "ta_suite")
"""What describes a method variant and not one of its results: constant over a variant's rows."""
_REQUIRED = (*SPLIT, "method", "metric_error", "time_train_s", "time_infer_s", "metric", "problem_type")
_NUMBERS = ("metric_error", "time_train_s", "time_infer_s")
_DEFAULTS = {
    "metric_error_val": float("nan"),
    "method_type": "baseline",
    "method_subtype": None,
    "config_type": None,
    "imputed": False,
    "impute_method": None,
    "ta_name": None,
    "ta_suite": None,
}
_AGAIN = "process the method again with scripts/run_process_method.py, or fetch it with scripts/fetch_method.py"
COLUMNS = (*_REQUIRED, *_DEFAULTS)


def results_frame(tables: Iterable[pa.Table], *, where: str) -> pd.DataFrame:
    """The rows of ``hpo_results`` or ``model_results`` tables as one results frame.

    Columns that a table lacks take the defaults of the published evaluation: a row without a type is a baseline, and
    was not imputed. ``where`` names the source in errors.

    Raises:
        Failure: a required column is missing or of the wrong type, or a row lacks its method, dataset, split, metric or
            problem type; all problems at once.
    """
    import pandas as pd

    read = list(tables)
    problems = [problem for table in read for problem in _column_problems(table, where)]
    if problems:
        raise Failure(problems)
    parts = [_standard_columns(table) for table in read]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in COLUMNS})


def _column_problems(table: pa.Table, where: str) -> list[Problem]:
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        found = f"no column {', '.join(missing)} among {', '.join(table.column_names)}"
        return [Problem("missing-columns", where, found, "the columns of hpo_results or model_results tables", _AGAIN)]
    problems = []
    for name in _REQUIRED:
        column = table.column(name)
        kind = "numbers" if name in _NUMBERS else "whole numbers" if name == "fold" else "text"
        if not _holds(column.type, kind):
            problems.append(Problem("wrong-type", f"{where}: {name}", f"values of type {column.type}", kind, _AGAIN))
        elif name not in _NUMBERS and column.null_count:
            found = f"{column.null_count} row(s) without it"
            problems.append(Problem("missing-values", f"{where}: {name}", found, "complete rows", _AGAIN))
    return problems


def _holds(kind: pa.DataType, expected: str) -> bool:
    from pyarrow import types

    if expected == "text":
        value = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(value) or types.is_large_string(value))
    whole = bool(types.is_integer(kind))
    return whole if expected == "whole numbers" else whole or bool(types.is_floating(kind) or types.is_null(kind))


def _standard_columns(table: pa.Table) -> pd.DataFrame:
    frame = table.select([name for name in COLUMNS if name in table.column_names]).to_pandas()
    for name, default in _DEFAULTS.items():
        if name in frame:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), default)
        else:
            frame[name] = default
    # Plain objects for text: pandas would type an all-empty column as float, and keep unused categories in groups.
    text = [name for name in COLUMNS if name not in (*_NUMBERS, "fold", "metric_error_val", "imputed")]
    numbers = dict.fromkeys((*_NUMBERS, "metric_error_val"), float)
    types = {**numbers, **dict.fromkeys(text, object), "fold": "int64", "imputed": bool}
    return frame[list(COLUMNS)].astype(types)


def split_names(frame: pd.DataFrame, *, limit: int = 6) -> str:
    """The splits of a frame's rows for a message: ``wine 0, 2; digits 1 and 4 more``."""
    splits = sorted({(str(dataset), int(fold)) for dataset, fold in zip(frame["dataset"], frame["fold"], strict=True)})
    by_dataset: dict[str, list[int]] = {}
    for dataset, fold in splits[:limit]:
        by_dataset.setdefault(dataset, []).append(fold)
    text = "; ".join(f"{dataset} {', '.join(map(str, folds))}" for dataset, folds in by_dataset.items())
    return text + (f" and {len(splits) - limit} more" if len(splits) > limit else "")


def names(values: Iterable[str], *, limit: int = 12) -> str:
    """Sorted names for a message, cut after ``limit``."""
    return some(sorted(values), limit)
