"""What the nodes of each partition have: processors, memory and GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchwright.slurm.clients import CallError, Clients

_FORMAT = "%R|%c|%m|%G"
_FIELDS = 4
_GPUS = re.compile(r"(?:^|,)gpu(?::[^:,(]+)*?:(\d+)")


@dataclass(frozen=True)
class NodeKind:
    """Nodes of one partition that are alike; ``memory`` is in MiB."""

    partition: str
    cpus: int
    memory: int
    gpus: int


def read_nodes(clients: Clients) -> tuple[NodeKind, ...] | CallError:
    """Ask for the nodes of every partition, in one call; nodes that are down or asleep count."""
    said = clients.call("sinfo", "--all", "--noheader", "--exact", f"--format={_FORMAT}")
    return said if isinstance(said, CallError) else tuple(parse_nodes(said))


def parse_nodes(text: str) -> Iterator[NodeKind]:
    """The nodes of a printed table; lines of another form are passed over."""
    for line in text.splitlines():
        fields = line.strip().split("|", _FIELDS - 1)
        if len(fields) == _FIELDS and fields[1].isdigit() and fields[2].isdigit():
            name, cpus, memory, resources = fields
            yield NodeKind(name, int(cpus), int(memory), sum(map(int, _GPUS.findall(resources))))
