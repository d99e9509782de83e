"""``python -m benchwright.node.run_bundle`` as an array task runs it: exit codes, signals, what is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from node_run import RUN_BUNDLE

from benchwright.node import read_events, state_of
from waiting import PATIENCE, is_alive, wait_for_ends


def pids_of(run):
    return run.wait_for("pids").split()[1:]


def test_it_runs_the_bundle_it_is_asked_for(run):
    process = run.start(["write-a"], ["fail-b", "write-c"], index=1)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "##### item FAILED (exit 1): experiment=fail-b dataset=my data repeat=0 fold=0\n" in output
    assert output.endswith("##### bundle summary: ok=1 failed=1\n")
    assert "output of write-c fold 1\n" in output
    assert not run.result("write-a", 0).exists()
    state = state_of(read_events(run.logs / "events_1.jsonl"))
    assert (state.total, state.ok, state.failed, state.left, state.ended) == (2, 1, 1, 0, True)


@pytest.mark.parametrize(("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")])
def test_a_stopping_signal_ends_the_item_whole_and_keeps_what_is_done(run, number, name):
    process = run.start(["write-a", "hang-b", "write-c"])
    pids = pids_of(run)
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert output.splitlines()[-2:] == [
        f"##### item stopped by {name}: experiment=hang-b dataset=my data repeat=0 fold=1",
        "##### bundle summary: ok=1 failed=0",
    ]
    assert not any(map(is_alive, pids))
    assert run.result("write-a", 0).exists()
    assert not run.result("hang-b", 1).parent.exists()
    assert run.scratch() == []
    events = read_events(run.logs / "events_0.jsonl")
    assert events[-1]["event"] == "run-ended"
    assert (events[-1]["ok"], events[-1]["left"], events[-1]["signal"]) == (1, 2, number)


@pytest.mark.parametrize("first", ["item", "supervisor", "server", "runner"])
def test_a_scheduler_that_signals_every_process_stops_the_item_and_fails_nothing(run, first):
    """SLURM sends SIGTERM to all processes of a task, and whichever notices first must not look like a failure."""
    process = run.start(["write-a", "hang-b", "write-c"])
    item, *family, server = map(int, pids_of(run))
    with open(f"/proc/{item}/stat", encoding="utf-8") as stat:
        supervisor = int(stat.read().rpartition(")")[2].split()[1])
    pids = {"item": item, "supervisor": supervisor, "server": server, "runner": process.pid}
    os.kill(pids.pop(first), signal.SIGTERM)
    time.sleep(0.1)
    for pid in (*pids.values(), *family):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert output.splitlines()[-2:] == [
        "##### item stopped by SIGTERM: experiment=hang-b dataset=my data repeat=0 fold=1",
        "##### bundle summary: ok=1 failed=0",
    ]
    wait_for_ends([item, *family, server, supervisor])
    assert not run.result("hang-b", 1).parent.exists()
    assert run.scratch() == []


def test_a_scheduler_that_signals_every_process_during_the_imports_finds_no_fault_with_them(run):
    process = run.start(["write-a"], preload="node_entries:slow_preload")
    os.kill(int(pids_of(run)[0]), signal.SIGTERM)
    time.sleep(0.1)
    process.terminate()
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (143, "")
    assert output.endswith(
        "##### item stopped by SIGTERM: experiment=write-a dataset=my data repeat=0 fold=0\n"
        "##### bundle summary: ok=0 failed=0\n"
    )


def test_an_item_that_alone_gets_a_sigterm_has_failed(run):
    process = run.start(["hang-a", "write-b"])
    item = int(pids_of(run)[0])
    os.kill(item, signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "##### item FAILED (exit 143): experiment=hang-a dataset=my data repeat=0 fold=0\n" in output
    assert output.endswith("##### bundle summary: ok=1 failed=1\n")


def test_a_signal_during_the_imports_stops_too(run):
    process = run.start(["write-a"], preload="node_entries:slow_preload")
    pids = pids_of(run)
    process.terminate()
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert output.endswith("##### bundle summary: ok=0 failed=0\n")
    assert not any(map(is_alive, pids))


def test_a_killed_runner_takes_everything_with_it_and_the_next_one_goes_on(run):
    process = run.start(["write-a", "hang-b", "write-c"])
    pids = pids_of(run)
    process.kill()
    process.wait()
    wait_for_ends(pids)
    assert run.scratch() == []
    (half_written,) = run.result("hang-b", 1).parent.iterdir()
    assert half_written.name == ".results.pkl.abc123.tmp"
    state = state_of(read_events(run.logs / "events_0.jsonl"))
    assert (state.ok, state.failed, state.left, state.ended) == (1, 0, 2, False)

    again = run.run(["write-a", "forget-b", "write-c"])
    assert (again.skipped, again.ok, again.failed) == (1, 1, 1)


def test_ten_kills_at_random_moments_lose_and_repeat_nothing(run):
    names = [f"slow-{number}" for number in range(30)]
    moments = random.Random(20)
    for kill in range(10):
        begun = len(run.journalled("run"))
        process = run.start(names)
        run.wait_until(lambda at=begun + kill % 4: len(run.journalled("run")) >= at)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
    before = [name for fold, name in enumerate(names) if run.result(name, fold).exists()]
    assert 0 < len(before) < len(names)
    output, _ = run.start(names).communicate(timeout=PATIENCE)
    assert output.endswith("##### bundle summary: ok=30 failed=0\n")
    assert output.count("item skipped") == len(before)
    tree = sorted(str(path.relative_to(run.output)) for path in run.output.rglob("*") if path.is_file())
    assert tree == sorted(str(run.result(name, fold).relative_to(run.output)) for fold, name in enumerate(names))
    assert run.scratch() == []


def test_what_a_killed_writer_left_is_swept_before_the_item_runs_again(run):
    leftover = run.result("write-a", 0).with_name(".results.pkl.x1y2.tmp")
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    run.run(["write-a"])
    assert [path.name for path in leftover.parent.iterdir()] == ["results.pkl"]


def test_a_killed_server_and_runner_leave_nothing_running(run):
    process = run.start(["hang-a"])
    *pids, server = pids_of(run)
    os.kill(int(server), signal.SIGKILL)
    process.kill()
    process.wait()
    wait_for_ends([*pids, server])


def test_items_get_no_standard_input(run):
    """A fit that asks a question must not eat the server's requests."""
    command = [*RUN_BUNDLE, str(run.job_file(["ask-a", "write-b"])), "0"]
    subprocess.run(command, check=True, input="an answer", capture_output=True, text=True, timeout=PATIENCE)
    assert run.journalled("heard") == ["heard ''"]


def test_nothing_that_can_run_here_is_exit_3_with_one_line(run):
    process = run.start(["write-a", "write-b"], preload="node_entries:broken_preload")
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert [line for line in errors.splitlines() if line.startswith("#####")] == [
        f"##### no item can run: {sys.executable} cannot import what the items need: "
        "ImportError: No module named 'a_library_that_is_missing'"
    ]
    assert output.endswith("##### bundle summary: ok=0 failed=0\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory), expected a set-up's job file"),
        ("{", "not JSON ("),
        ("[]", "not a job file (TypeError: "),
        (
            '{"defaults": {"python": 3}, "jobs": []}',
            "defaults without python, output_dir, entry, expected a job file",
        ),
    ],
)
def test_an_unusable_job_file_is_exit_2(tmp_path, content, said):
    path = tmp_path / "jobs.json"
    if content is not None:
        path.write_text(content)
    assert said in refused(path, "0")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"experiment": "../../outside"}, "'../../outside' is no folder name"),
        ({"task_key": ".."}, "'..' is no folder name"),
        ({"repeat": -1}, "-1 is no repeat or fold"),
        ({"fold": "0"}, "'0' is no repeat or fold"),
        ({"fold": True}, "True is no repeat or fold"),
    ],
)
def test_an_item_that_would_leave_the_results_tree_is_refused(run, changed, said):
    path = run.job_file(["write-a"])
    content = json.loads(path.read_text())
    content["jobs"][0]["items"][0].update(changed)
    path.write_text(json.dumps(content))
    assert said in refused(path, "0")


@pytest.mark.parametrize("index", ["1", "-1"])
def test_a_bundle_that_is_not_there_is_exit_2(run, index):
    path = run.job_file(["write-a"])
    assert f"{path}: no bundle {index}, it has 1, from 0" in refused(path, index)


def refused(path, index):
    done = subprocess.run(
        [*RUN_BUNDLE, str(path), index], check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    return done.stderr
