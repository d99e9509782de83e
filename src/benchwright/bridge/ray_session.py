"""Ray as an item on a shared node needs it: a session of its own, no larger than the job, started before any timing.

Sessions of several jobs on one node must not meet: they share neither a folder nor a cluster. AutoGluon takes a session
that is there instead of starting one within the timed fit.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

FLAG = "setup_ray_for_slurm_shared_resources_environment"
"""The job file's entry that asks for it."""

_GIB = 1024**3
_MIB = 1024**2
_STORE_SHARE = 0.3
_SHARED_MEMORY = "/dev/shm"
_SHARED_MEMORY_SHARE = 0.5
"""Of the job's memory; with less of it free the object store goes to the disk, which is slower and does not fail."""


def start_ray(defaults: Mapping[str, Any]) -> None:
    """Start a private session with the job's resources, ``num_cpus``, ``num_gpus`` and ``memory_limit`` (GB).

    Its files go below RAY_TMPDIR, where the bundle runner has made a folder; they and the processes are gone with the
    item.
    """
    import ray

    memory = _memory(defaults.get("memory_limit"))
    free = 0
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(_SHARED_MEMORY).free
    base = os.environ.get("RAY_TMPDIR")
    folder = os.path.join(base, "ray") if base else None  # noqa: PTH118
    ray.init(
        address="local",
        num_cpus=defaults.get("num_cpus") or len(os.sched_getaffinity(0)),
        num_gpus=defaults.get("num_gpus") or 0,
        object_store_memory=int(_STORE_SHARE * memory),
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _temp_dir=folder,
        _plasma_directory=folder if free < _SHARED_MEMORY_SHARE * memory else None,
    )


def fits_in_ray(method_kwargs: Mapping[str, Any]) -> bool:
    """Whether an experiment's folds may be fitted by Ray: not where it, or its model, has them fitted one by one."""
    of_model: Callable[[], dict[str, Any]] = getattr(
        method_kwargs.get("model_cls"), "_get_default_ag_args_ensemble", dict
    )
    given = (method_kwargs.get("model_hyperparameters") or {}).get("ag_args_ensemble") or {}
    return {**of_model(), **given}.get("fold_fitting_strategy") != "sequential_local"


def _memory(limit: float | None) -> float:
    """Bytes that the job may use: its limit, what SLURM gave it, what the machine has, whichever is least.

    A GPU job's limit is its card's memory, which may be more than the job has.
    """
    bounds = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    if limit is not None:
        bounds.append(limit * _GIB)
    given = os.environ.get("SLURM_MEM_PER_NODE", "")
    if given.isdigit() and int(given):  # 0 is all of the node
        bounds.append(float(int(given) * _MIB))
    return min(bounds)
