"""The cluster of a plan: what it takes, and what of an earlier launch is at work there."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import RunPaths
from benchwright.launch.record import PlanRecord
from benchwright.launch.watch_commands import watch_array
from benchwright.node.slurm_progress import this_user
from benchwright.slurm import CallError, Clients, Limits, QueueRow, Trouble, brief_id, read_limits
from benchwright.slurm.launches import read_unfinished
from benchwright.slurm.nodes import NodeKind, read_nodes

MOST_TASKS = 29_999
"""The largest array where nobody says otherwise: the public launcher's bound."""
_MAKES_LOG_FOLDERS = (23, 2)
"""The SLURM that makes the folders of a log; before, a task whose log cannot be opened fails."""
_NOT_HERE = (Trouble.NO_CLIENT, Trouble.NO_CLUSTER)


@dataclass(frozen=True)
class Cluster:
    """What the controller says of itself and its nodes."""

    limits: Limits
    nodes: tuple[NodeKind, ...]

    @property
    def most_tasks(self) -> int:
        """The tasks of the largest array: MaxArraySize, and MaxJobCount, which counts every task."""
        jobs = self.limits.jobs
        return self.limits.array_size if jobs is None else min(self.limits.array_size, max(jobs - 1, 1))

    @property
    def makes_log_folders(self) -> bool:
        """Whether a log may lie in a folder that is not there yet."""
        parts = self.limits.version.split(".")[:2]
        return tuple(int(part) for part in parts if part.isdigit()) >= _MAKES_LOG_FOLDERS


def ask_cluster(clients: Clients, *, otherwise: str) -> Cluster:
    """Ask the controller, in three calls; ``otherwise`` is what can be done where there is none.

    Raises:
        Failure: this is no head node (exit 3), or the controller does not answer (exit 4).
    """
    limits = _answer(read_limits(clients), otherwise)
    return Cluster(limits, _answer(read_nodes(clients), otherwise))


def refuse_unfinished(clients: Clients, paths: RunPaths, records: Iterable[PlanRecord] = (), *, otherwise: str) -> None:
    """Refuse to set up while something of an earlier launch waits or runs: it would be launched twice.

    Jobs are known by the benchmark's name and by a job file of this workspace in their command, their number of tasks
    by the ``records`` of the set-ups that wrote these.

    Raises:
        Failure: such jobs, by their ids (exit 5), with the commands that watch them; no answer (exit 3 or 4).
    """
    rows = _answer(read_unfinished(clients, paths.benchmark), otherwise)
    ours = [row for row in rows if _is_ours(row, paths.setup)]
    if ours:
        arrays = sorted({row.job for row in ours})
        ids = " ".join(map(str, arrays))
        raise Failure(
            Problem(
                "still-launched",
                f"SLURM jobs called {paths.benchmark}",
                ", ".join(map(_describe, ours)),
                "no job of an earlier launch",
                f"wait until they have ended (slurm_progress.sh says DONE), or scancel {ids}; then run setup again",
            ),
            exit=Exit.REFUSED,
            next=list(_watches(ours, paths, records)),
        )


def _watches(rows: Iterable[QueueRow], paths: RunPaths, records: Iterable[PlanRecord]) -> Iterator[str]:
    """The command that watches each array at work whose job file a record has."""
    launched = [
        (job_file.name, tasks, record.expected_results) for record in records for job_file, tasks in record.arrays
    ]
    for job, (command, user) in sorted({row.job: (row.command, row.user) for row in rows}.items()):
        for name, tasks, expected in launched:
            if expected is not None and command.endswith(f"/{name}"):
                others = "" if user == this_user() else user
                yield watch_array(sys.executable, paths, tasks, expected, job=job, user=others)


def _is_ours(row: QueueRow, setup: Path) -> bool:
    """Whether a job's command holds a job file of this workspace, by whatever name the folder goes there."""
    starts = (place.start() + 1 for place in re.finditer(r" /", row.command))
    tails = (os.path.dirname(row.command[start:]) for start in starts)  # noqa: PTH120 - a path may hold spaces
    return any(os.path.realpath(tail) == os.path.realpath(setup) for tail in tails)


def _describe(row: QueueRow) -> str:
    return f"{brief_id(row.job, row.tasks) if row.tasks else row.job} {row.state}"


_Answer = TypeVar("_Answer")


def _answer(said: _Answer | CallError, otherwise: str) -> _Answer:
    """What a client answered.

    Raises:
        Failure: it did not.
    """
    if not isinstance(said, CallError):
        return said
    if said.trouble in _NOT_HERE:
        problem = Problem("not-a-head-node", said.program, said.message, "a machine that submits to SLURM", otherwise)
        raise Failure(problem, exit=Exit.ENVIRONMENT)
    problem = Problem("no-answer", said.program, said.message, "the controller's answer", "run setup again later")
    raise Failure(problem, exit=Exit.REMOTE)
