"""Which folders become evals: each run once, none left out, and what cannot be read by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from scripts_in_process import Script


@pytest.fixture
def script(capsys, settings):
    return Script.named("eval/audit_evals", capsys, "--no-cache", "--db", "none", "--no-hub", "--no-slurm")


def grow(folder, number=2):
    grow_job(folder, ["pass"] * number, JobShape(1), seed=sum(map(ord, folder.name)))
    return folder


def folders(answer):
    return [one["folder"] for one in answer["data"]["evals"]]


def test_a_run_beside_shards_of_the_same_name_is_another_eval(script, tmp_path):
    for name in ("run", "run_shard0", "run_shard1"):
        grow(tmp_path / "jobs" / name)
    answer = script.answer("--jobs-root", tmp_path / "jobs")
    assert folders(answer) == [str(tmp_path / "jobs" / name) for name in ("run", "run_shard0")]
    assert [one["planned"] for one in answer["data"]["evals"]] == [2, 4]


def test_a_run_is_one_eval_however_often_it_is_named(script, tmp_path):
    for name in ("run_shard0", "run_shard1", "once/once"):
        grow(tmp_path / name)
    named = ("run_shard1", "run", "run_shard0", "once/once", "once", "./once")
    answer = script.answer(*(tmp_path / name for name in named))
    assert folders(answer) == [str(tmp_path / "once" / "once"), str(tmp_path / "run_shard0")]


def test_one_folder_that_may_not_be_read_hides_no_other(script, tmp_path, monkeypatch):
    for name in ("mine", "theirs"):
        grow(tmp_path / "jobs" / name)
    opened = os.open

    def refuse(path, *args, **kwargs):
        if Path(path).name == "theirs":
            raise PermissionError(13, os.strerror(13), path)
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    answer = script.answer("--jobs-root", tmp_path / "jobs")
    assert (answer["exit"], [problem["where"] for problem in answer["problems"]]) == (
        3,
        [str(tmp_path / "jobs/theirs")],
    )
    checks = {one["run_tag"]: one["checks"]["trials"]["status"] for one in answer["data"]["evals"]}
    assert checks == {"mine": "pass", "theirs": "unknown"}
