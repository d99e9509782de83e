"""The runner's rules, on real forks of trivial entries."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from benchwright.launch.task_log import read_task_log
from benchwright.node import JobFileError, ServerUnusable, run_bundles
from waiting import is_alive


def test_items_run_in_order_in_processes_of_their_own_after_one_preload(run):
    totals = run.run(["write-a", "write-b"], ["write-c"])
    assert run.journalled() == ["preloaded", "run write-a fold 0", "run write-b fold 1", "run write-c fold 0"]
    assert (totals.ok, totals.failed, totals.skipped, totals.left, totals.exit) == (3, 0, 0, 0, 0)
    assert run.log(0).read_text().splitlines() == [
        "##### item 1/2 started: experiment=write-a dataset=my data repeat=0 fold=0",
        "output of write-a fold 0",
        "##### item 2/2 started: experiment=write-b dataset=my data repeat=0 fold=1",
        "output of write-b fold 1",
        "##### bundle summary: ok=2 failed=0",
    ]
    assert run.told(1)[-1] == "##### bundle summary: ok=1 failed=0"


# Defect 12 of the peer: its bundle ends with the first item that fails.
def test_a_failure_is_said_in_one_line_and_the_bundle_goes_on(run):
    totals = run.run(["fail-a", "write-b", "leave-c", "killed-d"])
    assert (totals.ok, totals.failed, totals.exit) == (1, 3, 1)
    log = run.log().read_text()
    assert "##### item FAILED (exit 1): experiment=fail-a dataset=my data repeat=0 fold=0\n" in log
    assert "##### item FAILED (exit 7): experiment=leave-c dataset=my data repeat=0 fold=2\n" in log
    assert "##### item FAILED (exit 137): experiment=killed-d dataset=my data repeat=0 fold=3\n" in log
    assert "ValueError: no luck with fold 0" in log.partition("##### item FAILED")[0]
    assert log.endswith("##### bundle summary: ok=1 failed=3\n")


def test_failed_items_are_reported_with_the_reason(run):
    run.run(["fail-a", "write-b", "killed-c", "write-d", "forget-e"])
    failed = [event for event in run.events if event["event"] == "item-failed"]
    assert [event["reason"] for event in failed] == [
        "ValueError: no luck with fold 0",
        "killed by SIGKILL (the kernel does this when memory runs out)",
        f"ended without a complete result at {run.result('forget-e', 4)}",
    ]
    assert failed[1]["signal"] == signal.SIGKILL
    assert failed[0]["log"] == str(run.log())


def test_three_failures_in_a_row_stop_that_bundle_and_not_the_run(run):
    totals = run.run(["write-a", "fail-b", "fail-c", "fail-d", "write-e", "write-f"], ["fail-g", "write-h"])
    assert run.told(0)[-3:] == [
        "##### item FAILED (exit 1): experiment=fail-d dataset=my data repeat=0 fold=3",
        "##### three failures in a row: this bundle stops, 2 of its items are not run",
        "##### bundle summary: ok=1 failed=3",
    ]
    assert run.told(1)[-1] == "##### bundle summary: ok=1 failed=1"
    assert (totals.ok, totals.failed, totals.left) == (2, 4, 2)


def test_a_success_between_failures_starts_the_count_again(run):
    totals = run.run(["fail-a", "fail-b", "write-c", "fail-d", "fail-e", "write-f"])
    assert (totals.ok, totals.failed, totals.left) == (2, 4, 0)


def test_complete_results_are_skipped_and_no_server_is_started_for_them(run):
    run.run(["write-a", "write-b"])
    run.journal.unlink()
    totals = run.run(["write-a", "write-b"])
    assert run.journalled() == []
    assert (totals.ok, totals.skipped, totals.exit) == (0, 2, 0)
    assert run.told()[-1] == "##### bundle summary: ok=2 failed=0"


def test_ignore_cache_runs_them_again(run):
    run.run(["write-a"])
    before = run.result("write-a", 0).read_bytes()
    totals = run.run(["write-a"], ignore_cache=True)
    assert totals.ok == 1
    assert run.result("write-a", 0).read_bytes() != before


def test_ignore_cache_does_not_take_the_old_result_for_the_new_one(run):
    run.run(["write-a"])
    old = run.result("write-a", 0)
    new = run.result("forget-a", 0)
    new.parent.mkdir(parents=True)
    new.write_bytes(old.read_bytes())
    assert run.run(["forget-a"], ignore_cache=True).failed == 1


@pytest.mark.parametrize("damage", [lambda whole: whole[:-4], lambda whole: b"", lambda whole: b"not a pickle at all"])
def test_a_damaged_result_is_set_aside_and_run_again(run, damage):
    run.run(["write-a"])
    result = run.result("write-a", 0)
    damaged = damage(result.read_bytes())
    result.write_bytes(damaged)
    (result.parent / "results.pkl.damaged").write_bytes(b"an earlier one")
    assert run.run(["write-a"]).ok == 1
    assert (result.parent / "results.pkl.damaged").read_bytes() == b"an earlier one"
    assert (result.parent / "results.pkl.damaged.2").read_bytes() == damaged
    assert f"##### a damaged result was moved to {result}.damaged.2" in run.told()


def test_what_cannot_be_read_is_left_alone_and_its_item_fails(run):
    """A link to itself: the system refuses to open it to any user, root too."""
    result = run.result("write-a", 0)
    result.parent.mkdir(parents=True)
    result.symlink_to(result)
    totals = run.run(["write-a", "write-b"])
    assert (totals.ok, totals.failed) == (1, 1)
    assert run.journalled() == ["preloaded", "run write-b fold 1"]
    assert run.told()[:3] == [
        "##### item 1/2 started: experiment=write-a dataset=my data repeat=0 fold=0",
        f"##### {result} cannot be read (Too many levels of symbolic links)",
        "##### item FAILED (exit 1): experiment=write-a dataset=my data repeat=0 fold=0",
    ]
    assert [event["event"] for event in run.events[:3]] == ["run-started", "item-started", "item-failed"]
    failed = run.events[2]
    assert failed["reason"] == f"{result} cannot be read (Too many levels of symbolic links)"
    assert [path.name for path in result.parent.iterdir()] == ["results.pkl"]


def test_a_file_in_the_place_of_a_results_folder_holds_no_result(run):
    place = run.result("write-a", 0).parent
    place.parent.mkdir(parents=True)
    place.touch()
    assert run.run(["write-a"]).failed == 1
    assert run.journalled("run") == ["run write-a fold 0"]


def test_triage_tells_what_cannot_be_read_from_the_output_before_it(run):
    result = run.result("write-b", 1)
    result.parent.mkdir(parents=True)
    result.symlink_to(result)
    run.run(["write-a", "write-b"])
    (lost,) = read_task_log(run.log().read_text().splitlines()).lost
    assert lost.item == "experiment=write-b dataset=my data repeat=0 fold=1"
    assert lost.lines == (f"##### {result} cannot be read (Too many levels of symbolic links)",)


def test_parallel_items_run_at_once_and_their_output_is_not_mixed(run):
    totals = run.run(["meet-a", "meet-b"], parallel=2)
    assert totals.ok == 2
    lines = [line for line in run.log().read_text().splitlines() if line.startswith("line ")]
    assert len(lines) == 400
    assert len({line[-1] for line in lines[:200]}) == 1
    assert [path.name for path in run.logs.glob("*item*")] == []
    assert run.told()[-1] == "##### bundle summary: ok=2 failed=0"


def test_sequential_items_never_run_at_once(run):
    run.run(["meet-a"], ["write-b"], patience=1.0)
    meeting = run.output / "meeting"
    assert [path.name for path in meeting.iterdir()] == ["0"]
    assert "TimeoutError: alone" in run.log().read_text()


def test_what_an_item_leaves_running_is_ended_with_it_even_a_daemon(run):
    assert run.run(["daemon-a"]).ok == 1
    _, daemon = run.journalled("pids")[0].split()
    assert not any(map(is_alive, [daemon]))


def test_an_item_works_in_a_scratch_folder_that_is_gone_afterwards(run):
    run.run(["place-a"])
    _, folder, artifacts = run.journalled("place")[0].split()
    assert folder == artifacts
    assert Path(folder).is_relative_to(run.folder / "tmp")
    assert run.scratch() == []


def test_the_users_own_folder_for_artifacts_is_respected(run, monkeypatch):
    monkeypatch.setenv("TABARENA_MODEL_ARTIFACTS_BASE_PATH", "/their/own")
    run.run(["place-a"])
    assert run.journalled("place")[0].split()[2] == "/their/own"


def test_the_ray_logs_of_a_failed_item_are_kept(run):
    run.run(["ray-a"], ray_temp_dir=str(run.folder / "ray"))
    (session,) = (run.logs / "ray_logs" / "task_0").iterdir()
    assert session.name.startswith("session_2026-11-30_01-02-03_000001_")
    assert (session / "raylet.err").read_text() == "worker died"


def test_a_server_that_is_killed_costs_the_running_item_alone(run):
    totals = run.run(["write-a", "kill_server-b", "write-c"])
    assert (totals.ok, totals.failed, totals.left) == (2, 1, 0)
    assert run.told()[-4:] == [
        "##### the fork server ended (signal 9) while this item ran",
        "##### item FAILED (exit 137): experiment=kill_server-b dataset=my data repeat=0 fold=1",
        "##### item 3/3 started: experiment=write-c dataset=my data repeat=0 fold=2",
        "##### bundle summary: ok=2 failed=1",
    ]
    assert run.journalled("preloaded") == ["preloaded"] * 2
    assert not any(map(is_alive, run.journalled("pids")[0].split()[1:]))


def test_a_broken_import_is_one_problem_and_not_one_a_item(run):
    with pytest.raises(ServerUnusable) as caught:
        run.run(["write-a", "write-b"], preload="node_entries:broken_preload")
    assert str(caught.value) == (
        f"{run.bundles(['write-a'])[0].defaults['python']} cannot import what the items need: "
        f"ImportError: No module named 'a_library_that_is_missing'; the traceback is in {run.logs / 'server.log'}"
    )
    assert "in broken_preload" in (run.logs / "server.log").read_text()
    assert [event["event"] for event in run.events if "failed" in event["event"]] == []
    assert run.told()[-1] == "##### bundle summary: ok=0 failed=0"
    assert run.events[-1] == {"event": "run-ended", "ok": 0, "failed": 0, "skipped": 0, "left": 2, "signal": None}


@pytest.mark.parametrize(
    ("defaults", "said"),
    [
        ({"python": "/nowhere/python"}, "/nowhere/python cannot be started (No such file or directory)"),
        ({"entry": "nowhere:run"}, "ModuleNotFoundError: No module named 'nowhere'"),
        ({"entry": "node_entries:nothing"}, "AttributeError: module 'node_entries' has no attribute 'nothing'"),
        ({"preload": "node_entries:preload_that_kills_the_server"}, "ended (exit 139) before it was ready"),
        ({"python": "/bin/false"}, "ended (exit 1) before it was ready"),
    ],
)
def test_a_server_that_cannot_start_says_why(run, defaults, said):
    with pytest.raises(ServerUnusable) as caught:
        run.run(["write-a"], **defaults)
    assert said in str(caught.value)


def test_a_full_disk_under_the_logs_does_not_end_the_run(run, capfd):
    bundles = run.bundles(["write-a"])
    full = type(bundles[0])(0, bundles[0].items, bundles[0].defaults, log=Path("/dev/full"))
    totals = run_bundles([full], lambda event: None)
    assert totals.failed + totals.ok == 1
    assert "/dev/full: No space left on device: ##### bundle summary: " in capfd.readouterr().err


def test_an_unwritable_log_fails_the_item_with_the_reason(run):
    run.logs.mkdir()
    (run.logs / "bundle_0.log").mkdir()
    assert run.run(["write-a"]).failed == 1
    (failed,) = [event for event in run.events if event["event"] == "item-failed"]
    assert failed["reason"].startswith("IsADirectoryError: ")


def test_bundles_of_one_run_need_one_python(run):
    bundles = [*run.bundles(["write-a"]), *run.bundles(["write-b"], python="/other/python")]
    with pytest.raises(JobFileError, match="python, entry, preload differ within one run"):
        run_bundles(bundles, run.events.append)


def test_two_fits_after_each_other_do_not_hang(run):
    """A fit in the server itself would make every later fork hang; the items' own fits must not."""
    totals = run.run(["fit-a", "fit-b", "fit-c"], preload="node_entries:preload_lightgbm")
    assert totals.ok == 3


def test_our_share_of_an_item_is_far_below_half_a_second(run):
    run.run([f"write-{number}" for number in range(20)])
    times = [event["wall_s"] for event in run.events if event["event"] == "item-done"]
    assert len(times) == 20
    assert sorted(times)[10] < 0.25


def test_memory_and_time_of_an_item_are_measured(run):
    run.run(["write-a"])
    (done,) = [event for event in run.events if event["event"] == "item-done"]
    assert 5 * 2**20 < done["peak_rss"] < 2**31
    assert 0 < done["wall_s"] < 10


def test_signals_are_the_callers_again_after_a_run(run):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run.run(["write-a"])
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert run.scratch() == []
