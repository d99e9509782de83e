"""One item of a benchmark run, fitted: what a bundle's fork server preloads, and what each forked child runs.

A job file names both by string, ``benchwright.bridge.item:preload`` and ``benchwright.bridge.item:run_item``. A forked
child inherits the imports of the first, so that no import happens inside a timed fit.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchwright.arena import Item

BASE_PATH_VARIABLE = "TABARENA_MODEL_ARTIFACTS_BASE_PATH"
"""The environment variable that says where fitted models go while their item runs."""

_FOR_EVERY_FIT = (
    "tabarena.benchmark.experiment",
    "tabarena.benchmark.task.user_task",
    "tabarena.models.warmup",
    "tabarena.utils.memory_utils",
    "tabarena.utils.resources",
    "autogluon.tabular",
    "networkx",
    "sklearn.ensemble",
    "autogluon.tabular.models.knn._knn_loo_variants",
    "benchwright.bridge.recording",
    "benchwright.bridge.cache",
    "benchwright.bridge.batch",
)
_WITH_A_BOOSTER = {
    "lightgbm": ("lightgbm", "autogluon.tabular.models.lgb.callbacks"),
    "xgboost": ("xgboost", "autogluon.tabular.models.xgboost.callbacks"),
    "catboost": ("catboost", "autogluon.tabular.models.catboost.callbacks"),
}
_TORCH_NOTE = "Failed to import torch"
_PRESET_ADVICE = "No presets specified"


@cache
def preload() -> None:
    """Import all that a fit needs. Fits nothing, reads no data, opens no device and starts no thread of its own.

    A booster that is not installed is skipped: its items say so when they run. Calling it again does nothing.
    """
    _quiet_autogluon()
    _remember_package_versions()
    for name in _FOR_EVERY_FIT:
        import_module(name)
    for booster, names in _WITH_A_BOOSTER.items():
        for name in names if find_spec(booster) else ():
            import_module(name)
    _wrap_a_frame()
    registry = import_module("tabarena.benchmark.exec_models.registry")
    registry.tabarena_model_registry  # noqa: B018 - the first access builds it
    # AutoGluon collects garbage some forty times a fit, and each time would walk all that was imported here: 3 of 4.7
    # seconds of a small item. Frozen objects are left out, and their memory stays shared between the children.
    gc.collect()
    gc.freeze()


def run_item(item: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Fit one item and write its ``results.pkl``; a whole result that is there already is left as it is.

    ``item`` holds ``experiment``, ``dataset``, ``repeat``, ``fold`` and ``task_key``; of ``defaults``, the job file's,
    it reads ``job_batch_dir``, ``output_dir``, ``ignore_cache``, ``offline_weights`` (no network for the Hub's
    clients), ``setup_ray_for_slurm_shared_resources_environment`` (a Ray session of its own, where the fit uses Ray)
    and the resources ``num_cpus``, ``num_gpus`` and ``memory_limit`` (GB), which replace the experiment's own when they
    are not None.

    Raises:
        Failure: the batch lacks the experiment or the task (exit 3).
        Exception: whatever the fit raised. No result is written then, and nothing of the fit is left.
    """
    from benchwright.bridge.batch import apply_caches, load_experiment, load_task
    from benchwright.bridge.cache import AtomicResultCache
    from benchwright.bridge.ray_session import FLAG, fits_in_ray, start_ray
    from benchwright.bridge.recording import recording_runner
    from benchwright.bridge.weights import leave_the_hub_alone

    preload()
    if defaults.get("offline_weights"):
        leave_the_hub_alone()
    work = _item(item)
    batch = Path(defaults["job_batch_dir"]).absolute()
    apply_caches(batch)
    output = Path(defaults["output_dir"]).absolute()
    ignore_cache = bool(defaults.get("ignore_cache", False))
    results = AtomicResultCache(output / "data" / work.experiment / work.task_key / f"{work.repeat}_{work.fold}")
    if results.exists and not ignore_cache:
        sys.stdout.write(f"cache hit: {work.label()}\n")
        return
    experiment = load_experiment(batch, work.experiment)
    spec = load_task(batch, work.task_key)
    task = spec.load()
    experiment.experiment_cls = recording_runner(experiment.experiment_cls)
    _apply_resources(experiment.method_kwargs, defaults)
    if defaults.get(FLAG) and fits_in_ray(experiment.method_kwargs):
        start_ray(defaults)
    with _scratch(results.cache_file) as folder:
        _point_artifacts_at(experiment.method_kwargs, folder)
        experiment.run(
            task=task,
            fold=work.fold,
            repeat=work.repeat,
            task_name=spec.resolve_task_name(task),
            cache_task_key=spec.cache_key,
            cacher=results,
            ignore_cache=ignore_cache,
            raise_on_failure=True,
            debug_mode=False,
            eval_metric_name=task.eval_metric,
        )


def _quiet_autogluon() -> None:
    """Keep two things out of the logs that AutoGluon says at every fit.

    They are a note, at error level, that torch is not installed, and a screen of advice on presets.
    """
    for name in ("autogluon.common.utils.resource_utils", "autogluon.tabular.predictor.predictor"):
        logging.getLogger(name).addFilter(_WithoutAdvice())


class _WithoutAdvice(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage().lstrip("\t")
        if text.startswith(_TORCH_NOTE):
            return find_spec("torch") is not None
        return not text.startswith(_PRESET_ADVICE)


def _wrap_a_frame() -> None:
    """Have narwhals, through which newer versions of scikit-learn look at frames, import what it needs for pandas."""
    if find_spec("narwhals"):
        import pandas as pd

        import_module("narwhals.stable.v2").from_native(pd.DataFrame({"column": [0.0]}))


def _remember_package_versions() -> None:
    """Let AutoGluon list the installed packages once a process instead of twice a fit.

    It parses every package's metadata each time, 0.3 seconds of a timed fit for 400 packages. A version of AutoGluon
    that no longer has the function keeps its own way.
    """
    utils: Any = import_module("autogluon.common.utils.utils")
    listing = getattr(utils, "get_package_versions", None)
    if listing is not None:
        utils.get_package_versions = cache(listing)
        utils.get_package_versions()


def _item(item: Mapping[str, Any]) -> Item:
    """The job file's item as one value; a job file of the public launcher has no ``task_key``, its dataset is it."""
    return Item(
        experiment=str(item["experiment"]),
        dataset=str(item["dataset"]),
        repeat=int(item["repeat"]),
        fold=int(item["fold"]),
        task_key=str(item.get("task_key", item["dataset"])),
    )


def _apply_resources(method_kwargs: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    """Put the job's resources into the fit's arguments, where the experiment knows them."""
    fit_kwargs = method_kwargs.get("fit_kwargs") or {}
    for name in ("num_cpus", "num_gpus", "memory_limit"):
        if name in fit_kwargs and defaults.get(name) is not None:
            fit_kwargs[name] = defaults[name]


def _point_artifacts_at(method_kwargs: dict[str, Any], folder: Path) -> None:
    """Let AutoGluon write its predictor below ``folder``."""
    if "init_kwargs" in method_kwargs:
        method_kwargs["init_kwargs"]["default_base_path"] = str(folder)


@contextlib.contextmanager
def _scratch(identity: str) -> Iterator[Path]:
    """A folder for one item's fitted models, the working directory meanwhile, and gone afterwards.

    Its name follows from ``identity``, so that what a killed attempt left is removed by the next one.
    """
    base = Path(os.environ.get(BASE_PATH_VARIABLE) or tempfile.gettempdir())
    folder = base.absolute() / f"benchwright-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with contextlib.chdir(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
