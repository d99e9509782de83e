"""Many jobs at once, by whatever ids and names: what the accounts and the queue say of them, each in one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.slurm.array_ids import parse_id
from benchwright.slurm.clients import CallError, Clients
from benchwright.slurm.states import State, parse_state

_ACCOUNT = ("JobIDRaw", "JobID", "State", "Submit", "Start", "End", "JobName", "WorkDir", "SubmitLine")
_QUEUE = "%A|%i|%T|%j"  # the name last: it may hold any character
_QUEUE_FIELDS = 4
_BETWEEN = "\x1f"  # in no name, no path and no command


@dataclass(frozen=True)
class JobAccount:
    """What the accounts say of the last attempt at a job.

    ``ids`` are its number and how it is shown, which for a task of an array is ``4_7``. ``submit``, ``start`` and
    ``end`` are seconds since 1970, None where there is none yet. ``folder`` is where it was submitted, ``command`` how;
    of several lines it has the first.
    """

    ids: tuple[str, str]
    state: State
    submit: float | None
    start: float | None
    end: float | None
    name: str
    folder: str
    command: str


@dataclass(frozen=True)
class QueuedJob:
    """A job that the controller remembers: it waits, runs or ended some minutes ago.

    Waiting tasks of an array are one, whose second id has them all: ``4_[2-9]``.
    """

    ids: tuple[str, str]
    state: State
    name: str

    def is_called(self, id: str) -> bool:
        """Whether it is the job with an id, or has it among its tasks."""
        asked, shown = parse_id(id), parse_id(self.ids[1])
        if id in self.ids or asked is None or shown is None:
            return id in self.ids
        return asked.job == shown.job and bool(asked.tasks) and set(asked.tasks) <= set(shown.tasks)


def is_job_id(text: str) -> bool:
    """Whether a text is the id of one job: ``4``, or ``4_7`` for a task of an array."""
    found = parse_id(text)
    return found is not None and found.step is None and len(found.tasks) < 2


def read_accounts(clients: Clients, ids: Iterable[str]) -> tuple[JobAccount, ...] | CallError:
    """Ask the accounts for jobs, in one call; those they do not know have no row.

    Times are asked for in seconds: of those by the clock, an hour in autumn is there twice.
    """
    asked = ",".join(sorted(set(ids)))
    if not asked:
        return ()
    said = clients.call(
        "sacct", "--noheader", "--parsable2", f"--delimiter={_BETWEEN}", "--allocations", f"--jobs={asked}",
        f"--format={','.join(_ACCOUNT)}", times="%s",
    )  # fmt: skip
    return said if isinstance(said, CallError) else parse_accounts(said)


def parse_accounts(text: str) -> tuple[JobAccount, ...]:
    """The jobs of a printed table, in its order; steps and lines of another form are passed over."""
    rows = []
    for line in text.split("\n"):  # not splitlines, to which the delimiter is one more end of a line
        fields = line.split(_BETWEEN, len(_ACCOUNT) - 1)
        if len(fields) == len(_ACCOUNT) and is_job_id(fields[0]):
            raw, shown, state, *times, name, folder, command = fields
            submit, start, end = (float(time) if time.isdecimal() else None for time in times)
            rows.append(JobAccount((raw, shown), parse_state(state), submit, start, end, name, folder, command))
    return tuple(rows)


def read_whole_queue(clients: Clients) -> tuple[QueuedJob, ...] | CallError:
    """Ask for every job of the queue, of any user: where no id that is asked for is known, there would be no answer."""
    said = clients.call("squeue", "--noheader", "--states=all", f"--format={_QUEUE}")
    return said if isinstance(said, CallError) else parse_whole_queue(said)


def parse_whole_queue(text: str) -> tuple[QueuedJob, ...]:
    """The jobs of a printed queue; lines of another form (``CLUSTER: ...``) are passed over."""
    rows = []
    for line in text.splitlines():
        fields = line.split("|", _QUEUE_FIELDS - 1)
        if len(fields) == _QUEUE_FIELDS and is_job_id(fields[0]):
            raw, shown, state, name = fields
            rows.append(QueuedJob((raw, shown), parse_state(state), name))
    return tuple(rows)
