"""The splits of the published arenas, from the tables in the ``tabarena`` wheel.

The CSV files are read as they are: importing the package's own classes for it takes seconds.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from benchwright.arena import Split, TaskSet, Traits
from benchwright.arena.split import ProblemType
from benchwright.contract import Exit, Failure, Problem

_METRICS = {"root_mean_squared_error": "rmse"}
_FLAGS = {"True": True, "False": False}


def task_table(suite: str) -> Path:
    """The wheel's table of a suite's splits, one row each.

    Raises:
        Failure: ``tabarena`` is not installed (exit 3).
    """
    return _wheel() / "benchmark" / "task" / "metadata" / "sources" / "data" / f"{suite}_tasks_metadata.csv"


def tabarena_tasks() -> TaskSet:
    """The 816 splits of TabArena-v0.1, with the share of categorical features from the wheel's curated table."""
    curated = _wheel() / "benchmark" / "task" / "metadata" / "data" / "curated_tabarena_dataset_metadata.csv"
    shares = {row["dataset_name"]: float(row["percentage_cat_features"]) / 100 for row in read_table(curated)}
    rows = read_table(task_table("TabArena-v0.1"))
    folds = _folds(rows)
    return TaskSet(
        _split(row, folds, share=shares[row["dataset_name"]], traits=Traits(task_type=row["task_type"] or None))
        for row in rows
    )


def beyondarena_tasks() -> TaskSet:
    """The splits of BeyondArena; its table has no share of categorical features, so that is 0 or not a number."""
    core_table = _wheel() / "contexts" / "beyondarena" / "data" / "BeyondArena_core_tasks.csv"
    core = {(row["dataset"], int(row["split"])) for row in read_table(core_table)}
    rows = read_table(task_table("BeyondArena"))
    folds = _folds(rows)
    return TaskSet(
        (
            _split(
                row,
                folds,
                share=0.0 if row["has_categorical"] == "False" else float("nan"),
                traits=_traits(row, in_core=(row["tabarena_task_name"], _index(row, folds)) in core),
            )
            for row in rows
        ),
        vocabulary="beyondarena",
    )


def _split(row: Mapping[str, str], folds: Mapping[str, int], *, share: float, traits: Traits) -> Split:
    parts = row["task_id_str"].split("|")  # a bare OpenML id, or UserTask|<id>|<name>
    dataset, classes = row["tabarena_task_name"], int(row["num_classes"])
    return Split(
        dataset=dataset,
        task_key=dataset if len(parts) > 1 else parts[0],
        tid=int(parts[min(1, len(parts) - 1)]),
        repeat=int(row["repeat"]),
        fold=int(row["fold"]),
        split=_index(row, folds),
        problem_type=cast(ProblemType, row["problem_type"]),
        metric=_METRICS.get(row["eval_metric"], row["eval_metric"]),
        n_features=int(row["num_features"]),
        n_classes=classes if classes > 0 else None,
        train_rows=float(row["num_instances_train"]),
        test_rows=float(row["num_instances_test"]),
        categorical_share=share,
        short_name=row["dataset_name"] if row["dataset_name"] != dataset else None,
        traits=traits,
    )


def _traits(row: Mapping[str, str], *, in_core: bool) -> Traits:
    return Traits(
        task_type=row["task_type"] or None,
        group_labels=row["group_labels"] or None,
        columns=_count(row["num_cols_after_preprocessing"]),
        text_columns=_count(row["num_text_cols"]),
        high_cardinality_columns=_count(row["num_high_cardinality_cats"]),
        has_categorical=_FLAGS.get(row["has_categorical"]),
        has_numerical=_FLAGS.get(row["has_numerical"]),
        has_binary=_FLAGS.get(row["has_binary"]),
        has_datetime=_FLAGS.get(row["has_datetime"]),
        has_text=_FLAGS.get(row["has_text"]),
        has_high_cardinality=_FLAGS.get(row["has_high_cardinality_categorical"]),
        in_core=in_core,
    )


def _index(row: Mapping[str, str], folds: Mapping[str, int]) -> int:
    """The split's index, ``folds * repeat + fold``."""
    return folds[row["tabarena_task_name"]] * int(row["repeat"]) + int(row["fold"])


def _folds(rows: list[dict[str, str]]) -> dict[str, int]:
    """How many folds each dataset has: one more than its highest fold."""
    folds: dict[str, int] = {}
    for row in rows:
        name = row["tabarena_task_name"]
        folds[name] = max(folds.get(name, 0), int(row["fold"]) + 1)
    return folds


def _count(text: str) -> int | None:
    return int(float(text)) if text else None


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV table, as texts by column."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _wheel() -> Path:
    """The folder of the installed ``tabarena``."""
    found = find_spec("tabarena")
    if found is None or not found.submodule_search_locations:
        fix = "make setup, or: pip install 'benchwright[benchmark]'"
        problem = Problem("not-installed", "package tabarena", "not installed", "tabarena 0.1.0", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT)
    return Path(next(iter(found.submodule_search_locations)))
