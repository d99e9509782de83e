"""One function over many units of work, in forked worker processes, and how many of those memory has room for."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from benchwright.contract import Exit, Failure, Problem
from benchwright.node.processes import die_with_parent
from benchwright.raw.finding import RawFile
from benchwright.raw.forks import deaf_to_ctrl_c
from benchwright.raw.loading import load_file

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

BUDGET = 560 * 2**20
"""Bytes for all processes of a build together, whatever their number."""
_MAIN_PROCESS = 150 * 2**20
"""Measured: interpreter, numpy, numba and pyarrow, shared where forked."""
_WORKER = 25 * 2**20
"""Measured: what a worker has for itself before it loads anything."""
_COPIES_OF_PREDICTIONS = 3
"""Of all configs' reduced predictions: gathered, joined, and in the order that their scorer needs."""
_COPIES_OF_FILE = 8
"""Of one file: packed, unpacked, as objects, as plain values, packed again."""
_WORK_OF_AUC = 4
"""Measured on the splits of 201 configs: how much more of it a byte is where predictions are ranked."""
_Unit = TypeVar("_Unit")
_Output = TypeVar("_Output")


def affordable(units: Sequence[Sequence[RawFile]]) -> int:
    """How many of ``units`` (the files of a split each) can be worked on at a time within the budget, at least one.

    One file of the largest split tells how much of a file is kept until the split's ensembles are fitted.
    """
    largest = max(units, key=lambda unit: sum(file.size for file in unit), default=())
    for file in largest:
        try:
            loaded = load_file(file.place)
        except Failure:
            continue
        predictions = loaded.result.predictions
        kept = 0 if predictions is None else 4 * len(largest) * (len(predictions.y_val) + len(predictions.y_test))
        need = _WORKER + _COPIES_OF_PREDICTIONS * kept + _COPIES_OF_FILE * file.size
        return max(1, (BUDGET - _MAIN_PROCESS) // need)
    return 1


def heaviest_first(units: Sequence[Sequence[RawFile]]) -> list[int]:
    """The positions of ``units`` (the files of a split each), most work first: the last ones then end together.

    One file of each task tells its metric.
    """
    per_byte: dict[str, int] = {}
    for unit in units:
        if unit[0].task_key not in per_byte:
            per_byte[unit[0].task_key] = _WORK_OF_AUC if _metric(unit) == "roc_auc" else 1
    work = [per_byte[unit[0].task_key] * sum(file.size for file in unit) for unit in units]
    return sorted(range(len(units)), key=lambda number: -work[number])


def _metric(files: Sequence[RawFile]) -> str | None:
    """The metric of the first result that can be read."""
    for file in files:
        with contextlib.suppress(Failure):
            return load_file(file.place).result.metric
    return None


def run_units(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], *, processes: int
) -> Iterator[tuple[int, _Output]]:
    """The output of every unit with its position, as they come. At most ``processes`` are at work at a time.

    A single process is this one. What ``work`` raises is raised here, and the other processes are ended.

    Raises:
        Failure: a worker was killed (code ``worker-killed``, exit 4).
    """
    if processes < 2 or len(units) < 2:
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
            busy[worker] = _sent(waiting.pop(), worker, processes)
        while busy:
            for ready in cast("list[Connection]", wait(list(busy))):
                number = busy.pop(ready)
                yield number, _received(ready, processes)
                if waiting:
                    busy[ready] = _sent(waiting.pop(), ready, processes)


def _sent(number: int, worker: Connection, processes: int) -> int:
    """The number of a unit, given to a worker, which may have come to its end while it waited."""
    try:
        worker.send(number)
    except OSError:
        raise killed(f"{processes} worker processes") from None
    return number


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
    die_with_parent(signal.SIGKILL, parent)
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
