"""Local runs of recorded job files, on trivial entries: reports, logs, locks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.arena import Item
from benchwright.contract import Exit, Failure
from benchwright.files import FileLock, RunPaths, write_json
from benchwright.launch import local, run_local
from benchwright.launch.record import write_record
from benchwright.node import read_events
from waiting import PATIENCE, text_of, wait_until

NODE_TESTS = Path(__file__).resolve().parents[1] / "node"


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{NODE_TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("TEST_JOURNAL", str(tmp_path / "journal"))
    return RunPaths(tmp_path, "demo")


def set_up(paths, *files, identity="abcd1234", **defaults):
    """Record job files; a file is a list of bundles, a bundle a list of experiments named for what they do."""
    written = []
    for number, bundles in enumerate(files):
        path = paths.job_file(f"cpu-{identity}", batch=number)
        items = [[Item(name, "iris", 0, fold, "iris-1").to_dict() for fold, name in enumerate(one)] for one in bundles]
        shared = {"python": sys.executable, "output_dir": str(paths.output), "entry": "node_entries:run"} | defaults
        write_json(path, {"defaults": shared, "jobs": [{"items": bundle} for bundle in items]})
        written.append(path)
    return write_record(
        paths,
        identity,
        plan={},
        job_files=written,
        experiments=[],
        tasks=[],
        protocol="8x1",
        approved=0,
        total=0,
        versions={},
    )


def test_a_run_reports_what_became_of_every_item(paths):
    set_up(paths, [["write-a", "fail-b"], ["write-c"]], [["killed-d"]])
    report = run_local(paths)
    assert (report.ok, report.failed, report.skipped, report.left, report.signal) == (2, 2, 0, 0, None)
    first, second = report.failures
    assert (first.experiment, first.fold, first.exit, first.reason) == (
        "fail-b",
        1,
        1,
        "ValueError: no luck with fold 1",
    )
    assert first.log == str(report.logs / "bundle_0.log")
    assert second.log == str(report.logs / "bundle_2.log")
    assert "##### bundle summary: ok=1 failed=1" in Path(first.log).read_text()


def test_the_outcome_says_what_failed_and_what_comes_next(paths):
    set_up(paths, [["write-a", "fail-b"]])
    report = run_local(paths)
    outcome = report.outcome("python run_knn.py")
    assert outcome.exit == Exit.NO
    assert outcome.summary == "1 done, 1 failed, 0 left"
    assert list(outcome.next) == ["python run_knn.py setup", "python run_knn.py run"]
    assert [str(problem) for problem in outcome.problems] == [
        f"{report.logs / 'bundle_0.log'}: FAILED (exit 1) experiment=fail-b dataset=iris repeat=0 fold=1: "
        "ValueError: no luck with fold 1\n    fix: mend the cause, then run setup and run again"
    ]
    json.dumps(outcome.envelope("run_knn"))


def test_a_complete_run_is_followed_by_eval(paths):
    set_up(paths, [["write-a"]])
    outcome = run_local(paths).outcome("python run_knn.py")
    assert (outcome.exit, outcome.summary, list(outcome.next)) == (
        Exit.DONE,
        "1 done, 0 failed, 0 left",
        ["python run_knn.py eval"],
    )
    again = run_local(paths).outcome()
    assert again.summary == "0 done, 0 failed, 0 left, 1 were done before"


def test_the_imports_are_paid_once_for_all_job_files(paths):
    set_up(paths, [["write-a"], ["write-b"]], [["write-c"]], preload="node_entries:preload")
    run_local(paths)
    journal = Path(os.environ["TEST_JOURNAL"]).read_text().splitlines()
    assert journal.count("preloaded") == 1
    assert len(journal) == 4


def test_parallel_items_run_side_by_side(paths):
    set_up(paths, [["meet-a", "meet-b"]])
    assert run_local(paths, parallel=2).ok == 2


def test_progress_is_told_as_items_end(paths):
    set_up(paths, [["write-a", "fail-b"]])
    told = []
    run_local(paths, progress=lambda done, total, *, failed=0, note="": told.append((done, total, failed, note)))
    assert told == [
        (0, 2, 0, ""),
        (0, 2, 0, "write-a on iris, repeat 0 fold 0"),
        (1, 2, 0, ""),
        (1, 2, 0, "fail-b on iris, repeat 0 fold 1"),
        (1, 2, 1, ""),
    ]


def test_every_run_has_a_log_folder_of_its_own_with_its_events(paths):
    set_up(paths, [["write-a"]])
    first, second = run_local(paths).logs, run_local(paths).logs
    assert first != second
    assert first.parent == paths.logs
    assert first.name.startswith("local-")
    assert [event["event"] for event in read_events(second / "events.jsonl")] == [
        "run-started",
        "item-skipped",
        "bundle-ended",
        "run-ended",
    ]


def test_a_second_run_is_refused_and_told_of_the_first(paths):
    set_up(paths, [["write-a"]])
    with FileLock(paths.run_lock, "run of demo"), pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.REFUSED
    (problem,) = caught.value.problems
    assert problem.found.startswith(f"run of demo (process {os.getpid()} on ")


def test_without_a_setup_there_is_nothing_to_run(paths):
    with pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value.problems[0]) == (
        f"{paths.plans}: no finished set-up of 'demo', expected the job files that set-up writes\n"
        "    fix: run setup first"
    )


def test_several_plans_are_a_choice_to_make(paths):
    set_up(paths, [["write-a"]], identity="aaaaaaaa")
    set_up(paths, [["write-b"]], identity="bbbbbbbb")
    with pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.USAGE
    assert caught.value.problems[0].found == "2 plans of 'demo': aaaaaaaa, bbbbbbbb"
    assert run_local(paths, identity="bbbbbbbb").ok == 1
    assert not paths.result("write-a", "iris-1", 0, 0).exists()


def test_a_setup_that_found_nothing_missing_leaves_nothing_to_run(paths):
    set_up(paths)
    report = run_local(paths)
    assert report.outcome("python run_knn.py").summary == "Nothing is missing: there was nothing to run."
    assert list(report.outcome("python run_knn.py").next) == ["python run_knn.py eval"]
    assert not paths.logs.exists()


def test_imports_that_fail_are_one_problem_of_this_machine(paths):
    set_up(paths, [["write-a", "write-b"]], preload="node_entries:broken_preload")
    with pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.ENVIRONMENT
    (problem,) = caught.value.problems
    assert problem.code == "cannot-fit"
    assert "ImportError: No module named 'a_library_that_is_missing'; the traceback is in " in problem.found


def test_a_job_file_that_is_gone_asks_for_setup(paths):
    set_up(paths, [["write-a"]])
    paths.job_file("cpu-abcd1234", batch=0).unlink()
    with pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.ENVIRONMENT
    assert caught.value.problems[0].fix == "run setup again"


@pytest.mark.parametrize("content", ["", "{}", "[]"])
def test_a_damaged_record_asks_for_setup(paths, content):
    record = set_up(paths, [["write-a"]])
    record.write_text(content)
    with pytest.raises(Failure) as caught:
        run_local(paths)
    assert caught.value.exit == Exit.ENVIRONMENT
    assert caught.value.problems[0].fix == "run setup of the plan that it is of, or remove it"


def test_a_damaged_record_of_another_plan_stops_no_run(paths):
    set_up(paths, [["write-a"]], identity="aaaaaaaa")
    set_up(paths, [["write-b"]], identity="bbbbbbbb").write_text("{")
    assert run_local(paths, identity="aaaaaaaa").ok == 1


@pytest.mark.parametrize(("parallel", "nearest"), [(0, 1), (-1, 1), (13, 12), (100_000, 12)])
def test_more_side_by_side_than_a_machine_bears_is_refused(paths, monkeypatch, parallel, nearest):
    monkeypatch.setattr(local, "processors", lambda: 3)
    set_up(paths, [["write-a"]])
    with pytest.raises(Failure) as caught:
        run_local(paths, parallel)
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"parallel: {parallel}, expected 1 to 12: this machine has 3 CPUs\n    fix: --parallel {nearest}"
    )
    assert not paths.logs.exists()


def test_no_more_run_side_by_side_than_there_are_items(paths, monkeypatch):
    monkeypatch.setattr(local, "processors", lambda: 3)
    set_up(paths, [["meet-a", "meet-b"]])
    started = read_events(run_local(paths, 12).logs / "events.jsonl")[0]
    assert (started["event"], started["parallel"]) == ("run-started", 2)


SCRIPT = """
import sys
from benchwright.files import RunPaths
from benchwright.launch import run_local
outcome = run_local(RunPaths(sys.argv[1], "demo")).outcome("python run_knn.py")
print(outcome.summary)
print(*outcome.next)
sys.exit(outcome.code)
"""


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")])
def test_a_stopped_run_keeps_what_is_done_and_says_how_to_go_on(paths, number, name):
    set_up(paths, [["write-a", "hang-b"], ["write-c"]])
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(paths.workspace)], stdout=subprocess.PIPE, text=True)
    journal = Path(os.environ["TEST_JOURNAL"])
    wait_until(lambda: "pids" in text_of(journal), shown=process.poll)
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert output.splitlines() == [
        f"1 done, 0 failed, 2 left; stopped by {name}, what is finished is kept",
        "python run_knn.py run",
    ]
    assert process.returncode == 128 + number
    assert paths.result("write-a", "iris-1", 0, 0).exists()


def test_a_result_that_does_not_fit_on_the_disk_fails_and_is_fitted_again(paths, monkeypatch):
    """A limit on file sizes stops the write of a result half-way, as a full disk does."""
    set_up(paths, [["large-a", "write-b"]])
    report = run_local(paths)
    assert (report.ok, report.failed) == (1, 1)
    assert "File too large" in report.failures[0].reason
    folder = paths.result("large-a", "iris-1", 0, 0).parent
    assert not folder.exists() or list(folder.iterdir()) == []
    monkeypatch.setenv("TEST_DISK", "large")
    report = run_local(paths)
    assert (report.ok, report.failed, report.skipped) == (1, 0, 1)
    assert paths.result("large-a", "iris-1", 0, 0).exists()


def test_a_copied_workspace_does_not_run_into_its_original(paths, tmp_path):
    set_up(paths, [["write-a"]])
    copy = tmp_path / "copy"
    shutil.copytree(paths.setup.parent, copy / "setup_out")
    with pytest.raises(Failure) as caught:
        run_local(RunPaths(copy, "demo"))
    assert caught.value.exit == Exit.REFUSED
    assert caught.value.problems[0].code == "other-workspace"
    assert not paths.output.exists()
