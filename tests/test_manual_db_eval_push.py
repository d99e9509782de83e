"""The script manual_db_eval_push: traces to an emulated Hub by the real client, rows, and what the audit says then."""

from __future__ import annotations

import json
import shlex

import pytest

from audit_runs import BENCHMARKS, GOOD, MODEL, AuditedRun, settle
from benchwright.contract import DRY_RUN
from benchwright.rehearsal.hub import HubEmulator, Limit
from scripts_in_process import Script
from trace_jobs import TALK

ORG = "traces-org"


@pytest.fixture
def emulator(tmp_path, settings):
    settings.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    settings.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    with HubEmulator(tmp_path / "hub") as hub:
        hub.add_organisation(ORG, {"me": "write"})
        settings.setenv("HF_ENDPOINT", hub.url)
        settings.setenv("HF_TOKEN", hub.token("me"))
        yield hub
        assert hub.unknown == []


@pytest.fixture
def run(tmp_path):
    run = AuditedRun(tmp_path, kinds=GOOD)
    for trial in run.truth.states:
        path = run.folder / trial / "agent" / "trajectory.json"
        path.parent.mkdir()
        path.write_text(json.dumps(TALK))
    settle(run.folder)
    return run


@pytest.fixture
def benchmarks(tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return tmp_path / "benchmarks.yaml"


@pytest.fixture
def script(capsys, settings, eval_rows, emulator, benchmarks):
    settings.setenv("DATABASE_URL", eval_rows.server.url)
    settings.setenv("BENCHWRIGHT_OWNERS", "ada")
    settings.setenv("BENCHWRIGHT_TRACE_ORGS", ORG)
    return Script.named("database/manual_db_eval_push", capsys, "--benchmarks", benchmarks)


@pytest.fixture
def audit(capsys, benchmarks):
    return Script.named("eval/audit_evals", capsys, "--no-cache", "--benchmarks", benchmarks)


def writes(emulator):
    return {one.request.method for one in emulator.seen} - {"GET", "HEAD"}


def test_a_run_is_pushed_and_the_audit_is_content(script, audit, emulator, eval_rows, run):
    assert audit.answer(run.folder)["data"]["evals"][0]["verdict"] == "UPLOAD"
    code, lines = script.run("--job-dir", run.folder)
    assert (code, lines[0].split("; ")[0], lines[-1]) == (0, DRY_RUN, DRY_RUN)
    assert f"upload the traces to {ORG}/{run.tag}-traces" in lines
    assert f'  job_name: "{run.tag}"' in lines
    assert len(lines) <= 45
    assert writes(emulator) == set()
    assert eval_rows.everything()["sandbox_jobs"] == []
    answer = script.answer("--job_dir", run.folder, "--no-dry-run", "--verbose")
    assert (answer["exit"], answer["data"]["applied"], answer["problems"]) == (0, True, [])
    assert answer["summary"].endswith("; 36 rows read back")
    (one,) = audit.answer(run.folder)["data"]["evals"]
    assert (one["verdict"], one["model"]) == ("OK", MODEL)
    sent = writes(emulator)
    emulator.seen.clear()
    again = script.answer("--job-dir", run.folder, "--apply")
    assert (again["exit"], again["data"]["plan"]["changes"]) == (0, [])
    assert script.answer("--job-dir", run.folder)["next"] == []  # nothing is to do
    assert sent
    assert writes(emulator) == set()


@pytest.fixture
def traces(capsys):
    return Script.named("harbor/make_and_upload_trace_dataset", capsys)


def without_a_talk(run):
    """One of the run's valid trials, which has left no trajectory."""
    path = run.folder / min(run.truth.states) / "agent" / "trajectory.json"
    path.unlink()
    settle(run.folder)
    return path


def files(emulator, repo):
    return {path: entry.lfs or entry.oid for path, entry in emulator.repo(repo, "dataset").main.files.items()}


@pytest.mark.parametrize("episodes", ["all", "last"])
def test_a_row_that_is_written_once_more_leaves_fuller_traces_alone(
    script, audit, traces, emulator, eval_rows, run, episodes
):
    without_a_talk(run)
    repo = f"{ORG}/{run.tag}-traces"
    words = ("--job-dir", run.folder, "--repo_id", repo, "--episodes", episodes, "--to_sharegpt", "--apply")
    (linking,) = traces.answer(*words)["next"]
    assert script.answer(*shlex.split(linking)[2:], "--apply")["exit"] == 0
    there = files(emulator, repo)
    eval_rows.execute("""UPDATE sandbox_jobs SET metrics = '[{"name": "accuracy", "value": 0.9}]'""")
    (one,) = audit.answer(run.folder)["data"]["evals"]
    printed = shlex.split(one["actions"][0]["command"])[2:]
    assert (one["verdict"], printed[-3], "--skip-hf" in printed) == ("UPLOAD", "--forced-update", False)
    assert script.answer(*printed)["data"]["upload"] is None
    assert script.answer(*printed, "--apply")["exit"] == 0
    assert audit.answer(run.folder)["data"]["evals"][0]["verdict"] == "OK"
    again = script.answer("--job-dir", run.folder, "--apply")
    assert (again["exit"], again["data"]["upload"], again["data"]["plan"]["changes"]) == (0, None, [])
    assert files(emulator, repo) == there


def test_what_would_replace_fuller_traces_is_refused_by_the_dry_run_too(script, traces, emulator, run):
    path = without_a_talk(run)
    repo = f"{ORG}/{run.tag}-traces"
    traces.answer("--job-dir", run.folder, "--repo_id", repo, "--episodes", "all", "--apply")
    there = files(emulator, repo)
    path.write_text(json.dumps(TALK))
    settle(run.folder)
    for more in ((), ("--apply",), ("--forced-update", "--apply")):
        answer = script.answer("--job-dir", run.folder, *more)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["code"]) == (5, "fuller-traces")
        assert problem["found"] == "it holds 22 rows of 11 trials, and the new traces 12 of 12"
    assert files(emulator, repo) == there
    dry = script.answer("--job-dir", run.folder, "--replace-traces")
    assert (dry["exit"], "--replace-traces" in dry["next"][0]) == (0, True)
    assert script.answer("--job-dir", run.folder, "--replace-traces", "--apply")["exit"] == 0
    assert files(emulator, repo) != there


def test_a_hub_without_room_leaves_the_score_untouched(script, emulator, eval_rows, run):
    emulator.limits.actions["commit"] = Limit(0)
    answer = script.answer("--job-dir", run.folder, "--apply")
    assert answer["exit"] == 4, answer
    assert eval_rows.everything()["sandbox_jobs"] == []
    del emulator.limits.actions["commit"]
    assert script.answer("--job-dir", run.folder, "--apply")["exit"] == 0


def test_a_refusal_has_the_figures_and_what_to_do(script, tmp_path):
    run = AuditedRun(tmp_path / "bad", kinds=(*GOOD[:10], "no-sandbox", "no-key"))
    code, lines = script.run("--job-dir", run.folder, "--skip-hf", "--apply", "--forced-update")
    assert (code, lines) == (
        5,
        [
            f"{run.tag} is not registered, for 1 reason",
            "10 valid, 2 errored, of 12 planned",
            f"  - {run.tag}: 2 of 12 trials have errors that count, 16.7 %, expected at most 10 %",
            f"    fix: .venv/bin/python scripts/eval/prepare_resume.py {run.folder}",
            "next:",
            f"    .venv/bin/python scripts/eval/prepare_resume.py {run.folder}",
        ],
    )
    assert script.answer("--job-dir", tmp_path, "--skip-hf")["exit"] == 2


def test_a_run_without_a_trajectory_is_told_by_the_dry_run_too(script, emulator, eval_rows, run):
    for trial in run.truth.states:
        (run.folder / trial / "agent" / "trajectory.json").unlink()
    settle(run.folder)
    for more in ((), ("--apply",)):
        answer = script.answer("--job-dir", run.folder, *more)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["code"], problem["found"]) == (1, "no-traces", "no trial has a trajectory")
        assert problem["fix"] == "register its score alone: --skip-hf"
    assert (writes(emulator), eval_rows.everything()["sandbox_jobs"]) == (set(), [])
    assert script.answer("--job-dir", run.folder, "--skip-hf", "--apply")["exit"] == 0
