"""The results that inspect and process are measured on, and the metadata of their methods.

A tuned LightGBM is generated: 201 configs on two splits of three tasks of TabArena-v0.1, in their sizes, each a genuine
result with predictions of ours, which share their errors as one model's configs do. A RandomForest is genuine but for
the tasks' ids, since the peer's command knows published tasks alone.
"""

from __future__ import annotations

import gzip
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ensembles import SETS, make_split
from measure import HERE, Bench, answer

from benchwright.files import RunPaths

QUICK_CONFIGS, WARM_UP_CONFIGS = 9, 2
FOLDS = range(2)
_CHILDREN = 8
_RAW = HERE.parent / "tests" / "data" / "tabarena_raw" / "data"
_INFO = '''"""The metadata of the methods, as a TabArena checkout declares it."""

from tabarena.models._method_metadata import MethodMetadata

lightgbm_method_metadata = MethodMetadata.config(
    method="LightGBM",
    suite="bench",
    ag_key="GBM",
    config_default="LightGBM_c1_default_BAG_L1",
    can_hpo=True,
    is_bag=True,
    compute="cpu",
)
random_forest_method_metadata = MethodMetadata.config(
    method="RandomForest",
    suite="bench",
    ag_key="RF",
    config_default="RandomForest_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
    compute="cpu",
)
'''
INFO_MODULE = "bench_info"


class Task(NamedTuple):
    """A published task, and the local one whose genuine results stand for it."""

    tid: int
    dataset: str
    genuine: str


TASKS = {
    "roc_auc": Task(363623, "churn", "local_breast_cancer-498b8450f429"),
    "log_loss": Task(363704, "students_dropout_and_academic_success", "local_wine-0ae0b9dbb2cc"),
    "rmse": Task(363708, "wine_quality", "local_diabetes-a3d1e20e7ed9"),
}
"""One for each metric."""


def tuned(bench: Bench, configs: int) -> Path:
    """The folder of the results of that many LightGBM configs, made unless it is there whole."""
    return Path(bench.run("raw_results", "tuned", bench.workspace, configs).answer["data"])


def small(bench: Bench) -> Path:
    """The folder of the nine results of RandomForest."""
    return Path(bench.run("raw_results", "small", bench.workspace).answer["data"])


def info(bench: Bench) -> Path:
    """The checkout whose module ``INFO_MODULE`` declares both methods, as ``--repo`` takes it."""
    folder = bench.workspace / "results" / "checkout"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{INFO_MODULE}.py").write_text(_INFO)
    return folder


def grow_tuned(workspace: str, configs: str) -> dict[str, str]:
    """Make the LightGBM results."""
    paths = RunPaths(Path(workspace) / "results", f"lightgbm_{configs}")
    done = paths.output / "complete"
    if not done.exists():
        shutil.rmtree(paths.output, ignore_errors=True)
        for metric, task in TASKS.items():
            for fold in FOLDS:
                for content in _results(metric, task, fold, int(configs)):
                    _write(paths, task, content)
        done.touch()
    return {"data": str(paths.data)}


def grow_small(workspace: str) -> dict[str, str]:
    """Relabel the RandomForest results."""
    paths = RunPaths(Path(workspace) / "results", "random_forest")
    for task in TASKS.values():
        for file in _RAW.glob(f"RandomForest_c1_default_BAG_L1/{task.genuine}/*/results.pkl"):
            content = pickle.loads(gzip.decompress(file.read_bytes()))
            content["task_metadata"] |= {"tid": task.tid, "name": task.dataset}
            _write(paths, task, content)
    return {"data": str(paths.data)}


def _write(paths: RunPaths, task: Task, content: dict[str, Any]) -> None:
    where = content["task_metadata"]
    path = paths.result(content["framework"], str(task.tid), where["repeat"], where["fold"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(pickle.dumps(content, protocol=4), mtime=0))


def _results(metric: str, task: Task, fold: int, configs: int) -> Iterator[dict[str, Any]]:
    """The results of one split: the default config's, then those of the random ones."""
    import numpy as np

    from benchwright.raw.metrics import metric_error

    rng = np.random.default_rng([task.tid, fold])
    (rows, _), (y_val, val, y_test, test) = SETS[metric], make_split(metric, seed=fold, configs=configs)
    (genuine,) = _RAW.glob(f"LightGBM_c1_default_BAG_L1/{task.genuine}/0_0/results.pkl")
    base = pickle.loads(gzip.decompress(genuine.read_bytes()))
    place = {"tid": task.tid, "name": task.dataset, "fold": fold, "split_idx": fold}
    folds = [np.sort(part).astype(np.int16) for part in np.array_split(rng.permutation(rows), _CHILDREN)]
    labels = {
        "y_val": y_val,
        "y_test": y_test,
        "y_val_idx": np.arange(rows, dtype=np.int16),
        "y_test_idx": np.arange(rows, rows + len(y_test), dtype=np.int16),
    }
    for number in range(configs):
        suffix = f"_r{number}_default" if number else "_c1_default"
        name = f"LightGBM{suffix}_BAG_L1"
        children = [_child(metric, test[number], rng) for _ in range(_CHILDREN)]
        mean = np.mean(children, axis=0, dtype=np.float64).astype(np.float32)
        predictions = {
            "pred_proba_dict_val": {name: val[number]},
            "pred_proba_dict_test": {name: mean},
            "bag_info": {"pred_proba_test_per_child": children, "val_idx_per_child": folds},
        }
        yield base | {
            "framework": name,
            "metric_error": metric_error(metric, y_test, mean),
            "metric_error_val": metric_error(metric, y_val, val[number]),
            "time_train_s": float(rng.uniform(1, 100)),
            "time_infer_s": float(rng.uniform(0.01, 1)),
            "task_metadata": base["task_metadata"] | place,
            "method_metadata": _named(base["method_metadata"], suffix),
            "simulation_artifacts": base["simulation_artifacts"] | labels | predictions,
        }


def _child(metric: str, predictions: Any, rng: Any) -> Any:
    """What one of the bag's models predicts: near to what they do together, in odds where there are any."""
    import numpy as np

    moved = predictions * rng.lognormal(0, 0.05, predictions.shape)
    if metric == "roc_auc":
        moved /= moved + 1 - predictions
    elif metric == "log_loss":
        moved /= moved.sum(1, keepdims=True)
    return moved.astype(np.float32)


def _named(method_metadata: dict[str, Any], suffix: str) -> dict[str, Any]:
    settings = method_metadata["model_hyperparameters"]
    ag_args = settings["ag_args"] | {"name_suffix": suffix}
    return method_metadata | {"model_hyperparameters": settings | {"ag_args": ag_args}}


if __name__ == "__main__":
    answer(tuned=grow_tuned, small=grow_small)
