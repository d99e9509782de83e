"""``references/sky_progress.sh``: markers counted, failures named once, and the ends told apart."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest
from bucket_runs import LAUNCH, BucketRun

from object_servers import stopped_at_end, wait_until

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

    def start(self, *options, bundles=3, queue=None):
        paths = [str(self.client), "/usr/bin", "/bin"]
        self.process = subprocess.Popen(
            [str(SCRIPT), queue or f"{self.run.uri}/queue/{LAUNCH}", str(bundles), *options],
            env={**os.environ, **self.run.settings, "PATH": os.pathsep.join(paths)},
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self.process

    def once(self, *options, **where):
        said, talk = self.start("--once", *options, **where).communicate(timeout=60)
        return self.process.returncode, said.splitlines(), talk

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def watched(seaweed, tmp_path):
    with stopped_at_end(BucketRun(seaweed, tmp_path)) as run:
        run.publish(["write-a"], ["write-b"], ["write-c"])
        with stopped_at_end(Watched(run, tmp_path)) as watched:
            yield watched


def test_a_look_counts_markers_and_jobs_and_names_failures(watched):
    watched.jobs("RUNNING", "RUNNING", "RECOVERING")
    assert watched.once()[:2] == (
        0,
        ["100% left: 0 done, 0 failed, 3 left of 3 bundles; jobs: 1 RECOVERING, 2 RUNNING"],
    )
    watched.run.queue.mark("done", "00000", {})
    watched.run.queue.mark("failed", "00001", {"items": [FAILED]})
    code, lines, _ = watched.once()
    assert code == 2
    assert lines == [
        "FAILED (exit 1) experiment=KNN dataset=wine repeat=0 fold=1: ValueError: no luck; bundle 00001, "
        f"{watched.run.uri}/logs/{LAUNCH}/00001_0.log",
        "33% left: 1 done, 1 failed, 1 left of 3 bundles; jobs: 1 RECOVERING, 2 RUNNING",
    ]
    code, lines, _ = watched.once("--json")
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == ["item-failed", "progress"]
    assert (events[1]["left"], events[1]["jobs"][0]) == (1, {"id": 7, "status": "RUNNING"})


def test_it_ends_with_done_when_every_bundle_has_its_marker(watched):
    watched.jobs("RUNNING")
    process = watched.start("--interval", "0.2")
    assert process.stdout.readline().startswith("100% left")
    for bundle in ("00000", "00001", "00002"):
        watched.run.queue.mark("done", bundle, {})
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.splitlines()[-1] == "DONE: every bundle is done"


def test_done_with_a_failure_is_two_and_the_failure_is_named_once(watched):
    watched.jobs("RUNNING")
    watched.run.queue.mark("failed", "00001", {"items": [FAILED]})
    process = watched.start("--interval", "0.2")
    lines = [process.stdout.readline() for _ in range(4)]
    watched.run.queue.mark("done", "00000", {})
    watched.run.queue.mark("done", "00002", {})
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.splitlines()[-1] == "DONE: 1 bundles with failed items"
    assert sum("FAILED" in line for line in [*lines, *said.splitlines()]) == 1


def test_workers_gone_is_an_end_and_workers_unknown_is_none(watched):
    watched.says("echo no server >&2; exit 1")
    process = watched.start("--interval", "0.2")
    unknown = "100% left: 0 done, 0 failed, 3 left of 3 bundles; workers unknown: sky jobs queue: exit 1: no server\n"
    assert [process.stdout.readline() for _ in range(3)] == [unknown] * 3
    watched.jobs("SUCCEEDED", name="another")
    wait_until(lambda: "no job called demo-1 is listed yet" in process.stdout.readline(), 10)
    time.sleep(0.5)
    assert process.poll() is None
    watched.jobs("FAILED", "CANCELLED")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.splitlines()[-1] == (
        "WORKERS GONE: 3 bundles have not ended and no job is at work; setup again launches what is missing"
    )


def test_a_damaged_marker_is_a_failure_and_no_end_of_the_watch(watched):
    watched.jobs("RUNNING")
    watched.run.store.put(watched.run.queue.key("failed", "00001.json"), b"damaged")
    watched.run.store.put(watched.run.queue.key("done", "notes.txt"), b"someone else's")
    code, lines, _ = watched.once()
    assert (code, lines) == (
        2,
        [
            "FAILED (exit None) an unknown item: its marker cannot be read; bundle 00001, no log",
            "67% left: 0 done, 1 failed, 2 left of 3 bundles; jobs: 1 RUNNING",
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
    assert "4 bundles given, and the queue has 3" in watched.once(bundles=4)[2]
    assert watched.once(queue="s3://results/nothing")[0] == 64
    assert watched.once(queue=f"{watched.run.uri}/queue/demo-9")[0] == 64
    done = subprocess.run([str(SCRIPT), "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (64, "")


def test_without_credentials_it_says_what_is_missing(watched):
    watched.run.settings = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(watched.client)}
    code, lines, talk = watched.once()
    assert (code, lines) == (3, [])
    assert "AWS_ACCESS_KEY_ID" in talk
