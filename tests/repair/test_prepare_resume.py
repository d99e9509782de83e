"""The script prepare_resume: what leaves a job's folder, what real Harbor makes of the rest, and every way back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from contextlib import ExitStack

import pytest

from audit_runs import settle, snapshot
from benchwright.audit import JobFacts
from benchwright.contract import redact
from benchwright.files import FileLock
from benchwright.rehearsal.harbor_jobs import KINDS, JobShape, grow_job
from benchwright.repair.resume.prepare import resume_command
from kills import kills
from scripts_in_process import Script

MIXED = ("pass", "fail", "timeout-scored", "timeout", "no-sandbox", "cut-off", "unfinished")


@pytest.fixture
def script(capsys, settings):
    return Script.named("eval/prepare_resume", capsys)


def grown(root, kinds=MIXED, name="job", **shape):
    """A job of some kinds of trials, long ago."""
    folder = root / "jobs" / name
    truth = grow_job(folder, kinds, JobShape(**shape))
    settle(folder)
    return folder, truth


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_dir() or path.is_symlink())


def moved_folder(folder, leg=1):
    return folder.parent / ".before-resume" / folder.name / f"leg-{leg:02d}" / "folders"


def moved(folder, leg=1):
    return names(moved_folder(folder, leg))


def finished(trial):
    return json.loads((trial / "result.json").read_text())["finished_at"]


def rewritten(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def codes(answer):
    return [problem["code"] for problem in answer["problems"]]


def test_real_harbor_completes_the_job_and_leaves_the_valid_trials_as_they_are(script, bench):
    job = bench.root / "jobs" / "done"
    (job / "notes").mkdir()
    (job / "notes" / "why.txt").write_text("of someone\n")
    (damaged,) = [name for name in names(job) if name.startswith("right")][:1]
    (job / damaged / "result.json").write_text('{"id": "cut')
    settle(job / damaged)
    answer = script.answer(job, "--apply")
    gone = [name for name in moved(job) if name.startswith("shaky")]
    assert len(gone) == 2
    assert moved(job) == sorted([*gone, damaged, "notes"])
    assert answer["data"]["applied"] is True
    assert answer["summary"] == "done: 4 folders moved (1 corrupt, 1 foreign, 2 unscored), 5 valid trials stay"
    before = {name: snapshot(job / name) for name in names(job)}
    bench.mend()
    run_as_printed(bench, answer["next"])
    after = {name: snapshot(job / name) for name in names(job)}
    assert {name: after[name] for name in before} == before
    aggregate = json.loads((job / "result.json").read_text())
    assert aggregate["finished_at"] is not None
    assert (aggregate["n_total_trials"], aggregate["stats"]["n_completed_trials"], len(after)) == (8, 8, 8)
    assert aggregate["stats"]["evals"]["oracle__tasks"]["n_trials"] == 8
    again = script.answer(job)
    assert (again["summary"], again["next"]) == (
        "DRY RUN: nothing written; done: nothing to move, 8 valid trials stay", []
    )  # fmt: skip
    assert script.answer(job, "--undo", "--apply")["exit"] == 5


def run_as_printed(bench, commands):
    """Run the commands as they are printed, with Harbor on the path."""
    for command in commands:
        subprocess.run(command, shell=True, cwd="/", env=bench.environment, check=True, capture_output=True)


def test_exactly_what_has_no_reward_moves(script, tmp_path):
    folder, truth = grown(tmp_path, tuple(KINDS), attempts=len(KINDS))
    answer = script.answer(folder, "--apply")
    assert answer["exit"] == 0, answer["problems"]
    assert moved(folder) == sorted(name for name, state in truth.states.items() if state != "valid")
    assert names(folder) == sorted(name for name, state in truth.states.items() if state == "valid")


def test_of_too_many_trials_the_newest_valid_ones_stay(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "fail", "no-sandbox"), attempts=3)
    rewritten(folder / "config.json", n_attempts=1)
    settle(folder)
    answer = script.answer(folder, "--apply")
    kinds = {move["name"]: move["kind"] for move in answer["data"]["folders"][0]["moves"]}
    (stays,) = names(folder)
    others = [name for name in kinds if kinds[name] == "surplus"]
    assert sorted(kinds.values()) == ["surplus", "unscored"]
    assert finished(folder / stays) > finished(moved_folder(folder) / others[0])


def test_a_dry_run_changes_nothing_and_says_how_to_go_on(script, tmp_path):
    folder, _ = grown(tmp_path)
    before = snapshot(tmp_path)
    code, lines = script.run(folder)
    assert code == 0
    assert (lines[0], lines[-1]) == (
        "DRY RUN: nothing written; job: 4 folders to move (1 corrupt, 1 missing, 2 unscored), 3 valid trials stay",
        "DRY RUN: nothing written",
    )
    assert snapshot(tmp_path) == before
    (command,) = [line.strip() for line in lines if line.endswith("--apply")]
    subprocess.run(shlex.split(command), check=True, capture_output=True, cwd="/")
    assert len(moved(folder)) == 4


def test_links_and_hidden_folders_are_saved_too(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "pass"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (folder / "link").symlink_to("../../elsewhere")
    (folder / ".cache").mkdir()
    answer = script.answer(folder, "--apply")
    assert moved(folder) == [".cache", "link"]
    assert (elsewhere / "file").exists()
    assert answer["data"]["notes"] == ["Harbor would delete, and they are saved with the trials: .cache, link"]
    script.answer(folder, "--undo", "--apply")
    assert (folder / "link" / "file").exists()


def test_errors_outside_the_filter_are_flags_but_for_those_of_valid_trials(script, tmp_path):
    folder, _ = grown(tmp_path, ("timeout-scored", "timeout", "no-sandbox", "not-valid", "not-valid"))
    answer = script.answer(folder)
    assert answer["data"]["flags"] == ["--filter-error-type DaytonaValidationError"]
    _, lines = script.run(folder)
    assert "  DaytonaValidationError is outside the filter (2 trials); without this preparation a resume needs " in (
        "\n".join(lines)
    )
    late = "AgentTimeoutError is outside the filter (1 trial), and no flag would do: "
    assert f"  {late}--filter-error-type AgentTimeoutError deletes 1 with a reward as well" in lines


def test_a_filter_that_deletes_valid_trials_is_told(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    for path in folder.glob("*/result.json"):
        content = json.loads(path.read_text())
        if content["exception_info"] is None:
            path.write_text(json.dumps(content | {"exception_info": {"exception_type": "CancelledError"}}))
    settle(folder)
    told = "a resume by filter harbor deletes valid trials: 1 of CancelledError; the command below deletes none"
    assert script.answer(folder, "--filter", "harbor")["data"]["notes"] == [told]
    wrong = script.answer(folder, "--filter", "nobody's")
    assert (wrong["exit"], wrong["summary"]) == (2, 'no filter is called "nobody\'s"')


def test_a_job_that_may_be_live_is_left_alone(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "fail", "timeout", "no-sandbox"))
    rewritten(folder / "result.json", finished_at=None)
    for path in folder.glob("*/result.json"):
        path.touch()
    answer = script.answer(folder, "--apply")  # its result was written just now
    assert (answer["exit"], codes(answer), answer["next"]) == (5, ["live"], [])
    assert answer["summary"].startswith("nothing was moved; job: 2 folders to move")
    assert answer["problems"][0]["found"] == "the job is still writing: touch nothing"
    assert script.answer(folder, "--apply", "--ended")["exit"] == 0


@pytest.fixture
def forgetful_cluster(settings, tmp_path):
    """A scheduler whose queue is empty, and whose accounts know of nothing."""
    for name in ("squeue", "sacct"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    settings.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_a_job_of_a_scheduler_that_does_not_answer_is_left_alone_whatever_is_said(script, tmp_path, settings):
    folder, _ = grown(tmp_path)
    (folder / "meta.env").write_text("SLURM_JOB_ID=4711\n")
    settings.setenv("PATH", str(tmp_path))
    answer = script.answer(folder, "--apply", "--ended")
    assert (answer["exit"], codes(answer)) == (5, ["no-scheduler", "no-scheduler", "liveness-unknown"])
    assert answer["problems"][2]["fix"] == "name the scheduler's job with --slurm-job-id"
    assert len(names(folder)) == 7


def test_nobody_resumes_what_is_rejected_or_was_resumed_enough(script, tmp_path, forgetful_cluster):
    folder, _ = grown(tmp_path)
    (folder / ".no-resume").touch()
    (folder / "meta.env").write_text("RESUME_COUNT=1\n")
    answer = script.answer(folder, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["rejected", "resume-limit"])
    assert answer["problems"][1] == {
        "code": "resume-limit",
        "where": f"{folder}/meta.env",
        "found": "resumed once",
        "expected": "fewer than 1 resume",
        "fix": "look at what keeps failing first; to go on all the same: --max-resume-count 2",
    }
    (folder / ".no-resume").unlink()
    assert script.answer(folder, "--max-resume-count", "2")["exit"] == 0


def test_a_resume_by_harbor_alone_counts_as_well(script, tmp_path):
    folder, _ = grown(tmp_path)
    script.answer(folder, "--apply")
    rewritten(folder / "result.json", updated_at="2026-09-02T10:00:00")
    late = moved(folder)[0]
    (moved_folder(folder) / late).rename(folder / f"{late[:-7]}0000000")
    settle(folder)
    answer = script.answer(folder, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["resume-limit"])


def test_configurations_that_harbor_would_not_take_are_told_and_real_harbor_does_not(script, bench):
    job = bench.root / "jobs" / "done"
    (one, other) = [name for name in names(job) if name.startswith("right")]
    rewritten(job / one / "config.json", timeout_multiplier=16.0)
    rewritten(job / "config.json", timeout_multiplier=2.0)
    (job / other / "config.json").unlink()
    answer = script.answer(job, "--apply")
    assert (answer["exit"], codes(answer)) == (1, ["no-trial-config", "config-conflict", "config-conflict"])
    assert answer["problems"][1]["found"].startswith("nothing in 4 of its trials (late__")
    assert answer["problems"][2] == {
        "code": "config-conflict",
        "where": "timeout_multiplier",
        "found": f"16.0 in 1 of its trials ({one})",
        "expected": "2.0, as in the job's config.json",
        "fix": "resume it with the settings that it was launched with; these trials were run with others",
    }
    with pytest.raises(AssertionError, match=r"Existing trial config does not match planned job config|No such file"):
        bench.harbor("job", "resume", "--job-path", job, "--filter-error-type", "")


def test_a_port_that_was_rewritten_in_one_place_alone_is_told_as_such(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    address = "http://localhost:{}/v1"
    agent = {"name": "terminus-2", "model_name": "hosted_vllm/1774950145766573"}
    rewritten(folder / "config.json", agents=[agent | {"kwargs": {"api_base": address.format(23456)}}])
    for path in folder.glob("*/config.json"):
        rewritten(path, agent=agent | {"kwargs": {"api_base": address.format(12345)}})
    settle(folder)
    answer = script.answer(folder)
    assert (answer["exit"], codes(answer)) == (1, ["port-conflict"])
    assert answer["problems"][0]["where"] == "agent.kwargs.api_base"
    assert answer["problems"][0]["expected"] == "'http://localhost:23456/v1', as in the job's config.json"
    told = (
        "the model must be served at http://localhost:23456/v1 again, or both configurations be given its new address"
    )
    assert told in answer["data"]["notes"]


def test_an_installed_harness_needs_its_tunnel(script, tmp_path, monkeypatch):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    agent = {"name": "openhands", "model_name": "hosted_vllm/org/model"}
    rewritten(folder / "config.json", agents=[agent])
    for path in folder.glob("*/config.json"):
        rewritten(path, agent=agent)
    settle(folder)
    dry = script.answer(folder)
    assert (dry["exit"], codes(dry)) == (0, ["no-tunnel"])
    answer = script.answer(folder, "--apply")
    assert (answer["exit"], codes(answer)) == (3, ["no-tunnel"])
    assert answer["problems"][0]["found"] == (
        "openhands calls the model from within its sandbox, and EVAL_PINGGY_URL and EVAL_PINGGY_TOKEN are not set"
    )
    monkeypatch.setenv("EVAL_PINGGY_URL", "free.a.pinggy.link")
    monkeypatch.setenv("EVAL_PINGGY_TOKEN", "not-to-be-seen-1")
    done = script.answer(folder, "--apply")
    assert done["exit"] == 0
    variables = ("OPENAI_API_BASE", "OPENAI_BASE_URL", "LLM_BASE_URL")
    public = "".join(f"{name}=https://$EVAL_PINGGY_URL/v1 " for name in variables)
    assert done["next"] == [f"{public}harbor job resume --job-path {folder} --filter-error-type ''"]
    assert "not-to-be-seen" not in json.dumps(done)


def test_the_schedulers_own_command_resumes_where_it_is_known(tmp_path):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    ended = JobFacts(phase="ended", state="TIMEOUT", told_by="sacct", submit="cd '/a b' && sbatch eval.sbatch x")
    assert resume_command(folder, ended) == "cd '/a b' && sbatch eval.sbatch x"
    rewritten(folder / "config.json", agents=[{"name": "swe-agent", "model_name": "hosted_vllm/org/model"}])
    tunnel = "EVAL_PINGGY_URL=$EVAL_PINGGY_URL EVAL_PINGGY_TOKEN=$EVAL_PINGGY_TOKEN"
    assert resume_command(folder, ended) == f"cd '/a b' && {tunnel} sbatch eval.sbatch x"
    assert redact(resume_command(folder, ended)) == resume_command(folder, ended)


def test_legs_with_another_retry_policy_are_not_comparable(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    rewritten(folder / "config.json", retry={"max_retries": 2, "exclude_exceptions": ["ContextLengthExceededError"]})
    settle(folder)
    later = tmp_path / "next.yaml"
    later.write_text("retry: {max_retries: 2, exclude_exceptions: [RewardFileEmptyError]}\n")
    assert script.answer(folder)["data"]["comparable"] is True
    answer = script.answer(folder, "--config-yaml", later)
    assert (answer["exit"], answer["data"]["comparable"]) == (0, False)
    changed = "the retry policy has changed between the legs: "
    assert answer["data"]["changes"] == [
        f"{changed}now tried again: ContextLengthExceededError",
        f"{changed}now final: RewardFileEmptyError",
    ]
    _, lines = script.run(folder, "--config-yaml", later)
    assert f"  not directly comparable with runs of one leg: {changed}now final: RewardFileEmptyError" in lines


def test_shards_are_prepared_each(script, tmp_path):
    folders = [grown(tmp_path, ("pass", "no-sandbox"), f"run_shard{number}")[0] for number in range(2)]
    answer = script.answer(tmp_path / "jobs" / "run", "--apply")
    assert [len(moved(folder)) for folder in folders] == [1, 1]
    assert len(answer["next"]) == 2


def test_two_at_once_is_one_too_many(script, tmp_path):
    folder, _ = grown(tmp_path)
    with ExitStack() as held:
        held.enter_context(FileLock(tmp_path / "jobs" / ".before-resume" / "job" / "lock", "preparing"))
        assert (script.answer(folder, "--apply")["exit"], len(names(folder))) == (5, 7)


def test_undo_puts_everything_back_where_it_was(script, tmp_path):
    folder, _ = grown(tmp_path)
    before = contents(folder)
    script.answer(folder, "--apply")
    dry = script.answer(folder, "--undo")
    assert (dry["summary"], dry["data"]["applied"]) == ("DRY RUN: nothing written; 4 folders to move back", False)
    answer = script.answer(folder, "--undo", "--apply")
    assert (answer["summary"], answer["data"]["legs"][0]["state"]) == ("4 folders moved back", "undone")
    assert contents(folder) == before
    nothing = script.answer(folder, "--undo", "--apply")
    assert (nothing["exit"], nothing["summary"]) == (2, "nothing was moved out of it")
    script.answer(folder, "--apply")
    assert len(moved(folder, 2)) == 4


def contents(folder):
    """What a folder holds, but for the times that a name came or went."""
    return {path: (facts[0], facts[-1]) for path, facts in snapshot(folder).items()}


def test_an_undo_does_not_overwrite_what_came_since(script, tmp_path):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox"))
    (folder / "notes").mkdir()
    script.answer(folder, "--apply")
    (folder / "notes").mkdir()
    answer = script.answer(folder, "--undo", "--apply")
    assert (answer["exit"], codes(answer), answer["problems"][0]["where"]) == (5, ["contested"], "notes")
    assert len(moved(folder)) == 2


@pytest.mark.parametrize("undo", [False, True], ids=["prepare", "undo"])
def test_killed_at_any_step_and_run_again_it_ends_where_it_should(script, tmp_path, undo):
    folder, _ = grown(tmp_path, ("pass", "no-sandbox", "cut-off"), "origin")
    if undo:
        script.answer(folder, "--apply")
    origin, work = tmp_path / "jobs", tmp_path / "work"
    words = ("--undo", "--apply") if undo else ("--apply",)

    def fresh():
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(origin, work)

    expected = None
    steps = 0
    for steps in kills(lambda: script.run(work / "origin", *words), fresh):  # noqa: B007
        script.answer(work / "origin", *words)
        found = sorted(str(path.relative_to(work)) for path in work.rglob("*") if not path.name.endswith(".tmp"))
        expected = expected or found
        assert found == expected
    assert steps > 8
    assert len(names(work / "origin")) == (3 if undo else 1)
