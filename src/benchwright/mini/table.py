"""The shipped table of the mini tasks' splits, so that planning and evaluation need neither scikit-learn nor pandas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from benchwright.arena import Split, TaskSet, Traits
from benchwright.contract import Exit, Failure, Problem
from benchwright.files import write_text
from benchwright.mini.catalogue import TASKS
from benchwright.mini.task import MiniTask

TABLE = Path(__file__).parent / "data" / "tasks.csv"
_COLUMNS = (
    "name",
    "fold",
    "problem_type",
    "n_features",
    "n_categorical",
    "n_classes",
    "train_rows",
    "test_rows",
    "digest",
)


def task_set() -> TaskSet:
    """The splits of the shipped table, three a task, in the order of ``TASKS``."""
    by_name = {task.name: task for task in TASKS}
    return TaskSet(_split(by_name[row["name"]], row) for row in _rows())


def verify(keys: Iterable[str]) -> tuple[MiniTask, ...]:
    """Make the tasks with these keys, and see that they are the ones that the reference results were computed on.

    Raises:
        Failure: a task comes out differently here (exit 3), with a problem for each.
        KeyError: a key is no mini task's.
    """
    by_key = {task.key: task for task in TASKS}
    tasks = tuple(by_key[key] for key in dict.fromkeys(keys))
    shipped = {row["name"]: row["digest"] for row in _rows()}
    problems = [
        Problem(
            "mini-task-changed",
            f"mini task {task.name}",
            f"made here it has the digest {task.digest()[:12]}",
            f"{shipped[task.name][:12]}, that of the reference results: the installed scikit-learn or NumPy makes "
            "other data",
            "make setup installs the locked versions; scripts/build_mini_reference.py makes references of your own",
        )
        for task in tasks
        if task.digest() != shipped[task.name]
    ]
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    return tasks


def write_table(path: Path = TABLE) -> None:
    """Make every task and write the table anew."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for task in TASKS:
        digest = task.digest()
        for fold, (train, test) in enumerate(task.folds()):
            writer.writerow(
                {
                    "name": task.name,
                    "fold": fold,
                    "problem_type": task.problem_type,
                    "n_features": len(task.features),
                    "n_categorical": len(task.categorical),
                    "n_classes": task.classes or "",
                    "train_rows": len(train),
                    "test_rows": len(test),
                    "digest": digest,
                }
            )
    write_text(path, text.getvalue())


def _rows() -> list[dict[str, str]]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _split(task: MiniTask, row: dict[str, str]) -> Split:
    features, categorical = int(row["n_features"]), int(row["n_categorical"])
    return Split(
        dataset=task.key,
        task_key=task.key,
        tid=task.tid,
        repeat=0,
        fold=int(row["fold"]),
        split=int(row["fold"]),
        problem_type=task.problem_type,
        metric=task.metric,
        n_features=features,
        n_classes=int(row["n_classes"]) if row["n_classes"] else None,
        train_rows=float(row["train_rows"]),
        test_rows=float(row["test_rows"]),
        categorical_share=categorical / features,
        short_name=task.name,
        traits=Traits(
            task_type="random",
            has_categorical=categorical > 0,
            has_numerical=categorical < features,
            has_datetime=False,
            has_text=False,
            has_high_cardinality=False,
        ),
    )
