"""One function over many units of work, in worker processes: forked ones here, or the workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from benchwright.contract import Exit, Failure, Problem
from benchwright.raw.forks import deaf_to_ctrl_c

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Backend = Literal["local", "ray"]
_PR_SET_PDEATHSIG = 1
"""prctl(2): the signal to get when the parent dies."""
_Unit = TypeVar("_Unit")
_Output = TypeVar("_Output")


def run_units(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], *, processes: int, backend: Backend = "local"
) -> Iterator[tuple[int, _Output]]:
    """The output of every unit with its position, as they come. At most ``processes`` are at work at a time.

    A single process is this one. What ``work`` raises is raised here, and the other processes are ended.

    Raises:
        Failure: a worker was killed (code ``worker-killed``, exit 4), or there is no Ray (exit 3).
    """
    if backend == "ray":
        from benchwright.processing.ray_workers import on_ray

        yield from on_ray(work, units, processes)
    elif processes < 2 or len(units) < 2:
        for number, unit in enumerate(units):
            yield number, work(unit)
    else:
        yield from _in_forks(work, units, processes)


def _in_forks(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], processes: int
) -> Iterator[tuple[int, _Output]]:
    """Outputs from forked processes, which share what this one has imported and compiled."""
    from multiprocessing.connection import wait

    waiting = list(range(len(units)))[::-1]
    with contextlib.ExitStack() as stack:
        busy: dict[Connection, int] = {}
        for _ in range(min(processes, len(units))):
            worker = stack.enter_context(_forked(work, units))
            busy[worker] = waiting.pop()
            worker.send(busy[worker])
        while busy:
            for ready in cast("list[Connection]", wait(list(busy))):
                number = busy.pop(ready)
                yield number, _received(ready, processes)
                if waiting:
                    busy[ready] = waiting.pop()
                    ready.send(busy[ready])


def _received(worker: Connection, processes: int) -> Any:
    """What a worker sends, raised if it is an exception."""
    try:
        done, output = worker.recv()
    except (EOFError, OSError):
        raise killed(f"{processes} worker processes") from None
    if not done:
        raise output
    return output


def killed(workers: str) -> Failure:
    """The failure that one of the ``workers`` came to its end before its work did."""
    found = "one of them was killed, most likely for want of memory"
    return Failure(Problem("worker-killed", workers, found, "", "run it again with fewer jobs"), exit=Exit.REMOTE)


@contextlib.contextmanager
def _forked(work: Callable[[_Unit], _Output], units: Sequence[_Unit]) -> Iterator[Connection]:
    """The parent's end of a process that takes numbers of units and sends their outputs while the parent lives."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, units, theirs, ours, os.getpid()), daemon=True)
    with deaf_to_ctrl_c():
        process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.kill()
        process.join()


def _serve(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], ours: Connection, parents: Connection, parent: int
) -> None:
    parents.close()
    _die_with(parent)
    gc.freeze()  # what is shared with the parent would be copied by collecting it
    gc.disable()  # results hold no cycles, and looking for some takes a tenth of the time
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while True:
            number = ours.recv()
            try:
                answer: tuple[bool, Any] = (True, work(units[number]))
            except Exception as error:  # noqa: BLE001 - raised again by the parent
                answer = (False, _sendable(error))
            ours.send(answer)


def _sendable(error: Exception) -> Exception:
    """The error with its place in this process, or a plain one that says the same where it cannot be sent."""
    place = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker process:\n{place}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - an exception's own code fails in any way
        return RuntimeError(place)
    return error


def _die_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends, however that ends."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux the pipe's end will do, a unit later
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
