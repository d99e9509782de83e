"""How many trials there should be, of the whole job and of each of its evals."""

from __future__ import annotations

import pytest
from harbor_files import figures_of, job_files, trial, write

from benchwright.harbor import plan_of, read_job


def test_a_lock_says_what_was_planned_where_the_aggregate_cannot(tmp_path):
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaaa")
    write(job / "lock.json", {"trials": [{}, {}, {}]})
    planned = plan_of(read_job(job))
    assert (planned.total, planned.source) == (3, "lock")


def test_a_lock_says_how_much_of_the_plan_is_whose(tmp_path):
    job = tmp_path / "job"
    for number in range(3):
        source = "big" if number else "small"
        trial(job, f"task-{number}__aaaaaaa", task=f"task-{number}", source=source, id=str(number))
    job_files(job, 3)
    assert [one["planned"] for one in figures_of(read_job(job))["by_eval"].values()] == [None, None]
    locked = [{"agent": {"name": "oracle"}, "task": {"source": name}} for name in ("big", "big", "small")]
    write(job / "lock.json", {"trials": locked})
    found = figures_of(read_job(job))
    assert {key: one["planned"] for key, one in found["by_eval"].items()} == {"oracle__big": 2, "oracle__small": 1}
    assert found["plan_disagreements"] == []
    write(job / "lock.json", {"trials": locked[1:]})
    found = figures_of(read_job(job))
    assert [one["planned"] for one in found["by_eval"].values()] == [None, None]
    assert found["plan_disagreements"] == ["lock: 2"]


@pytest.mark.parametrize("planned", [0, -1])
def test_a_plan_of_nothing_says_nothing_beside_trials(tmp_path, planned):
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaaa")
    job_files(job, planned)
    found = figures_of(read_job(job))
    assert (found["planned"], found["coverage"]["fails"]) == (None, True)
