"""One function over many inputs, in forked processes: the looks at hundreds of thousands of files are system calls."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_Input = TypeVar("_Input")
_Output = TypeVar("_Output")
_MOST_PROCESSES = 8
_KEPT = 16 * 2**20
"""Bytes to allocate and free at the start: glibc then keeps what an input frees for the next one. It would give it back
to the system, and take it again page by page, in a tenth of the time of the work."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forked_map(
    work: Callable[[_Input], _Output], inputs: Sequence[_Input], *, chunk: int
) -> Generator[_Output, None, None]:
    """``work`` of every input, in their order; up to ``chunk`` inputs are too few to fork for.

    ``work`` must only read: what it changes stays in its process, and a chunk whose process ended early is done again
    here, so that whatever it raises is raised here. The processes end with the iteration, however that ends.
    """
    starts = range(0, len(inputs), chunk)
    processes = min(processors(), len(starts), _MOST_PROCESSES)
    if processes < 2:
        yield from map(work, inputs)
        return
    with contextlib.ExitStack() as stack:
        readers = [
            stack.enter_context(_forked(work, [inputs[start : start + chunk] for start in starts[number::processes]]))
            for number in range(processes)
        ]
        for number, start in enumerate(starts):
            try:
                outputs = readers[number % processes].recv()
            except (EOFError, OSError):
                outputs = map(work, inputs[start : start + chunk])
            yield from outputs


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Processes forked in here never get a Ctrl-C, which reaches the whole group: the parent answers it, once.

    The parent gets one that comes meanwhile when the block ends.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _forked(work: Callable[[_Input], _Output], chunks: Sequence[Sequence[_Input]]) -> Iterator[Connection]:
    """A process that sends its chunks' outputs, one list a chunk."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_send_all, args=(work, chunks, reader, writer), daemon=True)
    with deaf_to_ctrl_c():
        process.start()
    writer.close()
    try:
        yield reader
    finally:
        reader.close()
        process.kill()
        process.join()


def _send_all(
    work: Callable[[_Input], _Output], chunks: Sequence[Sequence[_Input]], reader: Connection, writer: Connection
) -> None:
    reader.close()
    gc.disable()  # it would copy every page that is shared with the parent
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    bytes(_KEPT)
    # Whatever ends this process early is met again, and raised, where its chunks are done over.
    with contextlib.suppress(Exception):
        for chunk in chunks:
            writer.send([work(one) for one in chunk])
