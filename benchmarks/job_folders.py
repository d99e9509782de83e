"""How many trials of agentic evaluations are valid: our reading of job folders, and the loop that the skill began with.

21 jobs of 300 trials, in the sizes and the mix of real ones. The loop takes each result that it can parse and looks for
a number in it; ours also finds what the others are, and remembers. Seconds are those of the work, without the start of
Python and the imports, but for the row that says so.
"""

from __future__ import annotations

import glob
import json
import os
import random
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import Bench, Row, Sample, Side, answer, same_answer

JOBS, QUICK_JOBS = 21, 6
_TASKS, _ATTEMPTS = 100, 3
_MIX = {
    "pass": 90,
    "fail": 126,
    "timeout-scored": 45,
    "context-scored": 15,
    "not-verified": 12,
    "no-sandbox": 6,
    "unfinished": 3,
    "cut-off": 3,
}
"""Of 300 trials."""
_BAR_FIRST, _BAR_SECOND, _BAR_MB = 5.0, 50.0, 150
_SETTLED_S = 11.0
"""Younger files are not remembered."""


def measure(bench: Bench, jobs: int | None = None) -> list[Row]:
    """The first and the second look at ``jobs`` jobs beside the loop, from memory and from the disk."""
    jobs = jobs or (QUICK_JOBS if bench.quick else JOBS)
    root = bench.workspace / "job-folders" / f"jobs_{jobs}"
    cache = root.with_name(f"cache_{jobs}")
    grow(root, jobs)
    work = f"job folders, {jobs * _TASKS * _ATTEMPTS:,} trials"
    looks: dict[str, list[Sample]] = {"first": [], "peer": [], "second": []}
    for _ in range(1 if bench.quick else 7):
        shutil.rmtree(cache, ignore_errors=True)
        for name, samples in looks.items():
            samples.append(bench.run("job_folders", "peer" if name == "peer" else "ours", root, cache))
            same_answer(work, samples[-1].answer["counts"], looks["first"][0].answer["counts"])
    shutil.rmtree(cache)
    from_disk = [bench.run("job_folders", side, root, cache, "from-disk") for side in ("ours", "peer")]
    inner = {name: Side.of([_inner(one) for one in samples]) for name, samples in looks.items()}
    whole = {name: Side.of(samples) for name, samples in looks.items()}
    disk = [Side.of([_inner(one)]) for one in from_disk]
    bars = (None, None) if bench.quick else (_BAR_FIRST, _BAR_SECOND)
    return [
        Row(f"{work}: first look", inner["first"], inner["peer"], least_ratio=bars[0]),
        Row(f"{work}: second look", inner["second"], inner["peer"], least_ratio=bars[1]),
        Row(f"{work}: first look, from disk", disk[0], disk[1]),
        Row(f"{work}: whole command", whole["first"], whole["peer"]),
        Row(f"{work}: all processes", Side.of([_watched(bench, root, cache)]), most_mb=_BAR_MB),
    ]


def _inner(sample: Sample) -> Sample:
    return replace(sample, seconds=sample.answer["seconds"])


def _watched(bench: Bench, root: Path, cache: Path) -> Sample:
    """A first look with the memory of all its processes."""
    shutil.rmtree(cache, ignore_errors=True)
    command = [sys.executable, __file__, "ours", str(root), str(cache)]
    return _inner(bench.time(command, "job_folders-watched", watched=True))


def grow(root: Path, jobs: int) -> None:
    """Make the job folders, unless they are there whole."""
    from benchwright.rehearsal.harbor_jobs import JobShape, grow_job

    done = root.with_name(f"{root.name}.complete")
    if done.exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    kinds = [name for name, number in _MIX.items() for _ in range(number)]
    for number in range(jobs):
        random.Random(number).shuffle(kinds)
        grow_job(root / f"eval-model_{number:02d}_bench", kinds, JobShape(_ATTEMPTS, weight=1.0), seed=number)
    os.sync()
    time.sleep(_SETTLED_S)
    done.touch()


def ours(root: str, cache: str, start: str = "") -> dict[str, Any]:
    """Valid, errored and all results of each job, and the seconds it took to know."""
    from benchwright.harbor import JobPlace, ScanCache, read_jobs

    folders = _folders(root, start)
    begin = time.perf_counter()
    jobs = read_jobs([JobPlace(folder.name, (folder,)) for folder in folders], cache=ScanCache(Path(cache)))
    counts = [_counts(job.whole.count("valid"), job.whole.count("unscored", "corrupt")) for job in jobs]
    return {"counts": counts, "seconds": time.perf_counter() - begin}


def peer(root: str, _: str, start: str = "") -> dict[str, Any]:
    """The same by the loop over each job's results."""
    folders = _folders(root, start)
    begin = time.perf_counter()
    counts = []
    for folder in folders:
        valid = errored = 0
        for path in glob.glob(f"{folder}/*/result.json"):  # noqa: PTH207 - the loop's own way
            try:
                with open(path) as file:
                    content = json.load(file)
            except Exception:  # noqa: BLE001 - the loop's own way
                errored += 1
                continue
            reward = ((content.get("verifier_result") or {}).get("rewards") or {}).get("reward")
            if isinstance(reward, int | float):
                valid += 1
            else:
                errored += 1
        counts.append(_counts(valid, errored))
    return {"counts": counts, "seconds": time.perf_counter() - begin}


def _counts(valid: int, errored: int) -> list[int]:
    return [valid, errored, valid + errored]


def _folders(root: str, start: str) -> list[Path]:
    """The job folders; their results leave the system's memory first where the start is to be from disk."""
    folders = sorted(Path(root).iterdir())
    if start == "from-disk":
        for path in Path(root).glob("*/*/result.json"):
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
    return folders


if __name__ == "__main__":
    answer(ours=ours, peer=peer)
