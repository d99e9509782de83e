import csv
from pathlib import Path

import pytest

from benchwright.arena import Split, TaskSet

TASKS = Path(__file__).parents[1] / "data" / "tabarena_tasks.csv"


@pytest.fixture(scope="session")
def v01() -> TaskSet:
    """TabArena-v0.1: 51 datasets, 816 splits."""
    splits = []
    with TASKS.open(newline="") as file:
        for row in csv.DictReader(file):
            folds, classes = int(row["n_folds"]), int(row["n_classes"])
            splits += [
                Split(
                    dataset=row["dataset"],
                    task_key=row["openml_task_id"],
                    tid=int(row["openml_task_id"]),
                    repeat=repeat,
                    fold=fold,
                    split=folds * repeat + fold,
                    problem_type=row["problem_type"],
                    metric=row["eval_metric"],
                    n_features=int(row["n_features"]),
                    n_classes=classes if classes > 0 else None,
                    train_rows=float(row["max_train_rows"]),
                    test_rows=float(row["max_test_rows"]),
                    categorical_share=float(row["pct_cat_features"]) / 100,
                )
                for repeat in range(int(row["n_repeats"]))
                for fold in range(folds)
            ]
    return TaskSet(splits)
