"""Job files: what a compute node reads to know its items.

The public launcher's format. Some defaults are ours: ``entry`` and ``preload`` name the functions that the bundle
runner calls, ``offline_weights`` keeps items off the Hub, and ``slurm_log_dir`` is the folder of all arrays' logs.
``run_script``, the public launcher's way to start an item, is null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.arena import Resources
from benchwright.files import RunPaths, write_json
from benchwright.launch.bundles import Bundles
from benchwright.launch.groups import Group
from benchwright.launch.plan import SlurmSetup

ENTRY = "benchwright.bridge.item:run_item"
PRELOAD = "benchwright.bridge.item:preload"


def write_job_file(path: Path, bundles: Bundles, defaults: dict[str, Any]) -> None:
    """Write the bundles of one size and what their items share."""
    jobs = [{"items": [item.to_dict() for item in bundle]} for bundle in bundles.bundles]
    write_json(path, {"defaults": defaults, "jobs": jobs})


def job_defaults(
    group: Group, resources: Resources, *, python: str, job_batch: Path, paths: RunPaths, offline: bool
) -> dict[str, Any]:
    """What every item of a group shares; ``resources`` are the group's with the arena's values filled in.

    The Python comes first: the submit script looks for it there.
    """
    fake_memory = group.resources.fake_memory_for_estimates
    setup = group.scheduler
    return {
        "python": python,
        "run_script": None,
        "job_batch_dir": str(job_batch),
        "output_dir": str(paths.output),
        "num_cpus": resources.num_cpus,
        "num_gpus": resources.num_gpus,
        "memory_limit": resources.memory_limit if fake_memory is None else fake_memory,
        "ignore_cache": group.ignore_cache,
        "setup_ray_for_slurm_shared_resources_environment": (
            isinstance(setup, SlurmSetup) and setup.setup_ray_for_slurm_shared_resources_environment
        ),
        "entry": ENTRY,
        "preload": PRELOAD,
        "offline_weights": offline,
        "slurm_log_dir": str(paths.logs),
    }
