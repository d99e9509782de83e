"""What a cluster takes: the size of an array, and its partitions with their time limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchwright.slurm.clients import CallError, Clients
from benchwright.slurm.times import parse_length

_PAIR = re.compile(r"(\S+?)=(\S*)")
_SETTING = re.compile(r"(\w+)\s*=\s*(.*)")


@dataclass(frozen=True)
class Partition:
    """A partition; ``longest`` is what a job may take, in seconds, None where there is no limit."""

    name: str
    default: bool
    up: bool
    longest: float | None


@dataclass(frozen=True)
class Limits:
    """A cluster's limits. ``array_size`` is the number of tasks of the largest array, whose last index is one less.

    ``jobs`` is how many the controller keeps, None where it does not say.
    """

    version: str
    array_size: int
    jobs: int | None
    partitions: Mapping[str, Partition]

    @property
    def default_partition(self) -> Partition | None:
        """Where a job goes that names none."""
        return next((partition for partition in self.partitions.values() if partition.default), None)


def read_limits(clients: Clients) -> Limits | CallError:
    """Ask the controller, in two calls; partitions that are hidden from lists are there all the same."""
    configuration = clients.call("scontrol", "show", "config")
    if isinstance(configuration, CallError):
        return configuration
    partitions = clients.call("scontrol", "--all", "--oneliner", "show", "partition")
    return partitions if isinstance(partitions, CallError) else parse_limits(configuration, partitions)


def parse_limits(configuration: str, partitions: str) -> Limits:
    """The limits in what ``scontrol show config`` and ``scontrol --oneliner show partition`` print."""
    settings = dict(_settings(configuration))
    size = _number(settings.get("MaxArraySize", "")) or 1001  # SLURM's own default
    bound = re.search(r"\bmax_array_tasks=(\d+)", settings.get("SchedulerParameters", ""))
    return Limits(
        version=settings.get("SLURM_VERSION", ""),
        array_size=min(size, int(bound[1])) if bound else size,
        jobs=_number(settings.get("MaxJobCount", "")),
        partitions={partition.name: partition for partition in _partitions(partitions)},
    )


def _settings(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = _SETTING.fullmatch(line.strip())
        if match:
            yield match[1], match[2].strip()


def _partitions(text: str) -> Iterator[Partition]:
    for line in text.splitlines():
        facts = dict(_PAIR.findall(line))
        if "PartitionName" not in facts:
            continue
        longest = parse_length(facts.get("MaxTime", ""))
        yield Partition(
            name=facts["PartitionName"],
            default=facts.get("Default") == "YES",
            up=facts.get("State") == "UP",
            longest=None if longest == float("inf") else longest,
        )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
