"""The script make_and_upload_trace_dataset: the plan, the upload, both spellings of its flags, and what comes next."""

from __future__ import annotations

import shlex
import sys

import pytest

from benchwright.rehearsal.hub import HubEmulator
from scripts_in_process import SCRIPTS, Script
from trace_jobs import TraceJob, rows_of

REPO = "org/run-traces"


@pytest.fixture
def emulator(tmp_path, monkeypatch, settings):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with HubEmulator(tmp_path / "hub") as hub:
        settings.setenv("HF_ENDPOINT", hub.url)
        settings.setenv("HF_TOKEN", hub.token("me"))
        hub.add_organisation("org", {"me": "write"})
        yield hub
        assert hub.unknown == []


@pytest.fixture
def job(tmp_path):
    job = TraceJob(tmp_path / "job", ["pass", "fail", "no-sandbox", "cut-off"])
    for trial in range(2):
        job.put(trial)
    return job


@pytest.fixture
def script(capsys):
    return Script.named("harbor/make_and_upload_trace_dataset", capsys)


def test_a_plan_sends_nothing_and_leads_to_the_upload(script, emulator, job):
    code, lines = script.run("--job-dir", job.folder, "--repo_id", REPO)
    size = job.dataset().size
    path = SCRIPTS / "harbor" / "make_and_upload_trace_dataset.py"
    again = f"{sys.executable} {path} --job-dir {job.folder} --repo_id {REPO} --episodes last --filter none --apply"
    assert code == 0
    assert lines == [
        f"DRY RUN: nothing written to the Hub; job: 2 rows of 2 trials, {size:,} bytes in 3 files, for {REPO}",
        f"{REPO}: not there, and will be made",
        f"left out: 1 trial, its result cannot be read: cut off: {job.name(3)}",
        f"left out: 1 trial, there is no trajectory.json: {job.name(2)}",
        "next:",
        f"    {again}",
        "DRY RUN: nothing written",
    ]
    assert {one.request.method for one in emulator.seen} == {"GET"}


def test_what_was_uploaded_is_told_and_the_row_comes_next(script, emulator, job):
    words = ("--job_dir", job.folder, "--repo-id", REPO, "--episodes", "all", "--to-sharegpt")
    answer = script.answer(*words, "--apply")
    data = answer["data"]
    link = f"https://huggingface.co/datasets/{REPO}"
    assert (answer["exit"], data["applied"], data["sent"], data["link"]) == (0, True, True, link)
    assert (data["rows"], data["trials"], len(data["left_out"])) == (4, 2, 2)
    assert answer["summary"].endswith("in 3 files: uploaded and read back")
    (push,) = answer["next"]
    there = ["--job-dir", str(job.folder), "--hf-repo", REPO, "--skip-hf"]
    assert shlex.split(push)[1:] == [str(SCRIPTS / "database" / "manual_db_eval_push.py"), *there]
    again = script.answer(*words, "--apply", "--skip-register")
    assert (again["data"]["sent"], again["next"]) == (False, [])
    assert again["summary"].endswith("in 3 files: there already, and read back")
    assert script.answer(*words)["data"]["hub"] == "it holds just that"
    fewer = script.answer(*words[:4], "--forced-update")
    assert fewer["data"]["hub"] == "it holds 4 rows of this run, to be replaced"
    assert "--replace-traces" in shlex.split(fewer["next"][0])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--filter", "success"), "it holds 1 trial of this run that the new traces lack: {fail}"),
        (("--filter", "failure"), "it holds 1 trial of this run that the new traces lack: {success}"),
        (("--episodes", "last"), "it holds 4 rows of 2 trials, and the new traces 2 of 2"),
    ],
)
def test_a_fuller_dataset_of_the_run_is_replaced_by_force_alone(script, emulator, job, words, found):
    place = ("--job-dir", job.folder, "--repo_id", REPO)
    assert script.answer(*place, "--episodes", "all", "--apply")["exit"] == 0
    before = emulator.seen[-1]
    for more in ((), ("--apply",)):
        answer = script.answer(*place, *words, *more)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["code"], problem["where"]) == (5, "fuller-traces", REPO)
        assert problem["found"] == found.format(success=job.name(0), fail=job.name(1))
        assert problem["fix"].endswith("--filter none, --episodes all, --to_sharegpt; --replace-traces replaces them")
    assert all(one.request.method == "GET" for one in emulator.seen[emulator.seen.index(before) + 1 :])
    done = script.answer(*place, *words, "--forced_update", "--apply")
    assert (done["exit"], done["data"]["sent"]) == (0, True)
    fuller = script.answer(*place, "--episodes", "all", "--apply")
    assert (fuller["exit"], fuller["data"]["rows"]) == (0, 4)


def test_columns_are_not_lost_but_by_force(script, emulator, job):
    place = ("--job-dir", job.folder, "--repo_id", REPO)
    assert script.answer(*place, "--to_sharegpt", "--apply")["exit"] == 0
    for more in ((), ("--apply",)):
        answer = script.answer(*place, *more)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["code"]) == (5, "fuller-traces")
        assert problem["found"] == "its rows have what the new traces lack: conversations_sharegpt"
    assert script.answer(*place, "--replace-traces", "--apply")["data"]["sent"] is True


def test_the_files_stay_where_they_are_wanted(script, emulator, job, tmp_path):
    words = ("--job-dir", job.folder, "--repo_id", REPO, "--filter", "success", "--to_sharegpt", "--skip_register")
    answer = script.answer(*words, "--dataset-dir", tmp_path / "dataset")
    assert (answer["data"]["rows"], answer["data"]["applied"]) == (1, False)
    (row,) = rows_of(job.dataset(outcome="success", sharegpt=True))
    assert row["reward"] == 1.0
    expected = ["--filter", "success", "--to_sharegpt", "--skip_register", "--dataset-dir", str(tmp_path / "dataset")]
    assert shlex.split(answer["next"][0])[8:] == [*expected, "--apply"]
    assert {path.name for path in (tmp_path / "dataset").iterdir()} == {"README.md", "data", "provenance.json"}


def test_a_hub_that_does_not_tell_stops_no_plan(script, emulator, job, settings):
    settings.delenv("HF_TOKEN")
    answer = script.answer("--job-dir", job.folder, "--repo_id", REPO)
    assert answer["exit"] == 0
    assert answer["data"]["hub"].startswith("unknown: HTTP 401")
    assert script.run("--job-dir", job.folder, "--repo_id", REPO, "--apply")[0] == 3


def test_wrong_usage(script, emulator, job, tmp_path):
    answer = script.answer("--job-dir", job.folder, "--repo_id", "https://huggingface.co/org/a-model")
    assert (answer["exit"], answer["problems"][0]["found"]) == (2, "'https://huggingface.co/org/a-model'")
    assert script.answer("--job-dir", tmp_path, "--repo_id", REPO)["exit"] == 2
    for folder in ("/", tmp_path / ".."):
        assert script.answer("--job-dir", job.folder, "--repo_id", REPO, "--dataset-dir", folder)["exit"] == 2
    with pytest.raises(SystemExit) as stop:
        script.run("--job-dir", job.folder, "--repo_id", REPO, "--episodes", "first")
    assert stop.value.code == 2
