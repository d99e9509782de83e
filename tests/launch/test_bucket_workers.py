"""Workers at a queue on a real server: leases, kills, failures, and every bundle finished once."""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import random
import re
import signal
import socket
import time

import pytest
from bucket_runs import LAUNCH, BucketRun

from benchwright.contract import Exit, Failure
from benchwright.launch import bucket_lease, bucket_worker
from benchwright.launch.bucket_lease import Leases
from benchwright.launch.bucket_queue import BucketQueue, bundle_name, launches
from benchwright.launch.mirror import mirror_logs
from benchwright.launch.triage_report import triage_run
from benchwright.node import read_events, remove_abandoned
from benchwright.objects import open_store
from object_servers import answer_lost, drop_connection, refuse, stopped_at_end
from waiting import PATIENCE, wait_until


@pytest.fixture
def run(seaweed, tmp_path):
    with stopped_at_end(BucketRun(seaweed, tmp_path)) as run:
        yield run


@pytest.fixture(params=["local", "gs", "s3"])
def queue(request, tmp_path):
    if request.param == "s3":
        return BucketRun(request.getfixturevalue("seaweed"), tmp_path).queue
    if request.param == "gs":
        return BucketRun(request.getfixturevalue("google"), tmp_path, "gs").queue
    return BucketQueue(open_store(f"local:{tmp_path / 'store'}"), LAUNCH)


def key_of(name, repeat, fold):
    return f"output/data/{name}/my_data-1/{repeat}_{fold}/results.pkl"


def test_a_queue_is_one_when_its_launch_is_written(queue):
    assert launches(queue.store) == []
    with pytest.raises(Failure) as caught:
        queue.facts()
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.USAGE, "no-launch")
    queue.publish([{"items": []}, {"items": []}], {}, {})
    assert launches(queue.store) == [LAUNCH]
    assert queue.bundles_of(queue.facts()) == ["00000", "00001"]
    with pytest.raises(Failure) as caught:
        queue.publish([], {}, {})
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REFUSED, "launch-taken")
    assert not queue.standing().drained
    assert queue.mark("done", "00000", {}) and not queue.mark("done", "00000", {"late": True})
    assert queue.mark("failed", "00001", {"items": [{"experiment": "a"}]})
    assert queue.standing().drained
    assert queue.failures("00001") == [{"bundle": "00001", "experiment": "a"}]


def test_what_a_worker_leaves_that_is_killed_while_it_reads_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    queue = BucketQueue(open_store(f"local:{tmp_path / 'store'}"), LAUNCH)
    queue.publish([], {}, {})
    killed = os.fork()
    if not killed:
        queue.store.get = lambda key, path: os.kill(os.getpid(), signal.SIGKILL)
        queue.facts()
    os.waitpid(killed, 0)
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    remove_abandoned()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_closed_queue_has_drained_and_is_closed_once(queue):
    queue.publish([{"items": []}], {}, {})
    assert not queue.closed
    queue.close("given up")
    queue.close("again")
    assert queue.closed and queue.standing().drained


@pytest.fixture
def pass_time(monkeypatch):
    """Lets seconds pass on the clock that leases go by; a store takes none of them."""
    now = [1000.0]
    monkeypatch.setattr(bucket_lease, "_now", lambda: now[0])

    def later(seconds):
        now[0] += seconds

    return later


def test_a_lease_has_one_holder_until_it_falls_silent(queue, pass_time):
    one, other = Leases(queue, "one", 0.5), Leases(queue, "other", 0.5)
    lease = one.take("00000")
    assert lease is not None and lease.holds
    assert other.take("00000") is None
    pass_time(0.3)
    lease.renew()
    assert other.take("00000") is None and other.alive == {"00000"}
    pass_time(0.6)
    assert not lease.holds
    taken = other.take("00000")
    assert taken is not None and taken.losses == 1 and taken.holds
    lease.renew()
    assert lease.lost
    lease.release()  # it is the other's by now, and stays so
    assert Leases(queue, "third", 0.5).take("00000") is None
    taken.release()
    again = Leases(queue, "third", 0.5).take("00000")
    assert again is not None and again.losses == 1


def test_a_holder_that_nobody_relieved_has_its_lease_back(queue, pass_time):
    """As after a store that was away for longer than a lease lasts."""
    lease = Leases(queue, "one", 0.2).take("00000")
    pass_time(0.3)
    assert not lease.holds
    assert lease.secure() and lease.holds
    other = Leases(queue, "other", 0.2)
    assert other.take("00000") is None
    pass_time(0.3)
    assert other.take("00000") is not None
    assert not lease.secure() and lease.lost


def test_a_damaged_lease_is_one_until_it_has_stood_for_a_lease_time(queue, pass_time):
    for content in (b"not JSON", b"[]", b'{"state": "held", "losses": "many"}', b"\xff\x00"):
        queue.store.put(queue.key("leases", "00000.json"), content)
        leases = Leases(queue, "one", 0.2)
        assert leases.take("00000") is None
        pass_time(0.3)
        lease = leases.take("00000")
        assert lease is not None and lease.losses == 1


def test_what_others_put_into_a_queues_folders_counts_for_nothing(queue):
    queue.publish([{"items": []}, {"items": []}], {}, {})
    strangers = ("00000", "00000.json.bak", "0.json", "00002.json", "x/00000.json", "README.json", ".json")
    for folder in ("done", "failed", "items", "leases"):
        for name in strangers:
            queue.store.put(queue.key(folder, name), b"{}")
    standing = queue.standing()
    assert (standing.done, standing.failed, standing.drained) == (frozenset(), frozenset(), False)
    queue.store.put("launches/README", b"")
    queue.store.put("launches/No Launch.json", b"")
    assert launches(queue.store) == [LAUNCH]


def test_a_damaged_marker_of_a_failure_is_told(queue):
    queue.publish([{"items": []}] * 3, {}, {})
    queue.store.put(queue.key("failed", "00000.json"), b"\xffnot JSON")
    queue.store.put(queue.key("failed", "00001.json"), b'{"items": 3}')
    found = [queue.failures(bundle)[0]["reason"] for bundle in ("00000", "00001")]
    assert found == ["its marker cannot be read", "its marker names no item"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'{"bundles": -1, "lease_seconds": 9}', b'{"bundles": 1e99, "lease_seconds": 9}',
     b'{"bundles": 2, "lease_seconds": Infinity}', b'{"bundles": 99999999999, "lease_seconds": 1}'],
)  # fmt: skip
def test_a_damaged_launch_is_said_and_can_be_closed(tmp_path, content, capfd):
    queue = BucketQueue(open_store(f"local:{tmp_path / 'store'}"), LAUNCH)
    queue.publish([{"items": []}], {}, {})
    queue.store.put(f"queue/{LAUNCH}/launch.json", content)
    with pytest.raises(Failure) as caught:
        queue.facts()
    assert caught.value.exit == Exit.NO
    assert bucket_worker.main([queue.store.url, LAUNCH]) == Exit.NO
    assert bucket_worker.main([queue.store.url, LAUNCH, "--close"]) == 0
    assert queue.closed
    assert bucket_worker.main([queue.store.url, "demo-9", "--close"]) == Exit.USAGE


def test_a_bundle_is_run_and_marked_with_results_and_logs(run):
    run.publish(["write-a", "fail-b", "write-c"], ["write-d"])
    assert run.start().wait(PATIENCE) == 0, run.output()
    assert run.results() == {key_of("write-a", 0, 0), key_of("write-c", 0, 2), key_of("write-d", 1, 0)}
    assert run.queue.standing().failed == {"00000"} and run.queue.standing().done == {"00001"}
    failed = run.read("failed", "00000")
    assert failed["ok"] == 2
    assert failed["items"] == [
        {
            "experiment": "fail-b",
            "dataset": "my data",
            "repeat": 0,
            "fold": 1,
            "exit": 1,
            "reason": "ValueError: no luck with fold 1",
            "log": f"logs/{LAUNCH}/00000_1.log",
        }
    ]
    log = run.folder / "log"
    run.store.get(f"logs/{LAUNCH}/00000_1.log", log)
    assert "ValueError: no luck with fold 1" in log.read_text() and "write-a" not in log.read_text()
    run.store.get(f"logs/{LAUNCH}/00000.log", log)
    assert log.read_text().splitlines()[-1] == "##### bundle summary: ok=2 failed=1"
    assert run.store.head(f"logs/{LAUNCH}/00001.log") is None, "nothing of that bundle failed"
    run.store.get(f"logs/{LAUNCH}/00000.events.jsonl", log)
    assert [event["event"] for event in read_events(log) if event["event"].startswith("item")] == [
        "item-started", "item-done", "item-started", "item-failed", "item-started", "item-done",
    ]  # fmt: skip
    for info in run.store.list():
        run.store.get(info.key, log)
        assert socket.gethostname() not in log.read_text("latin-1") and str(run.folder) not in log.read_text("latin-1")
    marker = run.read("items", "00000_0")
    assert run.store.head(key_of("write-a", 0, 0)).sha256 == marker["sha256"]
    for _ in range(2):  # what is here stays
        mirror_logs(run.store, run.folder / "logs")
    logs = run.folder / "logs" / LAUNCH
    assert sorted(path.name for path in logs.iterdir()) == [
        "bundle_00000.log", "events-00000.jsonl", "events-00001.jsonl",
    ]  # fmt: skip
    (group,) = triage_run(logs, scripts=run.folder).groups
    assert group.cause == "ValueError: no luck with fold 1"
    before = len(run.journal())
    assert run.start().wait(PATIENCE) == 0
    assert len(run.journal()) == before, "a second worker ran something again"


def test_three_failures_in_a_row_name_the_items_that_were_not_run(run):
    run.publish(["fail-a", "fail-b", "fail-c", "write-d"])
    assert run.start().wait(PATIENCE) == 0, run.output()
    reasons = [(item["experiment"], item["reason"]) for item in run.read("failed", "00000")["items"]]
    assert reasons[3] == ("write-d", "not run, after three failures in a row")
    assert len(reasons) == 4 and run.results() == set()


def test_a_terminated_worker_gives_its_bundle_back_at_once(run):
    run.publish(["write-a", "hang-b"], lease_seconds=600)
    worker = run.start("one")
    wait_until(lambda: any(line.startswith("pids") for line in run.journal()))
    worker.terminate()
    assert worker.wait(PATIENCE) == 128 + signal.SIGTERM, run.output()
    assert run.read("leases", "00000")["state"] == "free"
    (run.folder / "journal").unlink()
    other = run.start("other")
    wait_until(lambda: any(line.startswith("pids") for line in run.journal()))
    other.kill()
    assert "run hang-b fold 1" in run.journal() and "run write-a fold 0" not in run.journal()


def test_a_damaged_task_file_costs_its_bundle_and_no_worker(run):
    run.publish(["write-a"], ["write-b"], ["write-c"])
    run.store.put(run.queue.key("tasks", "00000.json"), b"not JSON")
    run.store.put(run.queue.key("tasks", "00001.json"), b'{"defaults": {}, "items": [{"experiment": "../up"}]}')
    assert run.start().wait(PATIENCE) == 0, run.output()
    assert run.queue.standing().done == {"00002"}
    reasons = [run.read("failed", bundle)["reason"] for bundle in ("00000", "00001")]
    assert reasons[0].startswith("its task file or batch is damaged: s3://")
    assert reasons[1].startswith("its task file is no job file: ")
    assert run.queue.failures("00000")[0]["reason"] == reasons[0]


def test_a_worker_that_cannot_fit_leaves_and_gives_its_bundle_back(run):
    run.publish(["write-a"], preload="node_entries:broken_preload")
    assert run.start().wait(PATIENCE) == Exit.ENVIRONMENT
    assert "a_library_that_is_missing" in run.output()
    assert run.read("leases", "00000")["state"] == "free"
    assert not run.queue.has_ended("00000")


def test_a_worker_fetches_weights_first_and_takes_nothing_where_it_cannot(run):
    run.publish(["write-a"], weights=["TabPFN-v2.6"])
    assert run.start().wait(PATIENCE) == Exit.ENVIRONMENT
    assert "##### no item can run: model TabPFN-v2.6: " in run.output()
    assert run.store.head(run.queue.key("leases", "00000.json")) is None and run.journal() == []


def test_what_an_earlier_launch_left_is_replaced_and_a_closed_queue_left_alone(run):
    run.publish(["write-a"])
    run.store.put(key_of("write-a", 0, 0), b"damaged")
    run.queue.close("for now")
    assert run.start().wait(PATIENCE) == 0
    assert run.journal() == [] and "the queue is closed" in run.output()
    run.store.delete(f"queue/{LAUNCH}/closed.json")
    assert run.start().wait(PATIENCE) == 0, run.output()
    assert run.store.head(key_of("write-a", 0, 0)).sha256 == run.read("items", "00000_0")["sha256"]
    assert run.store.head(key_of("write-a", 0, 0)).size > len(b"damaged")


def test_a_stopped_worker_that_comes_back_writes_over_nothing(run):
    run.publish([f"slow-{letter}" for letter in "abcdefghijklmnopqrst"], lease_seconds=2)
    stopped = run.start("stopped")
    wait_until(lambda: "run slow-b fold 1" in run.journal())
    stopped.send_signal(signal.SIGSTOP)
    assert run.start("other").wait(PATIENCE) == 0, run.output()
    assert run.queue.standing().done == {"00000"}, run.output()
    before = {info.key: info.etag for info in run.store.list("")}
    stopped.send_signal(signal.SIGCONT)
    assert stopped.wait(PATIENCE) == 0, run.output()
    assert "bundle 00000: the lease is lost, another worker has it" in run.output()
    after = {info.key: info.etag for info in run.store.list("")}
    same = [key for key in before if not key.startswith("logs/")]
    assert {key: after[key] for key in same} == {key: before[key] for key in same}


def test_a_bundle_that_ends_every_worker_is_given_up(run):
    run.publish(["write-a"], lease_seconds=60)
    content = b'{"state": "free", "losses": 5}'
    run.store.put(run.queue.key("leases", "00000.json"), content)
    assert run.start().wait(PATIENCE) == 0, run.output()
    (item,) = run.read("failed", "00000")["items"]
    assert item["reason"] == "5 workers were lost on this bundle in a row"
    assert run.journal() == []


def test_workers_killed_at_random_finish_every_bundle_once(run):
    """Three workers, one of them killed every now and then and started again, as a managed job is."""
    kill_at_random(run, random.Random(7))


def kill_at_random(run, chance):
    bundles = [[f"slow-{number}{letter}" for letter in "abc"] for number in range(10)]
    run.publish(*bundles, lease_seconds=2)
    kills = 0
    names = ["one", "two", "three"]
    workers = {name: run.start(name) for name in names}
    deadline = time.monotonic() + 120
    while not run.queue.standing().drained:
        assert time.monotonic() < deadline, run.output()
        time.sleep(chance.uniform(0.2, 1.2))
        name = chance.choice(names)
        if kills < 6 and workers[name].poll() is None and run.journal():
            workers[name].kill()
            workers[name].wait()
            kills += 1
        for name in names:
            if workers[name].poll() is not None and not run.queue.standing().drained:
                workers[name] = run.start(name)
    for worker in workers.values():
        worker.wait(PATIENCE)
    assert kills >= 3
    names = {bundle_name(number) for number in range(len(bundles))}
    standing = run.queue.standing()
    assert (standing.done, standing.failed) == (names, frozenset())
    assert run.results() == {
        key_of(name, repeat, fold) for repeat, bundle in enumerate(bundles) for fold, name in enumerate(bundle)
    }
    for number, bundle in enumerate(bundles):
        for fold, name in enumerate(bundle):
            marker = run.read("items", f"{bundle_name(number)}_{fold}")
            assert run.store.head(key_of(name, number, fold)).sha256 == marker["sha256"]
    summaries = collections.Counter(re.findall(r"##### bundle (\d+) summary", run.output()))
    assert set(summaries.values()) <= {1}


KILLS = (3, 4, 6, 8, 9)
"""Before the result, its marker, the events, the bundle's marker, the lease's return."""


def test_a_worker_killed_before_any_of_its_writes_leaves_what_the_next_one_finishes(seaweed, tmp_path):
    with contextlib.ExitStack() as stack:
        runs = {}
        for number in (*KILLS, 10):
            (folder := tmp_path / str(number)).mkdir()
            run = runs[number] = stack.enter_context(stopped_at_end(BucketRun(seaweed, folder)))
            run.publish(["write-a", "fail-b"], lease_seconds=2)
            run.start("dying", module="dying_worker", TEST_DIES_AT=str(number))
        assert {number: run.workers[0].wait(PATIENCE) for number, run in runs.items()} == {
            **dict.fromkeys(KILLS, -signal.SIGKILL), 10: 0,
        }, "it has nine writes"  # fmt: skip
        for number in KILLS:
            runs[number].start("next")
        for number, run in runs.items():
            assert run.workers[-1].wait(PATIENCE) == 0, run.output()
            assert run.queue.standing().failed == {"00000"}
            assert [item["experiment"] for item in run.read("failed", "00000")["items"]] == ["fail-b"]
            assert run.results() == {key_of("write-a", 0, 0)}
            assert run.store.head(key_of("write-a", 0, 0)).sha256 == run.read("items", "00000_0")["sha256"]
            fitted = run.journal().count("run write-a fold 0")
            assert fitted == (2 if number in (2, 3, 4) else 1), "only what has no marker is fitted again"


def test_a_server_that_is_away_for_longer_than_a_lease_costs_no_item(seaweed, tmp_path):
    with stopped_at_end(BucketRun(seaweed, tmp_path)) as run:
        run.publish([f"slow-{letter}" for letter in "abcdefghijkl"], lease_seconds=1)
        worker = run.start()
        wait_until(lambda: "run slow-c fold 2" in run.journal())
        seaweed.kill()
        time.sleep(1.5)
        seaweed.start()
        assert worker.wait(PATIENCE) == 0, run.output()
        assert run.queue.standing().done == {"00000"} and len(run.results()) == 12
        assert len([line for line in run.journal() if line.startswith("run")]) == 12, "an item was fitted twice"


@pytest.mark.slow
def test_a_network_that_fails_at_every_fifth_request_loses_and_doubles_nothing(moto, tmp_path):
    """In turn the request never arrives, its answer never does, and the server is too busy."""
    counts = itertools.count(1)

    def fault(environ, start):
        number = next(counts)
        if number % 5:
            return None
        if number % 3 == 0:
            return refuse(environ, start, "503 Slow Down", "SlowDown")
        return (answer_lost(moto) if number % 2 else drop)(environ, start)

    def drop(environ, _start):
        drop_connection(environ)

    with stopped_at_end(BucketRun(moto, tmp_path)) as run:
        run.publish(["write-a"], ["write-b"])
        moto.fault = fault
        workers = [run.start("one"), run.start("two")]
        assert [worker.wait(PATIENCE) for worker in workers] == [0, 0], run.output()
        moto.fault = None
        assert run.queue.standing().done == {"00000", "00001"}
        fitted = sorted(line for line in run.journal() if line.startswith("run"))
        assert fitted == ["run write-a fold 0", "run write-b fold 0"]
        for number, name in enumerate(("write-a", "write-b")):
            marker = run.read("items", f"{bundle_name(number)}_0")
            assert run.store.head(key_of(name, number, 0)).sha256 == marker["sha256"]
