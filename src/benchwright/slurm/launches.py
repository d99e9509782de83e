"""The jobs of one name that have not ended: what is left of an earlier launch."""

from __future__ import annotations

from benchwright.slurm.clients import CallError, Clients
from benchwright.slurm.queue import QUEUE_FORMAT, QueueRow, parse_queue
from benchwright.slurm.states import Phase

_ENDED = {Phase.DONE, Phase.FAILED}


def read_unfinished(clients: Clients, name: str) -> tuple[QueueRow, ...] | CallError:
    """Ask for every job called ``name``, of any user, that waits, runs or is in a state that is not known."""
    said = clients.call("squeue", "--noheader", "--states=all", f"--name={name}", f"--format={QUEUE_FORMAT}")
    if isinstance(said, CallError):
        return said
    return tuple(row for row in parse_queue(said) if row.state.phase not in _ENDED)
