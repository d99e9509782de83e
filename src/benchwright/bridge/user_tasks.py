"""Mini tasks as the runner's own local tasks: built, described and stored without the network."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from loguru import logger
from tabarena.benchmark.task.metadata import TaskMetadataCollection
from tabarena.benchmark.task.user_task import UserTask

from benchwright.contract import usage_error
from benchwright.mini import TARGET, MiniTask

logger.disable(UserTask.__module__)  # a debugging line for every task that is saved


def describe(tasks: tuple[MiniTask, ...]) -> TaskMetadataCollection:
    """The runner's metadata of mini tasks, one entry a split, with an id that names no path yet."""
    return TaskMetadataCollection.from_source(
        [_wrapper(task, UserTask(task_name=task.name)).metadata for task in tasks]
    )


def store(tasks: tuple[MiniTask, ...], folder: Path) -> None:
    """Write each task's data to ``<folder>/<task key>.pkl`` in the runner's format, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as new:
        for task in tasks:
            handle = UserTask(task_name=task.name, task_cache_path=folder)
            written = UserTask(task_name=task.name, task_cache_path=Path(new))
            written.save_task(_wrapper(task, handle))
            written.task_path.replace(handle.task_path)


def located(collection: TaskMetadataCollection, folder: Path) -> TaskMetadataCollection:
    """The same metadata with ids that name the folder of the data.

    Raises:
        Failure: the folder's path cannot stand in an id (exit 2).
    """
    if "|" in str(folder):
        expected, fix = "a path without '|', which separates the parts of a task id", "take another WORKSPACE"
        raise usage_error("workspace", str(folder), expected, fix)
    return TaskMetadataCollection([_located(metadata, folder) for metadata in collection])


def _located(metadata: Any, folder: Path) -> Any:
    name = metadata.task_id_str.split("|")[2]
    return replace(metadata, task_id_str=UserTask(task_name=name, task_cache_path=folder).task_id_str)


def _wrapper(task: MiniTask, handle: UserTask) -> Any:
    splits = {fold: (train.tolist(), test.tolist()) for fold, (train, test) in enumerate(task.folds())}
    return handle.create_task(
        dataset=task.frame(),
        target_feature=TARGET,
        problem_type="regression" if task.problem_type == "regression" else "classification",
        splits={0: splits},
        eval_metric=task.metric,
        stratify_on=None if task.problem_type == "regression" else TARGET,
    )
