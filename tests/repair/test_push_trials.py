"""The rows of trials, of folders that Harbor itself wrote and of odd ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import UUID

import pytest

from benchwright.contract import Exit, Failure
from benchwright.harbor import read_job, resolve_job_folder
from benchwright.harbor.traces import TraceOptions, plan_traces
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from benchwright.repair.push.storable import TOO_DEEP
from benchwright.repair.push.trials import read_trial_rows

GENUINE = Path(__file__).parents[1] / "data" / "harbor_jobs"
JOB_ID = "00000000-0000-4000-8000-000000000001"


def rows_of(folder):
    return list(read_trial_rows([folder], read_job(folder).trials, JOB_ID))


@pytest.mark.parametrize("folder", sorted(GENUINE.glob("eval-*")), ids=lambda folder: folder.name)
def test_every_genuine_trial_with_a_result_has_its_rows(folder):
    found = {one.row["trial_name"]: one for one in rows_of(folder)}
    trials = {trial.folder: trial for trial in read_job(folder).trials if trial.state in ("valid", "unscored")}
    assert found.keys() == trials.keys()
    for name, one in found.items():
        assert (one.row["id"], one.row["reward"]) == (trials[name].id, trials[name].reward)
        assert (one.row["exception_info"] is None) == (trials[name].exception is None)
        assert one.row["task_checksum"] == one.task["checksum"] == trials[name].checksum
        assert one.task["path"] == one.task["name"].rpartition("/")[2]
        assert one.row["agent_execution_started_at"] is None or one.row["agent_execution_started_at"].endswith("+00:00")
        text = json.dumps([one.row, one.task, one.usage], allow_nan=False)
        assert "/opt/" not in text
        assert "file://" not in text


@pytest.fixture
def folder(tmp_path):
    grow_job(tmp_path / "job", ["pass", "several-keys", "timeout", "cut-off", "unfinished"], JobShape(attempts=1))
    return tmp_path / "job"


def edited(folder, change):
    """The folder, with the result of a trial that passed changed."""
    path = next(path for path in sorted(folder.glob("*/result.json")) if '"reward": 1.0' in path.read_text())
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))
    return path.parent.name


def test_what_was_not_read_has_no_row(folder):
    assert [one.row["reward"] for one in rows_of(folder)] == [1.0, 0.25, None]


@pytest.mark.parametrize("odd", [5, "text", [], None, {}, {"started_at": 5, "path": 5}])
def test_what_is_odd_beside_a_reward_does_not_lose_it(folder, odd):
    name = edited(folder, lambda result: result.update(dict.fromkeys(("task_id", "agent_setup", "verifier"), odd)))
    (found,) = [one for one in rows_of(folder) if one.trial.folder == name]
    assert (found.row["reward"], found.row["verifier_started_at"]) == (1.0, None)
    assert found.task["path"] == found.task["name"]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00"])
def test_a_time_that_is_none_in_every_zone_is_none(folder, time):
    name = edited(folder, lambda result: result.update(started_at=time, verifier={"started_at": time}))
    (found,) = [one for one in rows_of(folder) if one.trial.folder == name]
    assert (found.row["started_at"], found.row["verifier_started_at"]) == (None, None)


def test_a_folder_whose_name_is_no_text(folder):
    name = edited(folder, lambda result: None)
    (folder / name).rename(folder / os.fsdecode(b"caf\xe9__abcdefg"))
    (found,) = [one for one in rows_of(folder) if one.row["reward"] == 1.0]
    assert found.row["trial_name"] == "caf\\xe9__abcdefg"
    (trial,) = [path for one, path in plan_traces(resolve_job_folder(folder), TraceOptions()).trials if one.reward == 1]
    assert (trial / "result.json").exists()


def test_what_no_database_takes_is_replaced(folder):
    def spoil(result):
        result["agent_info"]["model_info"]["provider"] = "a\0b"
        for _ in range(700):
            result["config"] = {"deeper": result["config"]}

    name = edited(folder, spoil)
    (found,) = [one for one in rows_of(folder) if one.trial.folder == name]
    assert found.usage["model_provider"] == "a\ufffdb"
    assert TOO_DEEP in json.dumps(found.row["config"])


def test_a_trial_without_an_id_has_the_same_one_each_time(folder):
    name = edited(folder, lambda result: result.pop("id"))
    (first,) = [one.row["id"] for one in rows_of(folder) if one.row["trial_name"] == name]
    (again,) = [one.row["id"] for one in rows_of(folder) if one.row["trial_name"] == name]
    assert UUID(first) and first == again


def test_tasks_of_a_repository_and_of_a_registry(folder):
    git = {"git_url": "https://github.com/org/tasks", "git_commit_id": "c0ffee", "path": "tasks/one"}
    name = edited(folder, lambda result: result.update(task_id=git))
    (task,) = [one.task for one in rows_of(folder) if one.row["trial_name"] == name]
    assert {column: task[column] for column in git} == git
    edited(folder, lambda result: result.update(task_id={"org": "org", "name": "one", "ref": "3"}))
    assert "org/one" in [one.task["path"] for one in rows_of(folder)]


def test_counts_that_no_column_takes_are_left_out(folder):
    def change(result):
        result["agent_result"] |= {"n_input_tokens": 2**40}
        result["agent_info"]["model_info"]["provider"] = None

    name = edited(folder, change)
    (usage,) = [one.usage for one in rows_of(folder) if one.row["trial_name"] == name]
    assert (usage["n_input_tokens"], usage["model_provider"]) == (None, "unknown")


def test_a_result_that_changed_meanwhile_is_no_result(folder):
    trials = read_job(folder).trials
    name = edited(folder, lambda result: result.update(id=JOB_ID))
    with pytest.raises(Failure) as failure:
        list(read_trial_rows([folder], trials, JOB_ID))
    assert failure.value.exit == Exit.REFUSED
    assert str(failure.value).startswith(f"{name}: it is another trial's now, expected the result that was audited")
    (folder / name / "result.json").unlink()
    with pytest.raises(Failure, match="it is not there any more"):
        list(read_trial_rows([folder], trials, JOB_ID))


def test_a_trial_of_no_task_is_told(folder):
    name = edited(folder, lambda result: result.pop("task_checksum"))
    with pytest.raises(Failure) as failure:
        rows_of(folder)
    assert str(failure.value) == (
        f"{name}: its result names no task_checksum, expected the checksum of its task\n"
        "    fix: restore it, or move the trial away by hand and resume the run"
    )


def test_the_shards_of_a_run(tmp_path):
    from benchwright.harbor import resolve_job_folder

    for shard in range(2):
        grow_job(tmp_path / f"run_shard{shard}", ["pass", "fail"], JobShape(attempts=1), seed=shard)
    place = resolve_job_folder(tmp_path / "run")
    found = list(read_trial_rows(place.folders, read_job(place).trials, JOB_ID))
    assert len({one.row["id"] for one in found}) == 4
    assert {one.row["trial_name"] for one in found} == {path.name for path in tmp_path.glob("*/*__*")}
