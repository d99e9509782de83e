"""A queue with trivial bundles, and workers at it as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

from benchwright.launch.bucket_queue import BucketQueue
from benchwright.objects import open_store
from object_servers import settings

TESTS = Path(__file__).resolve().parents[1]
LAUNCH = "demo-1"


class BucketRun:
    """A run's address on a real server, with one launch's queue."""

    def __init__(self, server, folder, kind="s3"):
        self.folder = folder
        self.settings = {"STORAGE_EMULATOR_HOST": server.url}
        if kind == "s3":
            self.settings = settings(server.url, AWS_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true")
        self.uri = f"{kind}://results/{uuid.uuid4()}/demo"
        self.store = open_store(self.uri, settings=self.settings)
        self.queue = BucketQueue(self.store, LAUNCH)
        self.workers = []

    def publish(self, *bundles, lease_seconds=60, weights=(), **defaults):
        """Bundles are lists of experiment names, whose fold is their place in it and whose repeat the bundle's."""
        shared = {"entry": "node_entries:run", "preload": "node_entries:preload", "ignore_cache": False, **defaults}
        tasks = [
            {
                "defaults": shared,
                "items": [
                    {"experiment": name, "dataset": "my data", "repeat": number, "fold": fold, "task_key": "my_data-1"}
                    for fold, name in enumerate(bundle)
                ],
            }
            for number, bundle in enumerate(bundles)
        ]
        self.queue.publish(tasks, {}, {"lease_seconds": lease_seconds, "weights": list(weights)})

    def start(self, name="worker", module="benchwright.launch.bucket_worker", **environment):
        path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS / "node"), str(TESTS / "launch")])
        log = (self.folder / f"{name}.{len(self.workers)}.out").open("w")
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                module,
                self.uri,
                LAUNCH,
                "--folder",
                self.folder / name,
            ],
            env={
                **os.environ,
                **self.settings,
                "PYTHONPATH": path,
                "TEST_JOURNAL": str(self.folder / "journal"),
                **environment,
            },
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.workers.append(worker)
        return worker

    def output(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.out")))

    def journal(self):
        path = self.folder / "journal"
        return path.read_text().splitlines() if path.exists() else []

    def results(self):
        return {info.key for info in self.store.list("output/data/")}

    def read(self, folder, name):
        return self.queue.read(self.queue.key(folder, f"{name}.json"))[1]

    def stop(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()
