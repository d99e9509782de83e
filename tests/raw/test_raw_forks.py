"""Work spread over forked processes: order, errors, deaths, and that nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from benchwright.raw import find_results, finding, forks
from benchwright.raw.forks import forked_map

HERE = os.getpid()


@pytest.fixture(autouse=True)
def three_processors(monkeypatch):
    monkeypatch.setattr(forks, "processors", lambda: 3)


def test_outputs_come_in_the_order_of_the_inputs_from_several_processes():
    outputs = list(forked_map(lambda number: (number, os.getpid()), range(100), chunk=7))
    assert [number for number, _ in outputs] == list(range(100))
    assert len({process for _, process in outputs} - {HERE}) == 3


@pytest.mark.parametrize("count", [0, 1, 7])
def test_few_inputs_stay_in_this_process(count):
    assert list(forked_map(lambda _: os.getpid(), range(count), chunk=7)) == [HERE] * count


def test_one_processor_is_no_reason_to_fork(monkeypatch):
    monkeypatch.setattr(forks, "processors", lambda: 1)
    assert set(forked_map(lambda _: os.getpid(), range(100), chunk=7)) == {HERE}


def test_what_a_process_did_not_do_is_done_here():
    def work(number):
        if number == 30 and os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does when memory runs out
        return number

    assert list(forked_map(work, range(100), chunk=7)) == list(range(100))


def test_an_error_is_raised_where_the_outputs_are_taken(capfd):
    with pytest.raises(ZeroDivisionError):
        list(forked_map(lambda number: 1 // (number - 50), range(100), chunk=7))
    assert multiprocessing.active_children() == []
    assert capfd.readouterr().err == ""


def test_the_processes_end_when_nobody_wants_the_rest():
    outputs = forked_map(lambda number: time.sleep(number and 60), range(100), chunk=1)
    next(outputs)
    assert len(multiprocessing.active_children()) == 3
    outputs.close()
    assert multiprocessing.active_children() == []


INTERRUPTED = """
import time
from benchwright.raw import forks
forks.processors = lambda: 2
try:
    for output in forks.forked_map(lambda number: time.sleep(number and 60), range(10), chunk=1):
        print("begun", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_all_and_is_told_once():
    command = [sys.executable, "-c", INTERRUPTED]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    # The output ends when no process holds it any more.
    assert process.communicate(timeout=20)[0] == "interrupted\n"


def test_a_walk_in_several_processes_finds_the_same(genuine, tmp_path, monkeypatch):
    root = genuine("binary").parents[4]
    alone = find_results(root)
    monkeypatch.setattr(finding, "_FOLDERS_BEFORE_FORKS", 2)
    assert find_results(root) == alone
    assert len(alone.files) == 99
    (tmp_path / "a").mkdir()
    for name in "bcd":
        (tmp_path / name / "task").mkdir(parents=True)
        (tmp_path / name / "task" / "0_0").symlink_to(tmp_path)
    assert [problem.code for problem in find_results(tmp_path).problems] == ["link"] * 3 + ["no-results"]
