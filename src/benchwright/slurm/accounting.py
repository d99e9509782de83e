"""The accounts: every attempt at every task of one job, from ``sacct``."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.slurm.array_ids import parse_id
from benchwright.slurm.clients import CallError, Clients
from benchwright.slurm.states import State, parse_state

_COLUMNS = "JobID,State,ExitCode,User,Submit,Start,NodeList"
_FIELDS = 7
_NO_NODES = "None assigned"


@dataclass(frozen=True)
class AttemptRow:
    """One attempt at a task, or the tasks that have not begun; ``tasks`` is empty for a job that is no array.

    ``exit_code`` is ``<code>:<signal>``, ``nodes`` empty for an attempt that never began. ``submit`` and ``start`` are
    ISO texts, ``start`` a word where there is none; a requeue is submitted anew.
    """

    job: int
    tasks: tuple[int, ...]
    state: State
    exit_code: str
    user: str
    submit: str
    start: str
    nodes: str


def read_attempts(clients: Clients, job: int) -> tuple[AttemptRow, ...] | CallError:
    """Ask for every attempt at every task of a job, in one call. No row means unknown: rows come some seconds late.

    An id that is too large comes back as another job's.
    """
    said = clients.call(
        "sacct", "--noheader", "--parsable2", "--duplicates", "--allocations", f"--jobs={job}", f"--format={_COLUMNS}"
    )
    if isinstance(said, CallError):
        return said
    return tuple(row for row in parse_attempts(said) if row.job == job)


def parse_attempts(text: str) -> tuple[AttemptRow, ...]:
    """The attempts of a printed table, in its order; steps and lines of another form are passed over."""
    rows = []
    for line in text.splitlines():
        fields = line.split("|")
        printed = parse_id(fields[0]) if len(fields) == _FIELDS else None
        if printed is None or printed.step is not None:
            continue
        _, state, exit_code, user, submit, start, nodes = fields
        nodes = "" if nodes == _NO_NODES else nodes
        rows.append(AttemptRow(printed.job, printed.tasks, parse_state(state), exit_code, user, submit, start, nodes))
    return tuple(rows)
