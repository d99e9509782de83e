"""One reading function over many jobs, in this process and in forks of it: decoding thousands of results is work.

Unlike in `benchwright.forks` this process works too: a second look takes a fiftieth of a second, half of it to fork.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import pickle
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")
_MOST_PROCESSES = 8
_FEW = 4
_INDEX = struct.Struct("<I")
_ROOM = 2**20
"""Bytes that a fork can leave in its pipe: the most that Linux grants anyone."""
_MOST_INDEXES = 65_536 // _INDEX.size
"""What a pipe holds before a writer has to wait for a reader."""


def shared(work: Callable[[_Item], _Made], items: Sequence[_Item]) -> list[_Made]:
    """``work`` of every item, in their order; each process takes the next item when it is free.

    ``work`` must only read, and its answers have to survive pickling. Up to four items are too few to fork for. A
    process with other threads does not fork either: a lock that one of them holds would stay locked in the fork. What
    a fork does not bring back is done again here, so that whatever it raises is raised here.
    """
    alone = threading.active_count() > 1 or not _FEW < len(items) <= _MOST_INDEXES
    processes = 1 if alone else min(len(os.sched_getaffinity(0)), _MOST_PROCESSES, len(items) // 2)
    if processes < 2:
        return list(map(work, items))
    forks: list[tuple[int, BinaryIO]] = []
    made: dict[int, _Made] = {}
    with _queue(len(items)) as queue:
        gc.freeze()  # a collection would write to every page that the forks share
        try:
            with contextlib.suppress(OSError):  # no more processes: those that there are do
                forks.extend(_forked(work, items, queue) for _ in range(1, processes))
            made.update((index, work(items[index])) for index in _taken(queue))
            for _, pipe in forks:
                made |= _received(pipe)
        finally:
            gc.unfreeze()
            for process, pipe in forks:
                pipe.close()
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
    return [made[index] if index in made else work(items[index]) for index in range(len(items))]


@contextlib.contextmanager
def _queue(length: int) -> Iterator[int]:
    """A pipe with the indexes of all items, from which any process may take the next."""
    queue, entry = os.pipe()
    try:
        os.write(entry, b"".join(map(_INDEX.pack, range(length))))
        os.close(entry)
        yield queue
    finally:
        os.close(queue)


def _taken(queue: int) -> Iterator[int]:
    while index := os.read(queue, _INDEX.size):
        yield _INDEX.unpack(index)[0]


def _forked(work: Callable[[_Item], _Made], items: Sequence[_Item], queue: int) -> tuple[int, BinaryIO]:
    """A fork of this process that does what it takes from the queue, and the pipe that its answers come through."""
    ours, theirs = os.pipe()
    with contextlib.suppress(OSError):  # without the room it waits for its reader now and then
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, _ROOM)
    try:
        process = os.fork()
    except OSError:
        os.close(ours)
        os.close(theirs)
        raise
    if process:
        os.close(theirs)
        return process, os.fdopen(ours, "rb")
    try:
        os.close(ours)
        gc.disable()
        answers = [pickle.dumps((index, work(items[index])), pickle.HIGHEST_PROTOCOL) for index in _taken(queue)]
        with os.fdopen(theirs, "wb") as pipe:
            pipe.writelines(answers)
    finally:
        os._exit(0)  # whatever went wrong: without answers the parent does the work, and says what is wrong


def _received(pipe: BinaryIO) -> dict[int, _Made]:
    """What a fork sent, as far as it came whole."""
    answers: dict[int, _Made] = {}
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            index, made = pickle.load(pipe)
            answers[index] = made
    return answers
