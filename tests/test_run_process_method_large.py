"""The command on a tree of 50,000 files: what it needs of time and memory, measured from a process of its own."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from raw_trees import RAW, SYSTEM, TASKS, content_of
from scripts_in_process import SCRIPTS

IN_MEMORY = Path("/dev/shm")  # a disk may take a minute to make and to remove so many folders
TASK_COUNT, SPLITS, DAMAGED_TASKS = 50, 1000, 10
# A process counts the memory of the one that starts it until it is another program: a small one starts it here.
MEASURED = """
import json, os, subprocess, sys
with open(os.devnull, "wb") as nowhere:
    process = subprocess.Popen(sys.argv[1:], stdout=nowhere, stderr=nowhere)
    _, status, usage = os.wait4(process.pid, 0)
told = {"exit": os.waitstatus_to_exitcode(status), "peak": usage.ru_maxrss * 1024}
print(json.dumps(told | {"seconds": usage.ru_utime + usage.ru_stime}))
"""


@pytest.fixture
def tree(tmp_path):
    """50 tasks of 1,000 splits; the results of 10 tasks are garbage."""
    room = IN_MEMORY if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > 2**30 else tmp_path
    with tempfile.TemporaryDirectory(dir=room) as folder:
        value = content_of(RAW / SYSTEM / TASKS["binary"] / "0_0" / "results.pkl")
        for task in range(TASK_COUNT):
            below = Path(folder, "data", SYSTEM, f"task{task}")
            below.mkdir(parents=True)
            for split in range(SPLITS):
                repeat, fold = divmod(split, 100)
                place = {"tid": task + 1, "name": f"task{task}", "repeat": repeat, "fold": fold, "split_idx": split}
                value["task_metadata"].update(place)
                (below / f"{repeat}_{fold}").mkdir()
                content = b"garbage" if task < DAMAGED_TASKS else pickle.dumps(value, 4)
                (below / f"{repeat}_{fold}" / "results.pkl").write_bytes(content)
        yield Path(folder)


@pytest.mark.slow
def test_fifty_thousand_files_are_inspected_in_seconds_and_in_little_memory(tree, tmp_path):
    command = [sys.executable, str(SCRIPTS / "run_process_method.py"), str(tree), "--out", str(tmp_path / "all.json")]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    assert measured["exit"] == 1
    assert measured["seconds"] < 20  # of all processors together; 6 are enough
    assert 20 < measured["peak"] / 2**20 < 400
    envelope = json.loads((tmp_path / "all.json").read_text())
    (method,) = envelope["data"]["methods"]
    damaged = DAMAGED_TASKS * SPLITS
    assert (method["files"], method["unusable"]) == (TASK_COUNT * SPLITS, damaged)
    assert method["coverage"]["splits"] == TASK_COUNT * SPLITS - damaged
    codes = [problem["code"] for problem in envelope["problems"]]
    assert (codes.count("not-a-pickle"), codes.count("dataset-lost"), len(codes)) == (
        damaged,
        DAMAGED_TASKS,
        damaged + DAMAGED_TASKS,
    )
