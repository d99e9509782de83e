"""The measure of job folders: both sides count the same, and a difference between them stops it. No timing."""

from __future__ import annotations

import pytest

from benchwright.contract import Failure

MODULES = ("measure", "memory", "job_folders")


def test_both_ways_to_count_agree_on_generated_jobs(tmp_path, modules, monkeypatch):
    measure, job_folders = modules["measure"], modules["job_folders"]
    monkeypatch.setattr(job_folders, "_SETTLED_S", 0)
    bench = measure.Bench(tmp_path, quick=True)
    rows = job_folders.measure(bench, jobs=1)
    assert [row.work.partition(": ")[2] for row in rows] == [
        "first look",
        "second look",
        "first look, from disk",
        "whole command",
        "all processes",
    ]
    assert [row.met for row in rows] == [None, None, None, None, True]
    assert all(row.ratio > 0 for row in rows[:4])
    (job,) = (tmp_path / "job-folders" / "jobs_1").iterdir()
    lacking = next(job.glob("*/result.json"))
    monkeypatch.setattr(job_folders, "grow", lambda *_: lacking.unlink(missing_ok=True))
    assert job_folders.peer(str(job.parent), "")["counts"] == [[276, 21, 297]]
    samples = iter(({"counts": [[276, 21, 297]], "seconds": 1}, {"counts": [[276, 20, 296]], "seconds": 1}))
    monkeypatch.setattr(bench, "run", lambda *_: measure.Sample(1.0, 1, next(samples)))
    with pytest.raises(Failure, match="expected the peer's") as caught:
        job_folders.measure(bench, jobs=1)
    assert caught.value.problems[0].code == "answers-differ"
