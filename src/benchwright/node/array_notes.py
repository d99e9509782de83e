"""What a watcher says beside the counts: tasks that wait for a person, a stall, what it cannot see."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.node.array_ending import without_accounts
from benchwright.node.array_memory import Memory
from benchwright.node.array_view import ArrayView, Standing
from benchwright.node.array_watch import Poll, Request
from benchwright.node.lengths import length
from benchwright.slurm import array_id, brief_id

_INTERVALS_OF_A_STALL = 3
_RELEASE = "scontrol release {id}"
_CANCEL = "scancel --state=PENDING {id}, then setup again"
_ANOTHER = "an operator opens it, or scontrol update jobid={id} partition=<another>"
FREED_BY = {
    "JobHeldUser": _RELEASE,
    "JobHeldAdmin": "an operator frees it: scontrol release {id}",
    "job requeued in held state": _RELEASE,
    "launch failed requeued held": _RELEASE,
    "DependencyNeverSatisfied": _CANCEL,
    "PartitionDown": _ANOTHER,
    "PartitionInactive": _ANOTHER,
    "PartitionTimeLimit": _CANCEL,
    "PartitionNodeLimit": _CANCEL,
    "BadConstraints": _CANCEL,
    "InvalidAccount": _CANCEL,
    "InvalidQOS": _CANCEL,
}
"""Reasons of the queue that time alone does not lift, with what does."""


def notes(request: Request, poll: Poll, view: ArrayView, memory: Memory) -> Iterator[str]:
    """Clauses that are said at every poll while they hold."""
    yield from without_accounts(poll)
    yield from _held(request, view)
    yield from _stall(request, poll, view, memory)
    if request.log_dir is not None and not poll.logs_there:
        yield f"no log folder yet: {request.log_dir}"
    if poll.results is not None and not poll.results.there:
        yield f"no results folder yet: {request.results_dir}"
    elif poll.results is not None and poll.results.damaged:
        yield f"{poll.results.damaged} results are cut short or damaged, and not counted"


def remarks(request: Request, poll: Poll, view: ArrayView) -> Iterator[str]:
    """Sentences that are said once."""
    if poll.results is not None and poll.missing is None:
        yield f"which results are this array's is not known: {poll.no_items}"
    if view.total > request.tasks:
        yield f"the job has {view.total} tasks, more than the {request.tasks} that were named"


def _held(request: Request, view: ArrayView) -> Iterator[str]:
    by_reason: dict[str, list[int]] = {}
    waiting = view.those(Standing.QUEUED, Standing.REQUEUED)
    for index in waiting:
        by_reason.setdefault(view.tasks[index].reason, []).append(index)
    for reason, tasks in by_reason.items():
        if reason in FREED_BY:
            brief, whole = brief_id(request.job, tasks), array_id(request.job, tasks)
            # Of all that waits, however scattered, the array's own id is enough.
            target = request.job if brief != whole and len(tasks) == len(waiting) else whole
            yield f"{brief} held ({reason}): {FREED_BY[reason].format(id=target)}"


def _stall(request: Request, poll: Poll, view: ArrayView, memory: Memory) -> Iterator[str]:
    running = view.longest_running()
    if poll.results is None or not poll.results.whole_tree or running is None or memory.moved_at is None:
        return
    still = poll.at - memory.moved_at
    if still >= _INTERVALS_OF_A_STALL * request.interval:
        log = request.log(running) or f"the log of {array_id(request.job, [running])}"
        yield f"STALLED: no new result for {length(still)} while tasks run; look at {log}"
