"""The command that launches an array: what a task asks for, as ``sbatch`` takes it."""

from __future__ import annotations

import math
import shlex
from enum import Enum
from pathlib import Path

from benchwright.arena import Resources
from benchwright.launch.groups import Group
from benchwright.launch.plan import SlurmSetup

SUBMIT_SCRIPT = Path(__file__).resolve().parents[1] / "node" / "slurm_task.sh"
MIB_PER_GB = 1024


class _Flag(Enum):
    """An option without a value, which an empty one is not."""

    FLAG = 1


_FLAG = _Flag.FLAG
_Value = str | _Flag | None


def sbatch_command(
    group: Group,
    resources: Resources,
    setup: SlurmSetup,
    *,
    name: str,
    tasks: int,
    largest: int,
    logs: Path,
    own_logs: bool,
    job_file: Path,
) -> str:
    """The command for an array of ``tasks`` tasks of at most ``largest`` items; it can be run as it stands.

    ``name`` is the benchmark's, by which its jobs are found again, ``logs`` the folder of the tasks' logs, with
    ``own_logs`` that of a folder for each array. ``resources`` are the group's with the arena's values filled in. What
    is None is left out.
    """
    options: list[tuple[str, _Value]] = [
        ("array", f"0-{tasks - 1}%{setup.array_job_limit}"),
        ("job-name", name),
        ("partition", partition_of(group, setup)),
        ("gres", _gres(resources, setup)),
        ("time", as_time(minutes_of(group, resources, setup, largest))),
        *_node_options(resources, setup),
        ("requeue", _FLAG),
        ("output", f"{_as_pattern(logs)}{'/%A' if own_logs else ''}/slurm-%A_%a.out"),
    ]
    given = [(option, value) for option, value in options if value is not None]
    words = [f"--{option}" if value is _FLAG else f"--{option}={value}" for option, value in given]
    return shlex.join(["sbatch", *words, str(SUBMIT_SCRIPT), str(job_file)])


def partition_of(group: Group, setup: SlurmSetup) -> str | None:
    """Where a group's jobs go; None is the cluster's default partition."""
    return setup.gpu_partition if group.resources.num_gpus else setup.cpu_partition


def minutes_of(group: Group, resources: Resources, setup: SlurmSetup, items: int) -> int:
    """The time of a task of ``items`` items: their limits and the overhead, in seconds, then rounded up to minutes.

    SLURM counts in minutes.
    """
    preprocessing = group.resources.time_limit_for_model_agnostic_preprocessing or 0
    return math.ceil(((resources.time_limit + preprocessing) * items + setup.time_limit_overhead * 3600) / 60)


def as_time(minutes: int) -> str:
    """Minutes in the form ``<hours>:<minutes>:00``."""
    return f"{minutes // 60}:{minutes % 60:02}:00"


def _as_pattern(folder: Path) -> str:
    """A folder in a pattern of SLURM's, where a per cent sign begins a symbol."""
    return str(folder).replace("%", "%%")


def _gres(resources: Resources, setup: SlurmSetup) -> str | None:
    parts = [f"gpu:{resources.num_gpus}"] if resources.num_gpus else []
    if setup.extra_gres is not None:
        parts.append(setup.extra_gres)
    return ",".join(filter(None, parts)) if parts else None


def _node_options(resources: Resources, setup: SlurmSetup) -> list[tuple[str, _Value]]:
    """The whole node, or the CPUs and the memory of it."""
    if setup.exclusive_node:
        return [("mem", "0"), ("nodes", "1"), ("exclusive", _FLAG)]
    cpus = None if resources.num_cpus is None else str(resources.num_cpus)
    return [("cpus-per-task", cpus), _memory(resources, setup)]


def _memory(resources: Resources, setup: SlurmSetup) -> tuple[str, _Value]:
    """The memory of a task, or its share of each GPU or CPU; without a number of them it is the task's."""
    if resources.memory_limit is None:
        return "mem", None
    mebibytes = resources.memory_limit * MIB_PER_GB
    handles = (resources.num_gpus or resources.num_cpus) if setup.mem_per_handle else None
    if handles is None:
        return "mem", _as_memory(math.ceil(mebibytes))
    return f"mem-per-{'gpu' if resources.num_gpus else 'cpu'}", _as_memory(math.ceil(mebibytes / handles))


def _as_memory(mebibytes: int) -> str:
    return f"{mebibytes // MIB_PER_GB}G" if mebibytes % MIB_PER_GB == 0 else f"{mebibytes}M"
