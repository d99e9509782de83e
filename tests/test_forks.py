"""Work spread over forked processes: order, errors, deaths, and that nothing stays behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from benchwright import forks
from benchwright.contract import Exit, Failure
from benchwright.forks import as_they_come, in_order, shared
from waiting import PATIENCE, children_of, wait_until

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
HERE = os.getpid()


@pytest.fixture(autouse=True)
def three_processors(monkeypatch):
    monkeypatch.setattr(forks, "processors", lambda: 3)


@pytest.fixture(autouse=True)
def nothing_stays():
    before = children_of(HERE), open_files()
    yield
    assert (children_of(HERE), open_files()) == before


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def pipes():
    return {int(file.name) for file in Path("/proc/self/fd").iterdir() if file.is_fifo()}


def number_and_process(number):
    time.sleep(0.01)
    return number, os.getpid()


def killed_elsewhere(number):
    if number % 7 == 3 and os.getpid() != HERE:
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does when memory runs out
    return number


def raising_elsewhere(number):
    if os.getpid() != HERE:
        raise KeyboardInterrupt
    return number


def unsendable_elsewhere(number):
    return number if os.getpid() == HERE else threading.Lock()


class Unloadable:
    def __reduce__(self):
        return int, ("no number",)


def unloadable_elsewhere(number):
    time.sleep(0.002)  # so that this process does not do all
    return number if os.getpid() == HERE or number % 7 else Unloadable()


def refuse(number):
    if number == 3:
        raise ValueError(f"unit {number}")
    time.sleep(600 * (number > 3))
    return number


class Unsendable(Exception):
    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def raise_unsendable(_):
    raise Unsendable(1, 2)


@pytest.mark.parametrize("chunk", [1, 7])
def test_outputs_come_in_the_order_of_the_units_from_several_processes(chunk):
    outputs = list(in_order(number_and_process, range(100), chunk=chunk))
    assert [number for number, _ in outputs] == list(range(100))
    assert len({process for _, process in outputs} - {HERE}) == 3


@pytest.mark.parametrize("count", [0, 1, 7])
def test_few_units_stay_in_this_process(count):
    assert list(in_order(lambda _: os.getpid(), range(count), chunk=7)) == [HERE] * count


def test_one_processor_is_no_reason_to_fork(monkeypatch):
    monkeypatch.setattr(forks, "processors", lambda: 1)
    assert set(in_order(lambda _: os.getpid(), range(100), chunk=7)) == {HERE}


def test_shared_work_is_that_of_this_process_too():
    outputs = shared(number_and_process, range(100))
    assert [number for number, _ in outputs] == list(range(100))
    processes = {process for _, process in outputs}
    assert HERE in processes
    assert len(processes) == 3


@pytest.fixture
def small_pipes(monkeypatch):
    """Pipes of a page, as Linux makes them for an ordinary user who has many."""
    pipe = os.pipe

    def small():
        ends = pipe()
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
        return ends

    monkeypatch.setattr(os, "pipe", small)


@pytest.mark.timeout(PATIENCE)  # without the limit it would wait for ever
def test_no_process_shares_four_units_or_more_than_a_pipe_holds(small_pipes, monkeypatch):
    tried = []

    def refuse():
        tried.append(count)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    for count in (0, 4, 5, 1024, 1025):
        assert shared(lambda number: number, range(count)) == list(range(count))
    assert tried == [5, 1024]


@pytest.mark.parametrize("spread", [partial(in_order, chunk=7), partial(as_they_come, processes=3), shared])
def test_large_answers_pass_through_small_pipes(spread, small_pipes):
    assert len(list(spread(lambda _: bytes(2**18), range(40)))) == 40


@pytest.mark.parametrize("spread", [in_order, partial(as_they_come, processes=3)])
def test_who_has_one_answer_at_a_time_takes_no_large_pipe_for_it(spread):
    """There are few: 64 for all processes of an ordinary user."""
    before = pipes()
    outputs = spread(number_and_process, range(20))
    next(outputs)
    made = pipes() - before
    assert len(made) == 6
    assert max(fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) for pipe in made) <= 65_536
    outputs.close()


def test_what_is_shared_may_be_more_than_a_pipe_holds():
    outputs = shared(lambda number: (time.sleep(0.001), bytes([number]) * 2**18)[1], range(100))
    assert outputs == [bytes([number]) * 2**18 for number in range(100)]


@pytest.mark.parametrize("spread", [partial(in_order, chunk=7), shared])
@pytest.mark.parametrize("work", [killed_elsewhere, raising_elsewhere, unsendable_elsewhere, unloadable_elsewhere])
def test_what_a_process_does_not_bring_back_is_done_here(spread, work, capfd):
    assert list(spread(work, range(100))) == list(range(100))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("spread", [partial(in_order, chunk=7), shared])
def test_an_error_is_raised_where_the_outputs_are_taken(spread, capfd):
    with pytest.raises(ZeroDivisionError) as caught:
        list(spread(lambda number: 1 // (number - 50), range(100)))
    assert "<lambda>" in str(caught.traceback[-1])
    assert capfd.readouterr().err == ""


def test_the_processes_end_when_nobody_wants_the_rest():
    before = len(children_of(HERE))
    outputs = in_order(lambda number: time.sleep(number and 600), range(100))
    next(outputs)
    assert len(children_of(HERE)) == before + 3
    outputs.close()
    assert len(children_of(HERE)) == before


def test_what_is_done_before_its_turn_is_bounded(tmp_path):
    def work(number):
        if number == 0:
            wait_until(lambda: len(list(tmp_path.iterdir())) >= 10)
            time.sleep(0.2)
        (tmp_path / str(number)).touch()

    next(in_order(work, range(500)))
    assert len(list(tmp_path.iterdir())) <= 30


@pytest.mark.parametrize("spread", [in_order, partial(as_they_come, processes=3), shared])
@pytest.mark.parametrize("allowed", [0, 1])
def test_where_no_more_processes_can_be_had_those_that_there_are_do(spread, allowed, monkeypatch):
    fork, made = os.fork, []

    def limited():
        if len(made) == allowed:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", limited)
    assert len(list(spread(lambda number: number, range(40)))) == 40
    assert len(made) == allowed


@pytest.mark.parametrize("processes", [1, 2, 5, 100])
def test_every_unit_is_worked_on_once(processes, tmp_path):
    def work(number):
        (tmp_path / str(number)).touch(exist_ok=False)
        return 2 * number

    outputs = dict(as_they_come(work, range(20), processes=processes))
    assert outputs == {number: 2 * number for number in range(20)}


@pytest.mark.parametrize("processes", [1, 3])
def test_no_units(processes):
    assert list(as_they_come(refuse, [], processes=processes)) == []


def test_no_more_processes_than_asked_for_and_none_for_one():
    def processes_of(count, **asked):
        return {process for _, (_, process) in as_they_come(number_and_process, range(count), **asked)}

    assert len(processes_of(12, processes=3)) == 3
    assert processes_of(3, processes=1) == {HERE}
    assert HERE not in processes_of(3, processes=2)


def test_what_a_process_raises_is_raised_here_with_its_place_and_the_others_end():
    started = time.monotonic()
    with pytest.raises(ValueError, match="unit 3") as caught:
        list(as_they_come(refuse, range(8), processes=3))
    assert time.monotonic() - started < PATIENCE  # and not the sleep of the others
    assert "in refuse" in caught.value.__notes__[0]


def test_an_exception_that_cannot_be_sent_is_told_as_text():
    with pytest.raises(RuntimeError, match="Unsendable: 1 and 2"):
        list(as_they_come(raise_unsendable, "ab", processes=2))


def test_an_output_that_cannot_be_sent_is_an_error_and_no_death():
    with pytest.raises(TypeError, match="cannot pickle"):
        list(as_they_come(unsendable_elsewhere, range(3), processes=2))


def test_an_output_that_cannot_be_loaded_is_an_error_and_no_death():
    with pytest.raises(ValueError, match="invalid literal for int"):
        list(as_they_come(unloadable_elsewhere, range(3), processes=2))


def test_a_killed_process_is_a_failure_that_says_what_to_do():
    with pytest.raises(Failure) as caught:
        list(as_they_come(signal.raise_signal, [signal.SIGKILL] * 2, processes=2))
    assert caught.value.exit == Exit.REMOTE
    assert str(caught.value.problems[0]) == (
        "2 worker processes: one of them was killed, most likely for want of memory\n"
        "    fix: run it again with fewer jobs"
    )


def test_a_process_that_is_killed_between_units_is_the_same_failure():
    outputs = as_they_come(number_and_process, range(60), processes=2)
    _, (_, process) = next(outputs)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(Failure) as caught:
        list(outputs)
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REMOTE, "worker-killed")


def test_who_stops_listening_leaves_no_process_behind():
    outputs = as_they_come(number_and_process, range(50), processes=2)
    next(outputs)
    outputs.close()  # and `nothing_stays`


def test_threads_of_the_caller_do_no_harm():
    """A terminal's progress bar has one, and forking beside it must not hang."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [print(end="") for _ in iter(stop.is_set, True)], daemon=True)
    thread.start()
    try:
        assert list(in_order(lambda number: number, range(100))) == list(range(100))
    finally:
        stop.set()
        thread.join()


def test_a_caller_that_leaves_its_children_to_the_kernel():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert list(in_order(killed_elsewhere, range(20))) == list(range(20))
    finally:
        signal.signal(signal.SIGCHLD, before)


PARENT = """
import os, time
from benchwright import forks
forks.processors = lambda: 2
def work(number):
    if number:
        os.write(1, b"at work\\n")
        time.sleep(600)
try:
    for output in forks.in_order(work, range(10)):
        os.write(1, b"begun\\n")
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


@pytest.fixture
def parent():
    command = [sys.executable, "-c", PARENT]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    with process:
        assert sorted(process.stdout.readline() for _ in range(3)) == ["at work\n", "at work\n", "begun\n"]
        yield process


# In both, the output ends when no process holds it any more.
def test_ctrl_c_ends_all_and_is_told_once(parent):
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.communicate(timeout=PATIENCE)[0] == "interrupted\n"


def test_no_process_outlives_its_parent(parent):
    parent.kill()
    assert parent.communicate(timeout=PATIENCE)[0] == ""


def test_ctrl_c_ends_those_that_share_and_is_told_once():
    script = PARENT.replace("if number:", "if True:").replace("forks.in_order", "forks.shared")
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as parent:
        assert [parent.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.communicate(timeout=PATIENCE)[0] == "interrupted\n"
