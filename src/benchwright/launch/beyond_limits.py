"""A plan held against its cluster: what of it could never run there, with the figure that is too large."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from benchwright.arena import did_you_mean
from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.bundles import make_bundles
from benchwright.launch.cluster import Cluster
from benchwright.launch.plan import SlurmSetup
from benchwright.launch.resolve import GroupGrid
from benchwright.launch.sbatch import MIB_PER_GB, as_time, minutes_of, partition_of
from benchwright.slurm import Limits, Partition
from benchwright.slurm.nodes import NodeKind


def refuse_beyond_limits(cluster: Cluster, grids: Iterable[GroupGrid]) -> None:
    """Refuse a plan that the cluster cannot run, whatever of it is missing.

    Raises:
        Failure: every such thing, with the figure that is too large (exit 2).
    """
    problems = list(dict.fromkeys(problem for one in grids for problem in _beyond(cluster, one)))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def worth_knowing(cluster: Cluster, grids: Iterable[GroupGrid], tasks: int) -> list[str]:
    """What lets the tasks of a plan that the cluster takes wait for long; ``tasks`` are those of all arrays."""
    names = [partition_of(one.group, cast(SlurmSetup, one.group.scheduler)) for one in grids]
    found = [partition for name in names for partition in _partitions(cluster.limits, name) if partition]
    down = dict.fromkeys(partition.name for partition in found if not partition.up)
    notes = [f"partition {name} is not up: what is sent there waits until it is" for name in down]
    jobs = cluster.limits.jobs
    if jobs is not None and tasks >= jobs:
        notes.append(
            f"{tasks:,} tasks in all, and the cluster keeps {jobs:,} jobs at most: launch the later arrays when others "
            "have ended"
        )
    return notes


def default_partition(cluster: Cluster, grids: Iterable[GroupGrid]) -> str | None:
    """The partition that the cluster sends jobs of a plan to which names none for them; None where it names all."""
    default = cluster.limits.default_partition
    given = [partition_of(one.group, cast(SlurmSetup, one.group.scheduler)) for one in grids]
    return default.name if default and None in given else None


def _beyond(cluster: Cluster, one: GroupGrid) -> Iterator[Problem]:
    setup = cast(SlurmSetup, one.group.scheduler)
    if setup.max_array_size is not None and setup.max_array_size > cluster.most_tasks:
        found = f"{setup.max_array_size:,} tasks, more than an array of this cluster may have"
        yield Problem("array-too-large", "max_array_size", found, f"at most {cluster.most_tasks:,}", "leave it out")
    name = partition_of(one.group, setup)
    where = f"{one.group.name}: {'gpu' if one.resources.num_gpus else 'cpu'}_partition"
    partitions = _partitions(cluster.limits, name)
    if not all(partitions):
        known = sorted(cluster.limits.partitions)
        found = "none given, and the cluster has no default" if name is None else f"no partition is called {name!r}"
        yield Problem("no-partition", where, found, "a partition of this cluster", did_you_mean(name or "", known))
        return
    present = [partition for partition in partitions if partition]
    yield from _too_long(one, setup, present, where)
    yield from _too_much(cluster.nodes, one, present, where)


def _partitions(limits: Limits, name: str | None) -> list[Partition | None]:
    """The partitions of a name, or of several joined by commas; None for each that there is not."""
    if name is None:
        return [limits.default_partition]
    return [limits.partitions.get(part) for part in name.split(",")]


def _too_long(one: GroupGrid, setup: SlurmSetup, partitions: Sequence[Partition], where: str) -> Iterator[Problem]:
    """A time beyond what the most patient of the partitions allows."""
    if any(partition.longest is None for partition in partitions):
        return
    longest = int(max(partition.longest or 0 for partition in partitions)) // 60
    largest = max(size for made in make_bundles(one.grid.items, setup, one.splits) for size in map(len, made.bundles))
    wanted = minutes_of(one.group, one.resources, setup, largest)
    if wanted > longest:
        fitting = [
            items for items in range(1, largest) if minutes_of(one.group, one.resources, setup, items) <= longest
        ]
        yield Problem(
            "too-long",
            where,
            f"{as_time(wanted)} for {largest} items a task",
            f"at most {as_time(longest)} in {_names(partitions)}",
            f"bundle_size {fitting[-1]}" if fitting else "a partition that allows more, or a shorter time_limit",
        )


def _too_much(
    nodes: Sequence[NodeKind], one: GroupGrid, partitions: Sequence[Partition], where: str
) -> Iterator[Problem]:
    """Processors, memory or GPUs that no node of the partitions has."""
    names = {partition.name for partition in partitions}
    kinds = [node for node in nodes if node.partition in names]
    resources = one.resources
    memory = None if resources.memory_limit is None else math.ceil(resources.memory_limit * MIB_PER_GB)
    wanted = {
        "CPUs": (resources.num_cpus or 0, max((node.cpus for node in kinds), default=0)),
        "MiB of memory": (memory or 0, max((node.memory for node in kinds), default=0)),
        "GPUs": (resources.num_gpus, max((node.gpus for node in kinds), default=0)),
    }
    for what, (number, most) in wanted.items():
        if kinds and number > most:
            expected = f"at most {most:,}, what a node of {_names(partitions)} has"
            yield Problem("too-large-for-a-node", where, f"{number:,} {what} a task", expected, "another partition")


def _names(partitions: Iterable[Partition]) -> str:
    return ",".join(partition.name for partition in partitions)
