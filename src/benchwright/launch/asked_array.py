"""An array as the scheduler tells of it when it is asked once: how each task stands, and what it was to fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.contract import Problem
from benchwright.node.array_items import find_items, setup_folder
from benchwright.node.array_view import ArrayView, Standing, view_array
from benchwright.node.array_watch import Poll
from benchwright.slurm import AttemptRow, CallError, Clients, Phase, QueueRow, read_accounts, read_attempts, read_queue

_ARRAY = re.compile(r" --array=0-(\d+)")
"""The option as set-up writes it."""


@dataclass(frozen=True)
class AskedArray:
    """The tasks of an array, none of one that nobody was asked about, or whose job nobody knows.

    ``items`` are those of failed tasks by their coordinates, where they are known.
    """

    view: ArrayView | None = None
    items: Mapping[int, Sequence[str]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def ask_array(job: int, log_dir: Path, clients: Clients) -> AskedArray:
    """Ask queue and accounts, in three calls; a problem where they do not answer, or do not say how many tasks it has.

    ``log_dir`` is where the array's logs are, by which its job file is found.
    """
    poll = Poll(at=0, clock=0, attempts=read_attempts(clients, job), queue=read_queue(clients, job))
    rows: list[QueueRow | AttemptRow] = [*(poll.account_rows or ()), *(poll.queue_rows or ())]
    if not rows:
        silent = [
            Problem("scheduler-silent", f"job {job}", str(answer), "its states", "the logs alone were read")
            for answer in (poll.attempts, poll.queue)
            if isinstance(answer, CallError)
        ]
        return AskedArray(problems=tuple(silent))
    least = _at_least(poll.queue_rows, poll.account_rows)
    view = view_array(poll.queue_rows, poll.account_rows, least)
    submit_line = _submit_line(clients, job)
    match = _ARRAY.search(submit_line)
    length = int(match[1]) + 1 if match else None
    found = find_items(
        setup_folder(None, log_dir),
        given=None,
        command=view.command or submit_line,
        tasks=length or least,
        submitted=view.submitted,
        or_more=length is None,
    )
    if length is None and not isinstance(found, str):
        length = len(found.places)
    view = view_array(poll.queue_rows, poll.account_rows, length or least)
    items = {}
    if not isinstance(found, str):
        items = {
            task: [found.items[place].label() for place in found.places[task]] for task in view.those(Standing.FAILED)
        }
    fix = "tasks that nothing names are not counted; setup tells by the results what is missing"
    unknown = Problem("unknown-length", f"job {job}", f"how many tasks it has is not known: {found}", "a length", fix)
    return AskedArray(view, items, () if length else (unknown,))


def _at_least(queue: Sequence[QueueRow] | None, accounts: Sequence[AttemptRow] | None) -> int:
    """How many tasks an array has by its rows. The plain id beside tasks is of one that no row of its source names.

    The other source may name that one. By a plain id alone, and of what has ended, it may be any task where the
    accounts do not tell of the others.
    """
    rows: list[QueueRow | AttemptRow] = [*(queue or ()), *(accounts or ())]
    known = any(row.tasks or row.state.phase in (Phase.WAITING, Phase.RUNNING) for row in rows)
    if not known and accounts is None:
        return 0
    return max(_named_by(queue or ()), _named_by(accounts or ()))


def _named_by(rows: Sequence[QueueRow] | Sequence[AttemptRow]) -> int:
    named = {index for row in rows for index in row.tasks}
    return max(1 + max(named, default=0), len(named) + any(not row.tasks for row in rows))


def _submit_line(clients: Clients, job: int) -> str:
    """The command that submitted a job, empty where the accounts do not have it: they come late."""
    said = read_accounts(clients, [str(job)])
    return "" if isinstance(said, CallError) else next((row.command for row in said if row.command), "")
