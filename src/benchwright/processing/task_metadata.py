"""``task_metadata.parquet``: what is known of each dataset, from a table of its splits or else from the results."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.arena.machine_paths import without_paths
from benchwright.contract import Failure, Problem, Redaction
from benchwright.raw.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

TaskRow = Mapping[str, str]
"""One split as a row of the runner's ``task_metadata.csv`` or of the ``tabarena`` wheel's table: texts by column."""

_TEXTS = (
    "dataset", "dataset_name", "problem_type", "target_name", "eval_metric", "split_time_horizon_unit", "stratify_on",
    "time_on", "group_on", "group_time_on", "group_labels", "tabarena_task_name", "data_foundry_uri", "task_type",
    "domain", "source", "name",
)  # fmt: skip
_FLAGS = (
    "is_classification", "class_consistency_over_splits", "has_datetime", "has_text", "has_categorical",
    "has_numerical", "has_binary", "has_high_cardinality_categorical",
)  # fmt: skip
_FRACTIONS = ("missing_value_fraction", "n_samples_train_per_fold", "n_samples_test_per_fold")
_COLUMNS = (
    "dataset", "dataset_name", "problem_type", "is_classification", "target_name", "eval_metric", "split_time_horizon",
    "split_time_horizon_unit", "stratify_on", "time_on", "group_on", "group_time_on", "group_labels",
    "multiclass_min_n_classes_over_splits", "multiclass_max_n_classes_over_splits", "class_consistency_over_splits",
    "num_instances", "n_features", "n_classes", "num_instance_groups", "tabarena_task_name", "task_id_str",
    "has_datetime", "has_text", "has_categorical", "has_numerical", "has_binary", "has_high_cardinality_categorical",
    "data_foundry_uri", "task_type", "num_text_cols", "num_high_cardinality_cats", "num_cols_after_preprocessing",
    "missing_value_fraction", "domain", "dataset_year", "source", "tid", "name", "n_folds", "n_repeats",
    "n_samples_train_per_fold", "n_samples_test_per_fold",
)  # fmt: skip
_PLACES = ("data_foundry_uri", "source", "domain")
"""Texts that may be paths; the others name columns and tasks, which may look like one."""
_COUNTED = ("num_instances_train", "num_instances_test")
_OLD_NAMES = {"n_features": "num_features", "n_classes": "num_classes"}
_TRUTH = {"True": True, "False": False}
_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
"""What 64 bits hold."""


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """What a result says of its split. ``train_rows`` is None unless every one of them was validated on."""

    dataset: str
    tid: int
    task_key: str
    repeat: int
    fold: int
    split: int
    problem_type: str
    target: str | None
    classes: int | None
    train_rows: int | None
    test_rows: int | None

    @classmethod
    def of(cls, result: Result, task_key: str) -> SplitFacts:
        """The facts of a result in the folder of task ``task_key``."""
        predictions = result.predictions
        bagged = predictions is not None and predictions.is_bagged
        return cls(
            dataset=result.dataset,
            tid=result.tid,
            task_key=task_key,
            repeat=result.repeat,
            fold=result.fold,
            split=result.split,
            problem_type=result.problem_type,
            target=predictions.label or None if predictions else None,
            classes=predictions.num_classes if predictions else None,
            train_rows=len(predictions.y_val) if predictions and bagged else None,
            test_rows=len(predictions.y_test) if predictions else None,
        )


class TaskTable:
    """The rows of a table of splits, by dataset.

    Raises:
        Failure: a row lacks the columns that name the dataset, the task and the split, or has a number or a truth value
            that is none or that no table can hold (code ``bad-task-row``).
    """

    def __init__(self, rows: Iterable[TaskRow]) -> None:
        self._splits: dict[str, list[TaskRow]] = defaultdict(list)
        for row in rows:
            try:
                own = self._splits[row["tabarena_task_name"]]
                _check_row(row, told=not own)
                own.append(row)
            except (AttributeError, KeyError, TypeError, ValueError):
                expected = "tabarena_task_name, task_id_str, repeat, fold and the runner's other columns"
                where, fix = row.get("tabarena_task_name") or "task rows", "correct this row of the table of tasks"
                raise Failure(Problem("bad-task-row", where, f"{dict(row)}", expected, fix)) from None

    def __contains__(self, dataset: str) -> bool:
        return dataset in self._splits

    @property
    def datasets(self) -> list[str]:
        """The datasets in the table's order."""
        return list(self._splits)

    def tid(self, dataset: str) -> int:
        """The task's number."""
        return _tid(self._splits[dataset][0])

    def splits(self, dataset: str) -> set[tuple[int, int]]:
        """The (repeat, fold) of each split."""
        return {(int(row["repeat"]), int(row["fold"])) for row in self._splits[dataset]}

    def values(self, dataset: str) -> dict[str, Any]:
        """The dataset's row of ``task_metadata.parquet``, as texts and numbers."""
        rows = self._splits[dataset]
        first = rows[0]
        values: dict[str, Any] = {name: first.get(_OLD_NAMES.get(name, name)) or None for name in _COLUMNS}
        return values | {
            "dataset": dataset,
            "name": dataset,
            "tid": _tid(first),
            # A local task's last part is the folder of the machine that it was made on.
            "task_id_str": "|".join(first["task_id_str"].split("|")[:3]),
            "n_folds": len({row["fold"] for row in rows}),
            "n_repeats": len({row["repeat"] for row in rows}),
            "n_samples_train_per_fold": _mean([row.get("num_instances_train") for row in rows]),
            "n_samples_test_per_fold": _mean([row.get("num_instances_test") for row in rows]),
        }


def task_metadata(tasks: TaskTable, facts: Sequence[SplitFacts], redact: Redaction) -> pa.Table:
    """One row a dataset: those of ``tasks`` in their order, then what ``facts`` say of others, by name.

    Secrets are hidden in it, and paths where it names a place.

    Types are those that ``pandas`` finds for ``tabarena``: whole numbers where none is missing, null where all are.
    """
    from benchwright.processing.columns import table_of

    own: dict[str, list[SplitFacts]] = defaultdict(list)
    for each in facts:
        if each.dataset not in tasks:
            own[each.dataset].append(each)
    rows = [tasks.values(dataset) for dataset in tasks.datasets]
    rows += [_values(splits) for _, splits in sorted(own.items())]
    for row in rows:
        row.update((name, redact(text)) for name, text in row.items() if isinstance(text, str))
        row.update((name, without_paths(row[name])) for name in _PLACES if row.get(name))
    columns = {name: _parsed(name, [row.get(name) for row in rows]) for name in _COLUMNS}
    return table_of(columns, _schema(columns))


def _values(splits: Sequence[SplitFacts]) -> dict[str, Any]:
    """What results say of their dataset."""
    first = splits[0]
    train = _mean([split.train_rows for split in splits])
    test = _mean([split.test_rows for split in splits])
    rows = None if first.train_rows is None or first.test_rows is None else first.train_rows + first.test_rows
    return {
        "dataset": first.dataset,
        "name": first.dataset,
        "tabarena_task_name": first.dataset,
        "problem_type": first.problem_type,
        "is_classification": first.problem_type != "regression",
        "target_name": first.target,
        "num_instances": rows,
        "n_classes": first.classes if first.classes is not None else -1 if first.problem_type == "regression" else None,
        "task_id_str": first.task_key if first.task_key.isdigit() else None,
        "tid": first.tid,
        "n_folds": len({split.fold for split in splits}),
        "n_repeats": len({split.repeat for split in splits}),
        "n_samples_train_per_fold": train,
        "n_samples_test_per_fold": test,
    }


def _check_row(row: TaskRow, *, told: bool) -> None:
    """Raise ValueError or KeyError where a row cannot be used; a dataset's first row is the one that is ``told``."""
    for part in (row["repeat"], row["fold"], str(_tid(row))):
        if not _WHOLE.fullmatch(part):
            raise ValueError(part)
    for name in (*_COUNTED, *(_COLUMNS if told else ())):
        _parsed(name, [row.get(_OLD_NAMES.get(name, name)) or None])


def _parsed(name: str, values: Sequence[Any]) -> list[Any]:
    if name in _TEXTS:
        return list(values)
    if name in _FLAGS:
        return [_TRUTH[value] if isinstance(value, str) else value for value in values]
    if name == "task_id_str" and not all(value is None or value.isdigit() for value in values):
        return list(values)
    return [_number(value) for value in values]


def _schema(columns: Mapping[str, Sequence[Any]]) -> pa.Schema:
    import pyarrow as pa

    def kind(name: str, values: Sequence[Any]) -> pa.DataType:
        present = [value for value in values if value is not None]
        if not present:
            return pa.null()
        if isinstance(present[0], str):
            return pa.string()
        if isinstance(present[0], bool):
            return pa.bool_()
        whole = all(isinstance(value, int) for value in present) and len(present) == len(values)
        return pa.int64() if whole and name not in _FRACTIONS else pa.float64()

    return pa.schema([(name, kind(name, values)) for name, values in columns.items()])


def _tid(row: TaskRow) -> int:
    parts = row["task_id_str"].split("|")  # a bare OpenML id, or UserTask|<id>|<name>[|<folder>]
    return int(parts[min(1, len(parts) - 1)])


def _number(value: Any) -> int | float | None:
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]
    number = int(value) if _WHOLE.fullmatch(value) else float(value)
    if math.isinf(number):
        raise ValueError(value)
    return number


def _mean(values: Iterable[Any]) -> float | None:
    present = [float(value) for value in values if value not in (None, "")]
    return sum(present) / len(present) if present else None
