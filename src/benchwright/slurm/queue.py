"""The queue: what ``squeue`` knows of one job, finished tasks included while the controller remembers them."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.slurm.array_ids import parse_id
from benchwright.slurm.clients import CallError, Clients
from benchwright.slurm.states import State, parse_state

QUEUE_FORMAT = "%i|%T|%r|%u|%S|%V|%N|%o"  # the command last: it may hold any character
_FIELDS = 8


@dataclass(frozen=True)
class QueueRow:
    """Tasks of an array in one state; ``tasks`` is empty for a job that is no array, or none that SLURM names.

    ``start`` and ``submit`` are ISO texts, ``N/A`` where there is none yet; ``nodes`` is empty for tasks that have not
    begun, and for those that were cancelled before. ``cut`` says that tasks are missing from the row.
    """

    job: int
    tasks: tuple[int, ...]
    state: State
    reason: str
    user: str
    start: str
    submit: str
    nodes: str
    command: str
    cut: bool = False


def read_queue(clients: Clients, job: int) -> tuple[QueueRow, ...] | CallError:
    """Ask for every task of a job, in one call.

    A job that has left the controller's memory, some minutes after its end, is ``Trouble.UNKNOWN_JOB``, as one that
    never was. A single task's own number is no id of a job.
    """
    said = clients.call("squeue", "--noheader", "--states=all", f"--jobs={job}", f"--format={QUEUE_FORMAT}")
    if isinstance(said, CallError):
        return said
    return tuple(row for row in parse_queue(said) if row.job == job)


def parse_queue(text: str) -> tuple[QueueRow, ...]:
    """The rows of a printed queue; lines of another form (``CLUSTER: ...``) are passed over."""
    rows = []
    for line in text.splitlines():
        fields = line.split("|", _FIELDS - 1)
        printed = parse_id(fields[0]) if len(fields) == _FIELDS else None
        if printed is None:
            continue
        _, state, reason, user, start, submit, nodes, command = fields
        rows.append(
            QueueRow(
                printed.job, printed.tasks, parse_state(state), reason, user, start, submit, nodes, command, printed.cut
            )
        )
    return tuple(rows)
