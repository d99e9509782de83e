"""Work shared among forks: its order, and what happens when one of them does not come back."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from benchwright.harbor import forks
from benchwright.harbor.forks import shared

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})


def test_answers_come_in_order_from_several_processes():
    made = shared(lambda number: (number, os.getpid()), range(200))
    assert [number for number, _ in made] == list(range(200))


def test_few_items_and_processes_with_threads_do_not_fork():
    assert {pid for _, pid in shared(lambda n: (n, os.getpid()), range(4))} == {os.getpid()}
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert {pid for _, pid in shared(lambda n: (n, os.getpid()), range(50))} == {os.getpid()}
    finally:
        done.set()
        thread.join()


def test_more_items_than_the_queue_holds_are_done_here(monkeypatch):
    monkeypatch.setattr(forks, "_MOST_INDEXES", 10)
    assert {pid for _, pid in shared(lambda n: (n, os.getpid()), range(11))} == {os.getpid()}


def killed_in_a_fork(parent):
    def work(number):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return work


def raising_in_a_fork(parent):
    def work(number):
        if os.getpid() != parent:
            raise KeyboardInterrupt
        return number

    return work


@pytest.mark.parametrize("accident", [killed_in_a_fork, raising_in_a_fork])
def test_what_a_fork_does_not_bring_back_is_done_here(accident, capfd):
    assert shared(accident(os.getpid()), range(40)) == list(range(40))
    assert "Traceback" not in capfd.readouterr().err


def test_what_fails_is_raised_here_and_no_fork_is_left(monkeypatch):
    made = []
    fork = os.fork
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # servers of other tests have threads here
    monkeypatch.setattr(os, "fork", lambda: made.append(fork()) or made[-1])

    def work(number):
        if number == 30:
            raise ZeroDivisionError
        return number

    with pytest.raises(ZeroDivisionError):
        shared(work, range(40))
    assert made
    for process in made:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_without_another_process_the_work_is_done_here(monkeypatch):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert shared(lambda number: number, range(40)) == list(range(40))
