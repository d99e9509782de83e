"""Checks of the values that a plan holds."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import RunPaths
from benchwright.launch.plan import BenchmarkPlan, ModelJob, ResourcesSetup, is_choice

_AT_LEAST: Mapping[str, int] = {
    "num_cpus": 1,
    "num_gpus": 0,
    "bundle_size": 1,
    "parallel": 1,
    "max_array_size": 1,
    "array_job_limit": 1,
    "workers": 1,
    "disk_size": 1,
    "large_dataset_n_features": 0,
    "large_dataset_n_samples": 0,
}
_POSITIVE = ("time_limit", "time_limit_for_model_agnostic_preprocessing", "memory_limit", "fake_memory_for_estimates")
_SWITCHES = (
    *("time_limit_with_preprocessing", "mem_per_handle", "exclusive_node", "ask_cluster"),
    "setup_ray_for_slurm_shared_resources_environment",
    *("pool", "use_spot", "ask_sky"),
)
_TEXTS = ("cpu_partition", "gpu_partition", "extra_gres", "cpus", "memory", "accelerators")
_NEEDED_TEXTS = ("store", "infra")
_MAY_BE_NONE = ("num_cpus", "num_gpus", "max_array_size", "disk_size", *_POSITIVE, *_TEXTS)
MOST_CONFIGS = 10_000
IN_PLAN = "correct it in the plan of the run script, then take the step again"
_MODEL = 'a registered name, or (name, "all" or a number of random configs)'


def value_problems(values: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Fields of a resources or scheduler set-up whose values cannot be meant."""
    for name, value in values.items():
        if value is None and name in _MAY_BE_NONE:
            continue
        if name in _AT_LEAST and not _is_whole(value, _AT_LEAST[name]):
            expected = f"a whole number of at least {_AT_LEAST[name]}"
            yield Problem("usage", f"{where}: {name}", repr(value), expected, IN_PLAN)
        elif name in _POSITIVE and not _is_positive(value):
            yield Problem("usage", f"{where}: {name}", repr(value), "a number above 0", IN_PLAN)
        elif name == "time_limit_overhead" and not (_is_positive(value) or _is_whole(value, 0)):
            yield Problem("usage", f"{where}: {name}", repr(value), "hours, a number of at least 0", IN_PLAN)
        elif name in _SWITCHES and not isinstance(value, bool):
            yield Problem("usage", f"{where}: {name}", repr(value), "True or False", IN_PLAN)
        elif name in _TEXTS and not (isinstance(value, str) and value.isprintable()):
            yield Problem("usage", f"{where}: {name}", repr(value), "a text, or None", IN_PLAN)
        elif name in _NEEDED_TEXTS and not (isinstance(value, str) and value and value.isprintable()):
            yield Problem("usage", f"{where}: {name}", repr(value), "a text", IN_PLAN)
        elif name == "bundle_size_per_dataset":
            yield from _size_problems(value, f"{where}: {name}")


def plan_problems(plan: BenchmarkPlan) -> Iterator[Problem]:
    """Fields of the plan itself that cannot be meant."""
    try:
        plan.paths  # noqa: B018 - an impossible name is said beside the other problems
    except Failure as failure:
        yield from failure.problems
    if not isinstance(plan.arena, str) and not hasattr(plan.arena, "spec"):
        expected = "the name of an arena, or an opened one"
        yield Problem("usage", "arena", repr(plan.arena), expected, "mini, tabarena or beyondarena as the plan's arena")
    try:
        plan.path_setup.python  # noqa: B018 - as above
    except (TypeError, OSError):
        python = plan.path_setup.python_path
        yield Problem(
            "usage",
            "python_path",
            repr(python),
            "the path of a Python, an absolute one where the current folder is gone",
            "give the run script a whole path as PYTHON_PATH",
        )
    for name in ("prefetch_model_weights", "offline_weights"):
        if not isinstance(getattr(plan, name), bool):
            yield Problem("usage", name, repr(getattr(plan, name)), "True or False", IN_PLAN)
    if not plan.model_jobs:
        fix = 'put ModelJob(("NAME", "all")) into model_jobs of the run script, with the model\'s name'
        yield Problem("no-models", "model_jobs", "none", "at least one ModelJob", fix)


def gpu_memory_problems(resources: ResourcesSetup, where: str) -> Iterator[Problem]:
    """A card's memory that is missing for a job with a GPU, or given for one without."""
    memory, gpus = resources.fake_memory_for_estimates, resources.num_gpus or 0
    if not _is_whole(gpus, 0):
        return
    if gpus and memory is None:
        found = f"{gpus} GPU and no fake_memory_for_estimates"
        expected = "the card's memory in GB, so that parallel folds are planned by it and not by the machine's RAM"
        fix = "put it beside num_gpus in the run script, as nvidia-smi shows it where the card is"
        yield Problem("no-gpu-memory", where, found, expected, fix)
    if not gpus and memory is not None:
        found = f"fake_memory_for_estimates {memory} and no GPU"
        expected = "both or neither: without a GPU, estimates are held against the machine's RAM"
        fix = "put num_gpus beside it in the run script, or take it out"
        yield Problem("gpu-memory-on-cpu", where, found, expected, fix)


def require_folders(paths: RunPaths) -> None:
    """Refuse a workspace that cannot hold a run.

    Raises:
        Failure: a file, or nothing that can be made, is where a folder should be; every such place (exit 3).
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - Path raises where a user has none
    own = (paths.data, paths.logs, paths.plans, paths.task_cache)
    folders = dict.fromkeys(own, "give the run script another WORKSPACE")
    if home != "~":
        folders[Path(home)] = "set HOME to another folder"
    problems = dict.fromkeys(problem for folder, fix in folders.items() if (problem := _obstacle(folder, fix)))
    if problems:
        raise Failure(list(problems), exit=Exit.ENVIRONMENT)


def _obstacle(folder: Path, fix: str) -> Problem | None:
    """What keeps a folder from being made: the nearest thing above it is none. ``fix`` names another place for it."""
    for place in (folder, *folder.parents):
        try:
            is_folder = stat.S_ISDIR(place.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            if not place.is_symlink():
                continue
            is_folder = False
        except OSError as error:
            found = f"no possible folder ({error.strerror})"
            return Problem("not-a-folder", str(place), found, "one that can be", fix)
        if is_folder:
            return None
        expected = "one, for what this run writes"
        return Problem("not-a-folder", str(place), "no folder", expected, f"move it away, or {fix}")
    return None


def model_problems(job: ModelJob, where: str) -> Iterator[Problem]:
    """Models of a job that are none."""
    if not job.choices:
        yield Problem("no-models", f"{where}.models", "none", _MODEL, "name one, or take this job out of the plan")
    for choice in job.choices:
        configs = choice[1] if isinstance(choice, tuple) and len(choice) == 2 else None
        if not is_choice(choice) or (isinstance(configs, int) and configs < 0):
            yield Problem("usage", f"{where}.models", repr(choice), _MODEL, IN_PLAN)
        elif isinstance(configs, int) and configs > MOST_CONFIGS:
            expected = f"at most {MOST_CONFIGS:,} configs of a model"
            yield Problem("usage", f"{where}.models", repr(choice), expected, IN_PLAN)


def _size_problems(sizes: object, where: str) -> Iterator[Problem]:
    if not isinstance(sizes, Mapping):
        yield Problem("usage", where, repr(sizes), "a mapping of datasets to bundle sizes", IN_PLAN)
        return
    for dataset, size in sizes.items():
        if not _is_whole(size, 1):
            yield Problem("usage", f"{where}[{dataset!r}]", repr(size), "a whole number of at least 1", IN_PLAN)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
