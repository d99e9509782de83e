"""Workers at a queue on a real server: leases, kills, failures, and every bundle finished once."""

from __future__ import annotations

import collections
import random
import re
import signal
import time

import pytest
from bucket_runs import LAUNCH, BucketRun

from benchwright.contract import Exit, Failure
from benchwright.launch.bucket_lease import Leases
from benchwright.launch.bucket_queue import BucketQueue, bundle_name, launches
from benchwright.objects import Conflict, open_store
from object_servers import stopped_at_end, wait_until


@pytest.fixture
def run(seaweed, tmp_path):
    with stopped_at_end(BucketRun(seaweed, tmp_path)) as run:
        yield run


@pytest.fixture(params=["local", "s3"])
def queue(request, tmp_path):
    if request.param == "s3":
        seaweed = request.getfixturevalue("seaweed")
        return BucketRun(seaweed, tmp_path).queue
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
    with pytest.raises(Conflict):
        queue.publish([], {}, {})
    assert not queue.standing().drained
    assert queue.mark("done", "00000", {}) and not queue.mark("done", "00000", {"late": True})
    assert queue.mark("failed", "00001", {"items": [{"experiment": "a"}]})
    assert queue.standing().drained
    assert list(queue.failures()) == [{"bundle": "00001", "experiment": "a"}]


def test_a_closed_queue_has_drained_and_is_closed_once(queue):
    queue.publish([{"items": []}], {}, {})
    assert not queue.closed
    queue.close("given up")
    queue.close("again")
    assert queue.closed and queue.standing().drained


def test_a_lease_has_one_holder_until_it_falls_silent(queue):
    one, other = Leases(queue, "one", 0.5), Leases(queue, "other", 0.5)
    lease = one.take("00000")
    assert lease is not None and lease.holds
    assert other.take("00000") is None
    time.sleep(0.3)
    lease.renew()
    assert other.take("00000") is None and other.alive == {"00000"}
    time.sleep(0.6)
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


def test_a_bundle_is_run_and_marked_with_results_and_logs(run):
    run.publish(["write-a", "fail-b", "write-c"], ["write-d"])
    assert run.start().wait(60) == 0, run.output()
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
    marker = run.read("items", "00000_0")
    assert run.store.head(key_of("write-a", 0, 0)).sha256 == marker["sha256"]
    before = len(run.journal())
    assert run.start().wait(60) == 0
    assert len(run.journal()) == before, "a second worker ran something again"


def test_three_failures_in_a_row_name_the_items_that_were_not_run(run):
    run.publish(["fail-a", "fail-b", "fail-c", "write-d"])
    assert run.start().wait(60) == 0, run.output()
    reasons = [(item["experiment"], item["reason"]) for item in run.read("failed", "00000")["items"]]
    assert reasons[3] == ("write-d", "not run, after three failures in a row")
    assert len(reasons) == 4 and run.results() == set()


def test_a_terminated_worker_gives_its_bundle_back_at_once(run):
    run.publish(["write-a", "hang-b"], lease_seconds=600)
    worker = run.start("one")
    wait_until(lambda: any(line.startswith("pids") for line in run.journal()), 30)
    worker.terminate()
    assert worker.wait(40) == 128 + signal.SIGTERM, run.output()
    assert run.read("leases", "00000")["state"] == "free"
    (run.folder / "journal").unlink()
    other = run.start("other")
    wait_until(lambda: any(line.startswith("pids") for line in run.journal()), 30)
    other.kill()
    assert "run hang-b fold 1" in run.journal() and "run write-a fold 0" not in run.journal()


def test_a_worker_that_cannot_fit_leaves_and_gives_its_bundle_back(run):
    run.publish(["write-a"], preload="node_entries:broken_preload")
    assert run.start().wait(60) == Exit.ENVIRONMENT
    assert "a_library_that_is_missing" in run.output()
    assert run.read("leases", "00000")["state"] == "free"
    assert not run.queue.has_ended("00000")


def test_what_an_earlier_launch_left_is_replaced_and_a_closed_queue_left_alone(run):
    run.publish(["write-a"])
    run.store.put(key_of("write-a", 0, 0), b"damaged")
    run.queue.close("for now")
    assert run.start().wait(60) == 0
    assert run.journal() == [] and "the queue is closed" in run.output()
    run.store.delete(f"queue/{LAUNCH}/closed.json")
    assert run.start().wait(60) == 0, run.output()
    assert run.store.head(key_of("write-a", 0, 0)).sha256 == run.read("items", "00000_0")["sha256"]
    assert run.store.head(key_of("write-a", 0, 0)).size > len(b"damaged")


def test_a_stopped_worker_that_comes_back_writes_over_nothing(run):
    run.publish([f"slow-{letter}" for letter in "abcdefghijklmnopqrst"], lease_seconds=2)
    stopped = run.start("stopped")
    wait_until(lambda: "run slow-b fold 1" in run.journal(), 30)
    stopped.send_signal(signal.SIGSTOP)
    assert run.start("other").wait(60) == 0, run.output()
    assert run.queue.standing().done == {"00000"}, run.output()
    before = {info.key: info.etag for info in run.store.list("")}
    stopped.send_signal(signal.SIGCONT)
    assert stopped.wait(60) == 0, run.output()
    assert "bundle 00000: the lease is lost, another worker has it" in run.output()
    after = {info.key: info.etag for info in run.store.list("")}
    same = [key for key in before if not key.startswith("logs/")]
    assert {key: after[key] for key in same} == {key: before[key] for key in same}


def test_a_bundle_that_ends_every_worker_is_given_up(run):
    run.publish(["write-a"], lease_seconds=60)
    content = b'{"state": "free", "losses": 5}'
    run.store.put(run.queue.key("leases", "00000.json"), content)
    assert run.start().wait(60) == 0, run.output()
    (item,) = run.read("failed", "00000")["items"]
    assert item["reason"] == "5 workers were lost on this bundle in a row"
    assert run.journal() == []


def test_workers_killed_at_random_finish_every_bundle_once(run):
    """Three workers, one of them killed every now and then and started again, as a managed job is."""
    bundles = [[f"slow-{number}{letter}" for letter in "abc"] for number in range(10)]
    run.publish(*bundles, lease_seconds=2)
    chance, kills = random.Random(7), 0
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
        worker.wait(30)
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
