"""A run on trivial entries: job files to write, and what is left to look at afterwards."""

from __future__ import annotations

import json
import subprocess
import sys

from benchwright.node import Bundle, read_job_file, run_bundles
from waiting import wait_until

RUN_BUNDLE = [sys.executable, "-m", "benchwright.node.run_bundle"]


class Run:
    """A run in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.output = folder / "output"
        self.logs = folder / "logs"
        self.journal = folder / "journal"
        self.events = []

    def job_file(self, *bundles, **defaults):
        """A job file; a bundle is a list of experiment names, whose fold is their place in it."""
        content = {
            "defaults": {
                "python": sys.executable,
                "output_dir": str(self.output),
                "entry": "node_entries:run",
                "preload": "node_entries:preload",
                "ignore_cache": False,
                **defaults,
            },
            "jobs": [
                {
                    "items": [
                        {"experiment": name, "dataset": "my data", "repeat": 0, "fold": fold, "task_key": "my_data-1"}
                        for fold, name in enumerate(bundle)
                    ]
                }
                for bundle in bundles
            ],
        }
        path = self.folder / "jobs.json"
        path.write_text(json.dumps(content))
        return path

    def bundles(self, *bundles, **defaults):
        job_file = read_job_file(self.job_file(*bundles, **defaults))
        return [
            Bundle(number, items, job_file.defaults, self.log(number), self.logs / "ray_logs" / f"task_{number}")
            for number, items in enumerate(job_file.bundles)
        ]

    def run(self, *bundles, parallel=1, **defaults):
        self.logs.mkdir(exist_ok=True)
        server_log = self.logs / "server.log"
        return run_bundles(
            self.bundles(*bundles, **defaults), self.events.append, parallel=parallel, server_log=server_log
        )

    def start(self, *bundles, index=0, **defaults):
        """One bundle as a process of its own, as an array task runs it."""
        job_file = self.job_file(*bundles, **defaults)
        command = [*RUN_BUNDLE, str(job_file), str(index), "--logs", str(self.logs)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def scratch(self):
        """What lies where scratch folders are made."""
        return list((self.folder / "tmp").iterdir())

    def log(self, number=0):
        return self.logs / f"bundle_{number}.log"

    def told(self, number=0):
        """The runner's own lines in a bundle's log."""
        return [line for line in self.log(number).read_text().splitlines() if line.startswith("#####")]

    def journalled(self, beginning=""):
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        return [line for line in lines if line.startswith(beginning)]

    def result(self, experiment, fold):
        return self.output / "data" / experiment / "my_data-1" / f"0_{fold}" / "results.pkl"

    def wait_for(self, beginning):
        """The first journal line that begins so, once it is there."""
        self.wait_until(lambda: self.journalled(beginning))
        return self.journalled(beginning)[0]

    def wait_until(self, condition):
        wait_until(condition, pause=0.005, shown=self.journalled)
