"""The pieces of a job batch that one item needs, each in a small file of its own.

A saved ``JobBatch`` holds every experiment in one YAML file and every split in one CSV file; reading both for each item
costs seconds on a full benchmark. Beside them, ``items/experiments/<name>.yaml`` and ``items/tasks/<task key>.csv``
hold the same entries in the same formats, one at a time, and ``items/data/<task key>.pkl`` the data of a task that was
made here rather than downloaded.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import yaml
from tabarena.benchmark.experiment import Experiment, JobBatch
from tabarena.benchmark.experiment.experiment_constructor import YamlSingleExperimentSerializer
from tabarena.benchmark.task.metadata import TaskMetadataCollection
from tabarena.benchmark.task.spec import TaskSpec, task_spec_from_task_id_str
from tabarena.benchmark.task.user_task import UserTask
from tabarena.caching import CacheConfig

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_json, write_text

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BATCH_FILES = ("jobs.json", "experiments.yaml", "task_metadata.csv", "cache_config.json")
_LONGEST_NAME = 255
"""Bytes in a file name on the usual file systems."""


def clear_batch(folder: Path) -> None:
    """Remove what an earlier batch left in ``folder``, and nothing else that may be there."""
    shutil.rmtree(folder / "items", ignore_errors=True)
    for name in _BATCH_FILES:
        (folder / name).unlink(missing_ok=True)


def save_batch(batch: JobBatch, folder: Path) -> None:
    """Write a job batch in its own format, and its pieces beside it."""
    batch.save(folder)
    for experiment in batch.experiments:
        write_text(_experiment_file(folder, experiment.name), experiment.to_yaml_str())
    for metadata in batch.task_metadata.task_metadata_by_dataset().values():
        key = str(task_spec_from_task_id_str(metadata.task_id_str).cache_key)
        write_text(_task_file(folder, key), metadata.to_dataframe().to_csv(index=False))


def apply_caches(folder: Path) -> None:
    """Point this process at the caches that the batch was set up with, if it names any."""
    path = folder / "cache_config.json"
    if path.is_file():
        CacheConfig.from_dict(read_json(path)).apply()


def load_experiment(folder: Path, name: str) -> Experiment:
    """One experiment of a saved batch.

    Raises:
        Failure: the batch has none of that name (exit 3: the folder is another run's, or was cleared).
    """
    text = _read(_experiment_file(folder, name), folder, f"experiment {name!r}")
    return YamlSingleExperimentSerializer.parse_method(yaml.load(text, Loader=_LOADER))


def load_task(folder: Path, key: str) -> TaskSpec:
    """One task of a saved batch, carrying the metadata that it was planned with.

    Data that the batch holds itself are read from where the batch is now, whatever path they were saved under.

    Raises:
        Failure: the batch has none of that key (exit 3).
    """
    import pandas as pd

    text = _read(_task_file(folder, key), folder, f"task {key!r}")
    collection = TaskMetadataCollection.from_source(pd.read_csv(io.StringIO(text), index_col=False))
    (metadata,) = collection.task_metadata_by_dataset().values()
    if not isinstance(metadata.eval_metric, str):
        metadata.eval_metric = None  # an empty field of the CSV is NaN here, which is no metric's name
    spec = task_spec_from_task_id_str(metadata.task_id_str)
    if isinstance(spec, UserTask) and (data_folder(folder) / spec.task_path.name).exists():
        spec = UserTask(task_name=spec.task_name, task_cache_path=data_folder(folder))
    return spec.with_task_metadata(metadata)


def data_folder(folder: Path) -> Path:
    """Where a batch keeps the data of tasks that were made here."""
    return folder / "items" / "data"


def _experiment_file(folder: Path, name: str) -> Path:
    return folder / "items" / "experiments" / _file_name("experiment", name, ".yaml")


def _task_file(folder: Path, key: str) -> Path:
    return folder / "items" / "tasks" / _file_name("task_key", key, ".csv")


def _file_name(where: str, name: str, suffix: str) -> str:
    """``name`` with ``suffix``; the names of experiments and tasks are those of folders in the results tree as well."""
    if (
        not name
        or "/" in name
        or "\0" in name
        or name in {".", ".."}
        or len(f"{name}{suffix}".encode()) > _LONGEST_NAME
    ):
        fix = "rename it, without '/' and shorter where it is too long"
        raise usage_error(where, repr(name), "a name that can be a folder's, at most 250 bytes", fix)
    return name + suffix


def _read(path: Path, folder: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Failure(
            Problem("not-in-batch", str(folder), f"no {what}", "a job batch that holds it", "run setup again"),
            exit=Exit.ENVIRONMENT,
        ) from None
