"""Trees of result files made from genuine results: renamed, moved to other splits, changed."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.arena.config_names import prefix_of
from benchwright.raw.safe_pickle import loads
from benchwright.raw.stand_in import StandInType

DATA = Path(__file__).parent / "data"
RAW = DATA / "tabarena_raw" / "data"
PROTOCOLS = DATA / "tabarena_raw_protocols"
TASKS = {
    "binary": "local_breast_cancer-498b8450f429",
    "multiclass": "local_wine-0ae0b9dbb2cc",
    "regression": "local_diabetes-a3d1e20e7ed9",
}
CONFIG = "LightGBM_c1_default_BAG_L1"
SYSTEM = "DemoLogisticSystem_c1_default"
Change = Callable[[dict[str, Any]], None]


def content_of(path: Path) -> dict[str, Any]:
    """The dict in a genuine result, with ordinary arrays, to be changed and written again."""
    return plain(loads(gzip.decompress(path.read_bytes())))


def add_result(
    root: Path,
    framework: str,
    *,
    source: Path = RAW / CONFIG,
    task: str = "binary",
    split: int = 0,
    dataset: str | None = None,
    key: str | None = None,
    change: Change | None = None,
) -> Path:
    """Write a genuine result below ``root`` as one of ``framework``, repeat 0, fold ``split``; its path.

    ``source`` is the folder of a genuine config, of which the first split of ``task`` is taken. ``dataset`` renames the
    task, ``key`` its folder; ``change`` has the last word on the content.
    """
    value = content_of(source / TASKS[task] / "0_0" / "results.pkl")
    rename(value, framework)
    value["task_metadata"].update(fold=split, split_idx=split)
    if dataset is not None:
        value["task_metadata"]["name"] = dataset
    if change is not None:
        change(value)
    path = root / framework / (key or dataset or TASKS[task]) / f"0_{split}" / "results.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(pickle.dumps(value, 4)))
    return path


def rename(value: dict[str, Any], framework: str) -> None:
    """Make a result one of another config, whose method is what precedes the config's number."""
    if "method_metadata" in value:
        value["method_metadata"]["name_prefix"] = prefix_of(framework, {})
        artifacts = value["simulation_artifacts"]
        for part in ("pred_proba_dict_val", "pred_proba_dict_test"):
            artifacts[part] = {framework: artifacts[part].pop(value["framework"])}
    value["framework"] = framework


def recorded(key: str) -> Change:
    """A change that makes a result record its validation protocol, as a new run does."""
    return lambda value: value["experiment_metadata"].update(validation_protocol=key)


def with_method(**fields: Any) -> Change:
    """A change of a config's ``method_metadata``."""
    return lambda value: value["method_metadata"].update(fields)


def with_memory(**fields: Any) -> Change:
    """A change of what a result records of memory."""
    return lambda value: value["memory_usage"].update(fields)


def plain(value: Any) -> Any:
    """Ordinary arrays and dicts in place of what the loader makes of them, and names in place of classes."""
    if isinstance(value, StandInType):
        return value.origin
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value
