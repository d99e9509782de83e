"""Many trials, far ones and large ones: what they cost in time and memory."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from harbor_files import Racing, result, write

from benchwright.harbor import Folder, read_tree
from benchwright.harbor.patient import mapped
from benchwright.harbor.tree import ABSENT, Content, Listing


class Far:
    """A folder of many equal trials, each of them some milliseconds away."""

    where = "far"

    def __init__(self, number, seconds=0.0):
        names = [f"task-{index % (number // 4)}__{index:07d}" for index in range(number)]
        self.folders, self.seconds = tuple(names), seconds

    def listing(self):
        return Listing(self.folders, frozenset())

    def read(self, path, most=2**30):
        name, _, file = path.partition("/")
        if file != "result.json":
            return None
        time.sleep(self.seconds)
        task, number = name.split("__")
        return Content(
            b'{"task_name": "%s", "id": "%s", "verifier_result": {"rewards": {"reward": 1.0}}, "started_at":'
            b' "2026-09-01T10:00:00Z", "finished_at": "2026-09-01T10:05:00Z", "task_checksum": "%064d"}'
            % (task.encode(), number.encode(), 7),
            ABSENT,
        )

    def exists(self, path):
        return True


def test_files_that_are_far_away_are_waited_for_at_once():
    start = time.perf_counter()
    job = read_tree(Far(400, seconds=0.01), "far")
    assert job.whole.count("valid") == 400
    assert time.perf_counter() - start < 400 * 0.01 / 2


def test_four_files_show_that_a_bucket_is_far_away():
    threads = []

    def work(some):
        time.sleep(0.005 * len(some))
        threads.extend(threading.current_thread() for _ in some)
        return list(some)

    assert mapped(work, range(20), 8) == list(range(20))
    assert sum(thread is threading.main_thread() for thread in threads) == 4


def test_a_hundred_thousand_trials_stay_small():
    program = """
import resource
from test_harbor_scale import Far
from benchwright.harbor import read_tree
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
job = read_tree(Far(100_000), "far")
print(job.whole.count("valid"), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    valid, megabytes = map(int, done.stdout.split())
    assert valid == 100_000
    assert megabytes < 250


def test_a_result_with_all_its_tokens_costs_its_size_and_not_more(tmp_path):
    job = tmp_path / "job"
    tokens = list(range(100_000, 160_000))
    details = [{"completion_token_ids": tokens, "logprobs": [-0.123456789] * 60_000}] * 12
    huge = result(agent_result={"n_input_tokens": 7, "rollout_details": details, "metadata": {"n_episodes": 3}})
    first = write(job / "task-1__aaaaaa0" / "result.json", huge)
    for number in range(1, 8):
        (job / f"task-1__aaaaaa{number}").mkdir()
        os.link(first, job / f"task-1__aaaaaa{number}" / "result.json")
    size = first.stat().st_size / 2**20
    assert size > 14
    program = f"""
import resource
from pathlib import Path
from benchwright.harbor import read_job
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
job = read_job(Path({str(job)!r}))
print(job.whole.evidence.tokens_in, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    tokens_in, megabytes = map(int, done.stdout.split())
    assert tokens_in == 56
    assert megabytes < 2 * size


def test_a_result_full_of_nan_costs_three_times_its_size(tmp_path):
    text = json.dumps(result(notes=[math.nan] * 1_000_000))
    first = write(tmp_path / "job" / "task-1__aaaaaa0" / "result.json", text)
    program = f"""
import resource
from pathlib import Path
from benchwright.harbor import read_job
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
job = read_job(Path({str(first.parents[1])!r}))
print(job.whole.count("valid"), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    valid, megabytes = map(int, done.stdout.split())
    assert valid == 1
    assert megabytes < 4 * len(text) / 2**20


def test_threads_never_hold_more_than_one_large_result(tmp_path):
    job = tmp_path / "job"
    first = write(job / "task-1__aaaaaa0" / "result.json", result(notes="x" * 2**20))
    for number in range(1, 80):
        (job / f"task-1__aaaaaa{number:02d}").mkdir()
        os.link(first, job / f"task-1__aaaaaa{number:02d}" / "result.json")
    held, most_held = set(), []

    class Slow(Racing):
        def read(self, path, most=2**30):
            time.sleep(0.002)
            content = self.folder.read(path, most)
            if path.endswith("/result.json") and content.data is not None:
                held.add(path)
                most_held.append(len(held))
                time.sleep(0.002)
                held.remove(path)
            return content

    with Folder(job) as folder:
        assert read_tree(Slow(folder, None), "job").whole.count("valid") == 80
    assert most_held == [1] * 80
