"""How an array stands, by one poll and by what was known before: a pure function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchwright.node.array_ending import ending, resolved
from benchwright.node.array_memory import Memory
from benchwright.node.array_notes import notes, remarks
from benchwright.node.array_view import ArrayView, Standing, view_array
from benchwright.node.array_watch import Doubt, NewFailure, Poll, Report, Request, Verdict


def judge(request: Request, poll: Poll, memory: Memory, before: Doubt | None = None) -> Report:
    """Say how the array stands; ``before`` is the doubt of the poll before."""
    view = view_array(poll.queue_rows, poll.account_rows, request.tasks, memory.ended)
    failures: tuple[NewFailure, ...] = ()
    if view.owner in ("", request.user):
        failures = tuple(_new_failures(request, view, memory))
        memory = _remember(poll, view, memory)
    found = ending(request, poll, view, seen=view.known or memory.seen)
    doubt = verdict = None
    if isinstance(found, Verdict):
        verdict = found
    elif found is not None:
        doubt = _continued(found, before)
        verdict = resolved(request, poll, view, doubt)
    return Report(
        view=view,
        poll=poll,
        memory=memory,
        failures=failures,
        notes=tuple(notes(request, poll, view, memory)),
        remarks=tuple(remarks(request, poll, view)),
        doubt=doubt if verdict is None else None,
        verdict=verdict,
    )


def _new_failures(request: Request, view: ArrayView, memory: Memory) -> Iterator[NewFailure]:
    for index in view.those(Standing.FAILED):
        task = view.tasks[index]
        if index not in memory.told or task.attempt not in ("", memory.told[index]):
            yield NewFailure(index, task, request.log(index) if task.began else None)


def _remember(poll: Poll, view: ArrayView, memory: Memory) -> Memory:
    found = _results_of(poll, memory)
    failed = view.those(Standing.FAILED)
    return Memory(
        told={**memory.told, **{index: view.tasks[index].attempt or memory.told.get(index, "") for index in failed}},
        ended={index: view.tasks[index].state for index in view.those(Standing.DONE, Standing.FAILED)},
        results=found,
        moved_at=memory.still_since(poll.at, moved=found != memory.results or not view.count(Standing.RUNNING)),
        seen=memory.seen or view.known,
    )


def _results_of(poll: Poll, memory: Memory) -> int:
    """How many results the array has written, or all arrays where its own are not known; a partial count says nothing.

    Sibling arrays must not hide that this one stalls.
    """
    if poll.results is None or not poll.results.whole_tree:
        return memory.results
    if poll.missing is None:
        return poll.results.complete
    return poll.own - sum(map(len, poll.missing.values()))


def _continued(doubt: Doubt, before: Doubt | None) -> Doubt:
    if before is None or before.kind != doubt.kind:
        return doubt
    return replace(doubt, since=before.since, polls=before.polls + 1)
