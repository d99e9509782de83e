"""The event log: what a watcher can read while a run is at work, after it, and after it was killed."""

from __future__ import annotations

from benchwright.node import EventLog, read_events, state_of


def test_events_tell_the_whole_run(run):
    log = EventLog(run.logs / "events.jsonl")
    for event in record(run):
        log(event)
    events = read_events(log.path)
    assert [event["event"] for event in events] == [
        "run-started",
        "item-skipped",
        "item-started",
        "item-failed",
        "bundle-ended",
        "run-ended",
    ]
    assert events[1]["experiment"] == "write-a"
    assert events[3]["exit"] == 1
    assert {name: events[4][name] for name in ("bundle", "ok", "failed", "skipped", "left")} == {
        "bundle": 0,
        "ok": 0,
        "failed": 1,
        "skipped": 1,
        "left": 0,
    }
    state = state_of(events)
    assert (state.total, state.ok, state.failed, state.skipped, state.left, state.ended) == (2, 0, 1, 1, 0, True)


def record(run):
    run.run(["write-a"])
    run.events.clear()
    run.run(["write-a", "fail-b"])
    return run.events


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    path = tmp_path / "events.jsonl"
    EventLog(path)({"event": "run-started", "total": 3})
    with path.open("a") as file:
        file.write('{"event": "item-do')
    state = state_of(read_events(path))
    assert (state.total, state.left, state.ended) == (3, 3, False)


def test_no_log_is_no_event(tmp_path):
    assert read_events(tmp_path / "events.jsonl") == []


def test_a_full_disk_is_said_once(tmp_path, capsys):
    path = tmp_path / "events.jsonl"
    path.symlink_to("/dev/full")
    log = EventLog(path)
    log({"event": "run-started", "total": 1})
    log({"event": "run-ended"})
    assert capsys.readouterr().err == f"{path}: no events any more (No space left on device)\n"
