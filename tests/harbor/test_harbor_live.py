"""A folder that someone writes to while it is read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from harbor_files import Racing, job_files, result, states, trial, write

from benchwright.harbor import Folder, ScanCache, read_job, read_tree
from waiting import PATIENCE, wait_until


def test_a_trial_that_goes_away_is_looked_for_once_more(tmp_path):
    job = tmp_path / "job"
    for name in ("task-1__aaaaaaa", "task-1__bbbbbbb"):
        trial(job, name, id=name)
    job_files(job, 2, attempts=2)

    def rerun(path):
        if path.startswith("task-1__aaaaaaa"):
            shutil.rmtree(job / "task-1__aaaaaaa")
            trial(job, "task-1__ccccccc", id="c")

    with Folder(job) as folder:
        found = read_tree(Racing(folder, rerun), "job")
    assert (states(found), found.live) == ({"task-1__bbbbbbb": "valid", "task-1__ccccccc": "valid"}, False)


def test_a_folder_that_keeps_changing_is_live(tmp_path):
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaa0")
    count = iter(range(1, 100))

    def vanish(path):
        shutil.rmtree(job / path.partition("/")[0])
        trial(job, f"task-1__aaaaaa{next(count)}")

    with Folder(job) as folder:
        found = read_tree(Racing(folder, vanish), "job")
    assert found.live is True
    assert [remark.text for remark in found.remarks if remark.code == "live"] == [
        "changed while it was read: task-1__aaaaaa1"
    ]


def test_a_result_in_the_middle_of_being_written_is_read_when_it_is_whole(tmp_path):
    job = tmp_path / "job"
    path = trial(job, "task-1__aaaaaaa", '{"task_name": "task-1", ') / "result.json"
    reads = []

    def write_on(_):
        reads.append(1)
        if len(reads) == 2:
            write(path, result())

    with Folder(job) as folder:
        found = read_tree(Racing(folder, write_on), "job")
    assert (states(found), found.live) == ({"task-1__aaaaaaa": "valid"}, True)


@pytest.mark.parametrize(("age", "live"), [(2, True), (60, False), (-60, False)])
@pytest.mark.parametrize("file", ["task-1__aaaaaaa/result.json", "result.json"])
def test_damage_that_is_seconds_old_may_be_a_file_in_the_middle_of_being_written(tmp_path, file, age, live):
    """A slow file system shows half a file for longer than two looks at it take; clocks may differ."""
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaaa")
    job_files(job, 1)
    write(job / file, '{"task_name": "task-1", ')
    os.utime(job / file, (time.time() - age,) * 2)
    for _ in range(2):
        found = read_job(job, cache=ScanCache(tmp_path / "cache"))
        assert found.live is live
        told = [remark.text for remark in found.remarks if remark.code == "live"]
        assert told == ([f"changed while it was read: {file.partition('/')[0]}"] if live else [])
    assert (tmp_path / "cache").exists() is not live


@pytest.mark.parametrize(
    ("when", "year"), [(0, 1970), (2**33, 2242), (10**10, 2262), (10**12, 2262), (-(10**12), 1677)]
)
def test_a_file_from_another_age_is_read_all_the_same(tmp_path, when, year):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        job = Path(folder) / "job"
        os.utime(trial(job, "task-1__aaaaaaa") / "result.json", (when, when))
        for _ in range(2):
            found = read_job(job, cache=ScanCache(tmp_path / "cache"))
            assert (states(found), found.written.year) == ({"task-1__aaaaaaa": "valid"}, year)


_READER = """
import os, sys
from pathlib import Path
from benchwright.harbor import ScanCache, read_job
root, looks = Path(sys.argv[1]), 0
while not (root / "stop").exists():
    job = read_job(root / "job", cache=ScanCache(root / "cache"))
    for trial in job.trials:
        assert trial.state in ("valid", "missing") or job.live, trial
        assert trial.reward in (None, int(trial.folder[-1]) % 2), trial
    looks += 1
    (root / f"look-{looks}-of-{os.getpid()}").touch()
"""


def test_a_job_that_is_written_to_meanwhile_is_never_read_wrong(tmp_path):
    """A writer like Harbor and two readers with one cache: what counts is right, and in the end all of it is there."""
    job = tmp_path / "job"
    job_files(job, 99)
    command = [sys.executable, "-c", _READER, str(tmp_path)]
    readers = [subprocess.Popen(command) for _ in range(2)]

    def looked(times):
        looks = [(tmp_path / f"look-{times}-of-{reader.pid}", reader) for reader in readers]
        return all(look.exists() or reader.poll() is not None for look, reader in looks)

    begun, number = time.monotonic(), 0
    while time.monotonic() < begun + 3:
        _write_slowly(job / f"task-{number % 9}__{number:07d}", number)
        job_files(job, 99, completed=number)
        if number % 4 == 3:
            shutil.rmtree(job / f"task-{(number - 2) % 9}__{number - 2:07d}")
        number += 1
        begun = begun if looked(1) else time.monotonic()
    wait_until(lambda: looked(4))
    (tmp_path / "stop").touch()
    assert [reader.wait(PATIENCE) for reader in readers] == [0, 0]
    found = read_job(job, cache=ScanCache(tmp_path / "cache"))
    assert found.trials == read_job(job).trials
    assert found.whole.count("valid") + found.whole.surplus == len(list(job.glob("*/result.json"))) == found.present


def _write_slowly(folder: Path, number: int) -> None:
    folder.mkdir()
    content = json.dumps(result(folder.name, float(number % 2), id=str(number), notes="x" * 3000))
    with (folder / "result.json").open("w") as file:
        for start in range(0, len(content), 1000):
            file.write(content[start : start + 1000])
            file.flush()
