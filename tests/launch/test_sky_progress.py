"""``references/sky_progress.sh``: markers counted, failures named once, and the ends told apart."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from bucket_runs import LAUNCH, BucketRun

from benchwright.launch.bucket_lease import Heartbeat, Leases
from benchwright.launch.bucket_queue import Standing
from benchwright.launch.sky_jobs import SkyJob
from benchwright.launch.sky_view import Quiet, View
from benchwright.node.array_memory import read_memory, write_memory
from object_servers import stopped_at_end
from waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".agents" / "skills" / "benchmark-model" / "references" / "sky_progress.sh"
FAILED = {
    "experiment": "KNN", "dataset": "wine", "repeat": 0, "fold": 1, "exit": 1, "reason": "ValueError: no luck",
    "log": f"logs/{LAUNCH}/00001_0.log",
}  # fmt: skip


class Watched:
    def __init__(self, run, folder):
        self.run, self.client = run, folder / "client"
        self.client.mkdir()
        self.process = None

    def jobs(self, *statuses, name=LAUNCH):
        """What the sky client on PATH lists: the real one needs a server that probes outside addresses."""
        records = [{"job_id": 7 + number, "job_name": name, "status": one} for number, one in enumerate(statuses)]
        self.says(f"cat <<'EOF'\n{json.dumps(records)}\nEOF")

    def says(self, command):
        new = self.client / "new"
        new.write_text(f"#!/bin/sh\n{command}\n")
        new.chmod(stat.S_IRWXU)
        new.replace(self.client / "sky")

    def take(self, bundle):
        return Leases(self.run.queue, "a-worker", self.run.queue.standing().lease_seconds).take(bundle)

    def start(self, *options, bundles=3, queue=None):
        paths = [str(self.client), "/usr/bin", "/bin"]
        self.process = subprocess.Popen(
            [str(SCRIPT), queue or f"{self.run.uri}/queue/{LAUNCH}", str(bundles), *options],
            env={**os.environ, **self.run.settings, "PATH": os.pathsep.join(paths)},
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self.process

    def once(self, *options, **where):
        said, talk = self.start("--once", *options, **where).communicate(timeout=PATIENCE)
        return self.process.returncode, said.splitlines(), talk

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def watched(request, seaweed, tmp_path):
    with stopped_at_end(BucketRun(seaweed, tmp_path)) as run:
        run.publish(["write-a"], ["write-b"], ["write-c"], lease_seconds=getattr(request, "param", 60))
        with stopped_at_end(Watched(run, tmp_path)) as watched:
            yield watched


def test_a_look_counts_markers_and_jobs_and_names_failures(watched):
    watched.jobs("RUNNING", "RUNNING", "RECOVERING")
    assert watched.once()[:2] == (
        0,
        ["100% left: 0 done, 0 failed, 3 left of 3 bundles; jobs: 1 RECOVERING, 2 RUNNING; no bundle was taken yet"],
    )
    watched.take("00000")
    watched.run.queue.mark("done", "00000", {})
    watched.run.queue.mark("failed", "00001", {"items": [FAILED]})
    code, lines, _ = watched.once()
    assert code == 2
    assert lines == [
        "FAILED (exit 1) experiment=KNN dataset=wine repeat=0 fold=1: ValueError: no luck; bundle 00001, "
        f"{watched.run.uri}/logs/{LAUNCH}/00001_0.log",
        "34% left: 1 done, 1 failed, 1 left of 3 bundles; jobs: 1 RECOVERING, 2 RUNNING",
    ]
    code, lines, _ = watched.once("--json")
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == ["item-failed", "progress"]
    assert (events[1]["left"], events[1]["jobs"][0]) == (1, {"id": 7, "status": "RUNNING"})


def test_what_is_left_is_rounded_up():
    done = frozenset(f"{number:05}" for number in range(299))
    standing = Standing(LAUNCH, 300, done, frozenset(), closed=False, lease_seconds=60)
    view = View(standing, [SkyJob(7, "RUNNING")], begun=True, quiet=Quiet(0, 0, 0))
    assert view.line == "1% left: 299 done, 0 failed, 1 left of 300 bundles; jobs: 1 RUNNING"


def test_it_ends_with_done_when_every_bundle_has_its_marker(watched):
    watched.jobs("RUNNING")
    process = watched.start("--interval", "0.2")
    assert process.stdout.readline().startswith("100% left")
    for bundle in ("00000", "00001", "00002"):
        watched.run.queue.mark("done", bundle, {})
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said.splitlines()[-1] == "DONE: every bundle is done"


def test_done_with_a_failure_is_two_and_the_failure_is_named_once(watched):
    watched.jobs("RUNNING")
    watched.run.queue.mark("failed", "00001", {"items": [FAILED]})
    process = watched.start("--interval", "0.2")
    lines = [process.stdout.readline() for _ in range(4)]
    watched.run.queue.mark("done", "00000", {})
    watched.run.queue.mark("done", "00002", {})
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert said.splitlines()[-1] == "DONE: 1 bundles with failed items"
    assert sum("FAILED" in line for line in [*lines, *said.splitlines()]) == 1


def test_workers_gone_is_an_end_and_workers_unknown_is_none(watched):
    watched.says("echo no server >&2; exit 1")
    process = watched.start("--interval", "0.2")
    why = "workers unknown: sky jobs queue: exit 1: no server; no bundle was taken yet\n"
    unknown = f"100% left: 0 done, 0 failed, 3 left of 3 bundles; {why}"
    assert [process.stdout.readline() for _ in range(3)] == [unknown] * 3
    watched.jobs("SUCCEEDED", name="another")
    wait_until(lambda: "no job called demo-1 is listed yet" in process.stdout.readline())
    time.sleep(0.5)
    assert process.poll() is None
    watched.jobs("FAILED", "CANCELLED")
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert said.splitlines()[-1] == (
        "WORKERS GONE: 3 bundles have not ended and no job is at work; setup again launches what is missing"
    )


@pytest.mark.parametrize("watched", [2], indirect=True, ids=["lease"])
def test_workers_that_renew_no_lease_are_silent_and_in_the_end_given_up(watched):
    """No client of SkyPilot is here: the leases alone tell that the only worker has died."""
    (watched.client / "sky").unlink(missing_ok=True)
    head = "100% left: 0 done, 0 failed, 3 left of 3 bundles; workers unknown: no sky client on PATH"
    with Heartbeat(watched.take("00001")):
        process = watched.start("--interval", "0.3", "--patience", "5")
        alive = [process.stdout.readline() for _ in range(8)]
    assert alive == [f"{head}\n"] * 8
    lines = process.communicate(timeout=PATIENCE)[0].splitlines()
    assert process.returncode == 2
    stalled = next(line for line in lines if line != head)
    look = "look at sky jobs queue, where it answers"
    note = rf"STALLED: no lease was renewed for [\d.]+ s; {look}; waiting until \d\d:\d\d"
    assert re.fullmatch(f"{head}; {note}", stalled)
    unknown = "workers unknown: no sky client on PATH"
    assert re.fullmatch(
        rf"SILENT: 3 bundles have not ended, and for [\d.]+ s no lease was renewed; {unknown}; {look}", lines[-1]
    )


@pytest.mark.parametrize("watched", [0.5], indirect=True, ids=["lease"])
def test_a_silent_launch_is_waited_for_as_long_as_a_job_is_at_work(watched):
    watched.jobs("RECOVERING", "RUNNING")
    watched.take("00001").release()
    process = watched.start("--interval", "0.3", "--patience", "0.7", "--json")
    events = [json.loads(process.stdout.readline()) for _ in range(6)]
    assert [event["notes"] for event in events[:1]] == [[]]
    assert re.fullmatch(r"STALLED: no lease was renewed for [\d.]+ s; look at sky jobs logs 8", events[-1]["notes"][0])
    assert {event["event"] for event in events} == {"progress"} and len(events[-1]["notes"]) == 1
    watched.jobs()
    *_, progress, verdict = [json.loads(line) for line in process.communicate(timeout=PATIENCE)[0].splitlines()]
    assert (process.returncode, verdict["verdict"], progress["jobs"]) == (2, "SILENT", [])
    assert "; no job called demo-1 is listed yet; look at sky jobs queue" in verdict["found"]


def test_a_watcher_that_starts_again_repeats_no_failure_and_remembers_the_silence(watched, tmp_path):
    watched.jobs("RUNNING")
    watched.take("00001")
    watched.run.queue.mark("failed", "00001", {"items": [FAILED]})
    logs = tmp_path / "slurm_out" / "demo" / LAUNCH
    first, second = (watched.once("--log-dir", str(logs)) for _ in range(2))
    assert [line.split()[0] for line in first[1]] == ["FAILED", "67%"]
    assert (second[0], [line.split()[0] for line in second[1]]) == (2, ["67%"])
    (kept,) = logs.iterdir()
    memory = read_memory(kept)
    assert (kept.name, memory.told) == (f".sky_progress_{LAUNCH}.json", {1: ""})
    write_memory(kept, replace(memory, moved_at=memory.moved_at - 600))
    (line,) = watched.once("--log-dir", str(logs))[1]
    assert line.endswith("; STALLED: no lease was renewed for 10 min; look at sky jobs logs 7")
    watched.take("00000")
    assert "STALLED" not in watched.once("--log-dir", str(logs))[1][0]
    watched.run.queue.mark("failed", "00002", {"items": [FAILED]})
    assert [line.split()[0] for line in watched.once("--log-dir", str(logs))[1]] == ["FAILED", "34%"]


def test_a_log_folder_that_cannot_be_written_costs_the_memory_alone(watched, tmp_path):
    watched.jobs("RUNNING")
    (tmp_path / "a file").touch()
    code, lines, talk = watched.once("--log-dir", str(tmp_path / "a file"))
    assert (code, len(lines)) == (0, 1)
    assert talk == f"{tmp_path}/a file: File exists: after a restart the failures are named again\n"


def test_a_damaged_marker_is_a_failure_and_no_end_of_the_watch(watched):
    watched.jobs("RUNNING")
    watched.run.store.put(watched.run.queue.key("failed", "00001.json"), b"damaged")
    watched.run.store.put(watched.run.queue.key("done", "notes.txt"), b"someone else's")
    code, lines, _ = watched.once()
    assert (code, lines) == (
        2,
        [
            "FAILED (exit None) an unknown item: its marker cannot be read; bundle 00001, no log",
            "67% left: 0 done, 1 failed, 2 left of 3 bundles; jobs: 1 RUNNING; no bundle was taken yet",
        ],
    )


def test_a_closed_queue_is_an_end(watched):
    watched.jobs("RUNNING")
    watched.run.queue.close("given up")
    code, lines, _ = watched.once()
    assert (code, lines[-1]) == (2, "CLOSED: the queue was closed with 3 bundles left")


def test_wrong_usage_is_64_and_no_answer_no_end(watched):
    watched.jobs("RUNNING")
    assert watched.once(bundles=4)[0] == 64
    assert watched.once(bundles=4)[2] == (
        "n_bundles: 4 given, and the queue has 3\n"
        "    fix: take the queue and the number from one line of setup's commands\n"
    )
    assert watched.once(queue="s3://results/nothing")[0] == 64
    assert watched.once(queue=f"{watched.run.uri}/queue/demo-9")[0] == 64
    done = subprocess.run([str(SCRIPT), "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (64, "")


def test_without_credentials_it_says_what_is_missing(watched):
    watched.run.settings = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(watched.client)}
    code, lines, talk = watched.once()
    assert (code, lines) == (3, [])
    assert "AWS_ACCESS_KEY_ID" in talk
