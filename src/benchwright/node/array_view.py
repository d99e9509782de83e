"""Where every task of an array is, from what the queue and the accounts say together.

The queue knows what waits and runs, and for some minutes what has ended; the accounts know every attempt, some seconds
late. A task that the queue lists is where the queue has it; otherwise its last attempt counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from benchwright.slurm import AttemptRow, Phase, QueueRow, State, parse_state


class Standing(Enum):
    """Where a task is; each task is counted once."""

    DONE = "done"
    FAILED = "failed"
    RUNNING = "running"
    QUEUED = "queued"
    REQUEUED = "requeued"
    """Waits for another attempt: its node was lost, or someone asked for it."""
    UNKNOWN = "unknown"
    """In no row that says how it is or how it ended."""


LOST_NODE = frozenset({"NODE_FAIL", "PREEMPTED", "REQUEUED", "BOOT_FAIL"})
"""How attempts end that the cluster itself repeats, where the job allows it."""

_Row = TypeVar("_Row", QueueRow, AttemptRow)


@dataclass(frozen=True)
class Task:
    """One task; texts are empty where nothing says so. ``attempt`` tells one attempt from the next."""

    standing: Standing
    state: str = ""
    exit_code: str = ""
    attempt: str = ""
    start: str = ""
    nodes: str = ""
    reason: str = ""

    @property
    def began(self) -> bool:
        """Whether the attempt ever ran: one that was cancelled in the queue has neither node nor log."""
        return bool(self.nodes)


@dataclass(frozen=True)
class ArrayView:
    """An array as it is now. ``lacking`` tasks are in no row at all; ``owner`` is who submitted it.

    ``command`` and ``submitted`` (ISO) are empty where no row has them.
    """

    tasks: Mapping[int, Task]
    lacking: int
    known: bool
    owner: str = ""
    command: str = ""
    submitted: str = ""

    @property
    def total(self) -> int:
        """How many tasks there are."""
        return len(self.tasks) + self.lacking

    def count(self, standing: Standing) -> int:
        """How many tasks are there."""
        lacking = self.lacking if standing is Standing.UNKNOWN else 0
        return lacking + sum(task.standing is standing for task in self.tasks.values())

    def those(self, *standings: Standing) -> list[int]:
        """The indices of tasks that stand so."""
        return [index for index, task in sorted(self.tasks.items()) if task.standing in standings]

    @property
    def active(self) -> bool:
        """Whether something waits or runs."""
        return any(
            task.standing in (Standing.RUNNING, Standing.QUEUED, Standing.REQUEUED) for task in self.tasks.values()
        )

    def longest_running(self) -> int | None:
        """The running task that began first."""
        running = self.those(Standing.RUNNING)
        return min(running, key=lambda index: self.tasks[index].start, default=None)


def view_array(
    queue: Sequence[QueueRow] | None,
    attempts: Sequence[AttemptRow] | None,
    tasks: int,
    remembered: Mapping[int, str] | None = None,
) -> ArrayView:
    """Put the rows together. None stands for a source that has not answered.

    ``tasks`` is the array's length, indices from 0. ``remembered`` holds final states that the queue once showed, for
    tasks that it has forgotten and no account has.
    """
    rows: list[QueueRow | AttemptRow] = [*(attempts or ()), *(queue or ())]
    by_task = _queued(queue or (), tasks)
    histories = _histories(attempts or (), tasks)
    remembered = remembered or {}
    if queue is not None and attempts is not None:
        # Without the queue the accounts may be late with any task; without the accounts it may have ended long ago.
        rest = _unnamed({*by_task, *histories, *remembered}, tasks)
        submits = {row.submit for row in rows if row.tasks}
        in_queue, in_accounts = _withdrawn(queue, submits), _withdrawn(attempts, submits)
        by_task.update((index, row) for index in rest for row in in_queue)
        histories.update((index, list(in_accounts)) for index in rest if in_accounts)
    indices = sorted({*by_task, *histories, *remembered})
    seen = {
        index: _task(by_task.get(index), histories.get(index, ()), remembered.get(index, ""), queue is not None)
        for index in indices
    }
    # The accounts may hold an older job of the same id: its attempts are not the last ones.
    latest = [row.submit for row in queue] if queue else [history[-1].submit for history in histories.values()]
    expected = set(range(tasks))
    if expected.issuperset(seen):
        seen |= dict.fromkeys(expected.difference(seen), Task(Standing.UNKNOWN))
    return ArrayView(
        tasks=seen,
        lacking=max(0, tasks - len(seen)),
        known=bool(rows),
        owner=rows[-1].user if rows else "",
        command=next((row.command for row in queue or ()), ""),
        submitted=min(latest, default=""),
    )


def _queued(rows: Sequence[QueueRow], tasks: int) -> dict[int, QueueRow]:
    by_task: dict[int, QueueRow] = {}
    for row in rows:
        for index in _indices(row.tasks, tasks):
            by_task[index] = row
    return by_task


def _histories(rows: Iterable[AttemptRow], tasks: int) -> dict[int, list[AttemptRow]]:
    """The attempts at each task, in the order of submission."""
    histories: dict[int, list[AttemptRow]] = {}
    for row in rows:
        for index in _indices(row.tasks, tasks):
            histories.setdefault(index, []).append(row)
    for history in histories.values():
        history.sort(key=lambda row: row.submit)
    return histories


def _indices(named: tuple[int, ...], tasks: int) -> tuple[int, ...]:
    """The tasks that a row is of. A plain id is the only task, or one that SLURM does not name yet.

    The last task of an array runs under the array's own id, and is briefly listed by it alone.
    """
    return named or ((0,) if tasks == 1 else ())


def _unnamed(named: Set[int], tasks: int) -> Set[int]:
    """The tasks that no row names; none of an array whose indices are not known, since they do not begin at 0."""
    expected = set(range(tasks))
    return expected - named if named <= expected else set()


def _withdrawn(rows: Iterable[_Row], submits: Set[str]) -> Sequence[_Row]:
    """The row, if there is one, of the tasks that were cancelled together while they waited.

    Where others of the array had begun, SLURM lists them by the array's own id alone, and no longer says which they
    are: those that no other row names. ``submits`` are when the others were submitted, without which a row is another
    job's of the same id.
    """
    plain = [row for row in rows if not row.tasks]
    return [
        row
        for row in plain[-1:]
        if row.state.phase is Phase.FAILED and not row.nodes and (row.submit in submits or not submits)
    ]


def _task(queued: QueueRow | None, history: Sequence[AttemptRow], remembered: str, queue_answers: bool) -> Task:
    if queued is not None:
        active = queued.state.phase in (Phase.WAITING, Phase.RUNNING)
        return _active(queued, history) if active else _ended_in_queue(queued, history)
    if history:
        return _by_accounts(history[-1], history[:-1], queue_answers)
    if remembered:
        return Task(_final(parse_state(remembered)), remembered)
    return Task(Standing.UNKNOWN)


def _active(queued: QueueRow, history: Sequence[AttemptRow]) -> Task:
    if queued.state.phase is Phase.RUNNING:
        standing = Standing.RUNNING
    else:
        standing = Standing.REQUEUED if _tried_before(history) else Standing.QUEUED
    return Task(standing, str(queued.state), "", queued.submit, queued.start, queued.nodes, queued.reason)


def _tried_before(history: Sequence[AttemptRow]) -> bool:
    return any(row.state.name in LOST_NODE or row.state.phase in (Phase.FAILED, Phase.DONE) for row in history)


def _ended_in_queue(queued: QueueRow, history: Sequence[AttemptRow]) -> Task:
    """A task that the controller remembers as ended; the account of that attempt, once there, says more."""
    account = next((row for row in reversed(history) if row.submit == queued.submit), None)
    same = account is not None and account.state.name == queued.state.name
    return Task(
        _final(queued.state),
        str(account.state if account is not None and same else queued.state),
        account.exit_code if account is not None and same else "",
        queued.submit,
        queued.start,
        queued.nodes,
        queued.reason,
    )


def _by_accounts(last: AttemptRow, earlier: Sequence[AttemptRow], queue_answers: bool) -> Task:
    phase = last.state.phase
    lost = last.state.name in LOST_NODE
    if phase is Phase.DONE:
        standing = Standing.DONE
    elif phase is Phase.FAILED and (queue_answers or not lost):
        standing = Standing.FAILED
    elif queue_answers:  # the accounts are late: the queue, asked after them, no longer has it
        standing = Standing.UNKNOWN
    elif lost or (phase is Phase.WAITING and _tried_before(earlier)):
        standing = Standing.REQUEUED
    else:
        standing = {Phase.RUNNING: Standing.RUNNING, Phase.WAITING: Standing.QUEUED}.get(phase, Standing.UNKNOWN)
    return Task(standing, str(last.state), last.exit_code, last.submit, last.start, last.nodes)


def _final(state: State) -> Standing:
    return {Phase.DONE: Standing.DONE, Phase.FAILED: Standing.FAILED}.get(state.phase, Standing.UNKNOWN)
