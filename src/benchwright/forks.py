"""One function over many units of work, in forked processes, which share what this one has loaded and compiled."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import pickle
import select
import signal
import struct
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, NoReturn, Self, TypeVar

from benchwright.contract import Exit, Failure, Problem
from benchwright.node.processes import die_with_parent

_Unit = TypeVar("_Unit")
_Output = TypeVar("_Output")
_Answer = tuple[bool, Any] | None
"""Whether a unit was done, and its output or what it raised; None where its process came to an end."""
_MOST_PROCESSES = 8
_CHUNKS_AHEAD = 8
"""Of each process: what is done before its turn is held here."""
_NUMBER = struct.Struct("<I")
_ROOM = 2**20
"""Bytes that a process can leave in its pipe of answers: the most that Linux grants anyone, and 64 times at most."""
_KEPT = 16 * 2**20
"""Bytes to allocate and free at the start: glibc then keeps what a unit frees for the next one. It would give it back
to the system, and take it again page by page, in a tenth of the time of reading results."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], *, chunk: int = 1
) -> Generator[_Output, None, None]:
    """``work`` of every unit, in their order; up to ``chunk`` units, which a process takes at a time, need no fork.

    ``work`` must only read: what it changes stays in its process. What a process does not bring back, because it was
    killed, raised, or cannot be sent, is done again here, so that whatever that raises is raised here. The processes
    end with the iteration, however that ends.
    """
    chunks = [units[start : start + chunk] for start in range(0, len(units), chunk)]
    processes = min(processors(), len(chunks), _MOST_PROCESSES)
    with _Forks(lambda part: [[work(unit) for unit in part]], chunks, processes) as forks:
        early: dict[int, _Answer] = {}
        for number, part in enumerate(chunks):
            latest = number + _CHUNKS_AHEAD * processes
            while forks.at_work(latest) and number not in early:
                early.update(forks.answers())
            match early.pop(number, None):
                case True, outputs:
                    yield from outputs
                case _:
                    yield from map(work, part)


def shared(work: Callable[[_Unit], _Output], units: Sequence[_Unit]) -> list[_Output]:
    """``work`` of every unit, in their order, where all of it is little beside the start of processes.

    This process works too, and each takes the next unit when it is free. Up to four units need no fork. ``work`` must
    only read, and what a process does not bring back is done again here, as with ``in_order``. Beside other threads it
    may take no lock: one that they hold would stay locked in a fork.
    """
    processes = min(processors(), _MOST_PROCESSES, (len(units) - 1) // 2)
    queue = _queue(len(units)) if processes >= 2 else None
    if queue is None:
        return list(map(work, units))

    def share(_: int) -> Iterator[tuple[int, _Output]]:
        return ((number, work(units[number])) for number in _taken(queue))

    gc.freeze()  # a collection would write to every page that the processes share
    try:
        with _Forks(share, range(1, processes), processes - 1, least=1, room=_ROOM) as forks:
            forks.at_work(processes)
            forks.no_more()
            outputs = dict(share(0))
            while forks.at_work(processes):
                outputs.update(answer[1] for _, answer in forks.answers() if answer and answer[0])
    finally:
        gc.unfreeze()
        os.close(queue)
    return [outputs[number] if number in outputs else work(unit) for number, unit in enumerate(units)]


def as_they_come(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], *, processes: int
) -> Iterator[tuple[int, _Output]]:
    """The output of every unit with its position, as they come. At most ``processes`` are at work at a time.

    ``work`` may write: it is done once. A single process is this one. What ``work`` raises is raised here, with a note
    of where, and the processes are ended.

    Raises:
        Failure: a process was killed (code ``worker-killed``, exit 4).
    """
    with _Forks(lambda unit: [work(unit)], units, min(processes, len(units))) as forks:
        while forks.at_work(len(units)):
            for number, answer in forks.answers():
                if answer is None:
                    raise killed(f"{processes} worker processes")
                done, output = answer
                if not done:
                    raise output
                forks.at_work(len(units))  # whoever gets the output may take its time
                yield number, output
        for number in range(forks.given, len(units)):  # there are no others
            yield number, work(units[number])


def killed(workers: str) -> Failure:
    """The failure that one of the ``workers`` came to its end before its work did."""
    found = "one of them was killed, most likely for want of memory"
    return Failure(Problem("worker-killed", workers, found, "", "run it again with fewer jobs"), exit=Exit.REMOTE)


@dataclass(slots=True)
class _Fork:
    """A process, the pipe to it with numbers of units, the pipe from it with answers, and the unit it works on."""

    process: int
    numbers: BinaryIO
    answers: BinaryIO
    unit: int | None = None


class _Forks(Generic[_Unit]):
    """Processes that take a unit each at a time, and answer. They end with the block, or with this process.

    Fewer than ``least`` are none. ``room`` bytes of each one's answers can wait to be read, or as many as any pipe
    holds. ``given`` units were handed out so far, in their order. An answer is an output of a unit: the only one,
    unless there are no more units for its process.
    """

    def __init__(
        self,
        work: Callable[[_Unit], Iterable[Any]],
        units: Sequence[_Unit],
        processes: int,
        *,
        least: int = 2,
        room: int = 0,
    ) -> None:
        self.given = 0
        self._work = work
        self._units = units
        self._processes = processes if processes >= least else 0
        self._room = room
        self._forks: dict[int, _Fork] = {}
        self._ended: list[_Fork] = []
        self._poll = select.poll()

    def __enter__(self) -> Self:
        try:
            with contextlib.suppress(OSError):  # no more processes: those that there are do
                for _ in range(self._processes):
                    self._fork()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for fork in (*self._forks.values(), *self._ended):
            _close(fork)
            # Where SIGCHLD is ignored, a process that has ended is no child any more.
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(fork.process, signal.SIGKILL)
                os.waitpid(fork.process, 0)

    def at_work(self, latest: int) -> bool:
        """Give those that have none the next units before ``latest``; whether any has one."""
        for fork in self._forks.values():
            if fork.unit is None and self.given < min(latest, len(self._units)):
                fork.unit = self.given
                self.given += 1
                with contextlib.suppress(OSError):  # it has come to its end, as its answers will
                    fork.numbers.write(_NUMBER.pack(fork.unit))
        return any(fork.unit is not None for fork in self._forks.values())

    def no_more(self) -> None:
        """Let each end when its unit is done, and be at work until then."""
        for fork in self._forks.values():
            fork.numbers.close()

    def answers(self) -> list[tuple[int, _Answer]]:
        """Wait for one to answer or to come to its end, if none has; units' numbers with their answers."""
        answers: list[tuple[int, _Answer]] = []
        for handle, _ in self._poll.poll():
            fork = self._forks[handle]
            answer: _Answer = None
            try:
                answer = pickle.load(fork.answers)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._drop(handle)
            except Exception as error:  # noqa: BLE001 - an output's own code fails in any way
                answer = False, error
                self._drop(handle)  # nobody knows where its next answer begins
            if fork.unit is not None:
                answers.append((fork.unit, answer))
            if not fork.numbers.closed:
                fork.unit = None
        return answers

    def _drop(self, handle: int) -> None:
        """Give a process nothing more, and hear nothing more of it."""
        self._poll.unregister(handle)
        self._ended.append(self._forks.pop(handle))

    def _fork(self) -> None:
        """Start a process, which never gets a Ctrl-C: that reaches the whole group, and this one answers it, once."""
        ends: list[int] = []
        try:
            ends += os.pipe()
            ends += os.pipe()
            numbers, ours, answers, theirs = ends
            if self._room:
                with contextlib.suppress(OSError, AttributeError):  # without it, it waits for its reader now and then
                    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, self._room)
            parent = os.getpid()
            with _held_back({signal.SIGINT, signal.SIGTERM}):  # until it is known here, and deaf there
                process = os.fork()
                if not process:
                    self._serve(numbers, theirs, parent, {ours, answers})
                self._forks[answers] = _Fork(process, os.fdopen(ours, "wb", 0), os.fdopen(answers, "rb"))
                self._poll.register(answers, select.POLLIN)
                os.close(numbers)
                os.close(theirs)
        except OSError:
            for end in ends:
                os.close(end)
            raise

    def _serve(self, numbers: int, answers: int, parent: int, parents: Iterable[int]) -> NoReturn:
        """Work on what numbers come, while the parent lives. ``parents`` are its ends of the pipes."""
        try:
            die_with_parent(signal.SIGKILL, parent)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            gc.disable()  # it would copy what is shared with the parent; results hold no cycles, and looking takes time
            bytes(_KEPT)
            for fork in self._forks.values():
                _close(fork)
            for end in parents:
                os.close(end)
            with os.fdopen(answers, "wb") as pipe:
                while number := os.read(numbers, _NUMBER.size):
                    unit = self._units[_NUMBER.unpack(number)[0]]
                    pipe.writelines(list(_answers(self._work, unit)))  # at its end: who would read may be at work
                    pipe.flush()
        finally:
            os._exit(1)  # without a word: that it is gone, and what was its work, is known


def _queue(length: int) -> int | None:
    """A pipe with the numbers of all units, from which any process may take the next; none where it holds fewer.

    Nobody reads yet, so that a write of more would wait for ever. A pipe holds 64 KiB, and much less where its owner
    has many of them.
    """
    numbers = b"".join(map(_NUMBER.pack, range(length)))
    queue, entry = os.pipe()
    os.set_blocking(entry, False)
    written = os.write(entry, numbers)
    os.close(entry)
    if written == len(numbers):
        return queue
    os.close(queue)
    return None


def _taken(queue: int) -> Iterator[int]:
    while number := os.read(queue, _NUMBER.size):
        yield _NUMBER.unpack(number)[0]


def _close(fork: _Fork) -> None:
    fork.numbers.close()
    fork.answers.close()


@contextlib.contextmanager
def _held_back(signals: Iterable[signal.Signals]) -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answers(work: Callable[[_Unit], Iterable[Any]], unit: _Unit) -> Iterator[bytes]:
    """What a process sends of a unit."""
    try:
        for output in work(unit):
            yield pickle.dumps((True, output), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - raised again by the parent
        yield pickle.dumps((False, _sendable(error)))


def _sendable(error: Exception) -> Exception:
    """The error with its place in this process, or a plain one that says the same where it cannot be sent."""
    place = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker process:\n{place}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - an exception's own code fails in any way
        return RuntimeError(place)
    return error
