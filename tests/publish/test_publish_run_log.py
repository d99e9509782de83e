"""What an entry says of a run: its commit and how that is known, its results and failures, and the text of all that."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.contract import Exit, Failure
from benchwright.files import RunPaths
from benchwright.launch.record import write_record
from benchwright.node.events import EventLog
from benchwright.processing.sidecar import NO_INPUTS, Sidecar
from benchwright.publish.run_log import LogRequest, apply_log_entry, plan_log_entry
from benchwright.publish.run_log.script import read_script
from benchwright.publish.run_log.settings import settings_of_text
from run_scripts import OLDER_PLAN, older_script

ROOT = Path(__file__).resolve().parents[2]
GENUINE = ROOT / "tests/data/tabarena_raw/data/LinearModel_c1_default_BAG_L1"
START = 1_893_456_000  # 2030-01-01 00:00:00 UTC
MINUTE, HOUR, DAY = 60, 3600, 86_400
NAME = "tabm_01022030"
PLAN = {
    "arena": "mini",
    "model_jobs": [
        {"models": [["XGBoost", 0], "KNN"], "name": "cpu", "resources": {}, "scheduler": {"bundle_size": 1}}
    ],
    "scheduler_setup": {"kind": "LocalSetup", "bundle_size": 5, "parallel": 1},
    "resources_setup": {"time_limit": None, "num_gpus": None},
}


def git(repository: Path, *words: str, at: int = START) -> str:
    """What git prints; what it writes bears the time ``at``."""
    own = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    env = os.environ | {"GIT_COMMITTER_DATE": f"@{at} +0130", "GIT_AUTHOR_DATE": f"@{at} +0130"}
    command = ["git", "-C", str(repository), *own, *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()


def commit(repository: Path, at: int) -> str:
    git(repository, "commit", "--quiet", "--allow-empty", "--message", f"at {at}", at=at)
    return git(repository, "rev-parse", "HEAD")


class Run:
    """A run on disk: a checkout with a log and a run script, and a workspace with what the run leaves there."""

    def __init__(self, folder: Path, name: str = NAME) -> None:
        self.checkout = folder / "a checkout"
        self.checkout.mkdir()
        git(self.checkout, "init", "--quiet")
        self.log = self.checkout / "BENCHMARK_LOG.md"
        self.log.write_text("# Runs\n")
        self.paths = RunPaths(folder / "w s", name)
        self.script = older_script(self.checkout / "tmp_scripts", workspace=self.paths.workspace, name=name)

    def plan(self, **changes):
        return plan_log_entry(replace(LogRequest(self.script), **changes))

    def bullets(self, **changes) -> dict[str, str]:
        """The entry's bullets by name, each on one line."""
        head = self.plan(**changes).entry.partition("\n```")[0]
        found = re.findall(r"^- \*\*(.*?):\*\* ?((?:.*\n(?:  .*\n)*))", head + "\n", re.M)
        return {name: " ".join(text.split()) for name, text in found}

    def record(
        self,
        identity: str,
        at: int,
        git: dict | None,
        *,
        total: int = 6,
        approved: int | None = None,
        protocol: str = "",
        plan: dict = PLAN,
        default_partition: str | None = None,
        **versions: str,
    ) -> Path:
        """A plan record as set-up writes it, of another time and commit."""
        path = write_record(
            self.paths,
            identity,
            plan=plan,
            job_files=[],
            experiments=[f"XGBoost_c1_{identity}", "KNN_c1"],
            tasks=["iris", "wine", "house"],
            protocol=protocol,
            approved=total if approved is None else approved,
            total=total,
            default_partition=default_partition,
            versions={"python": "3.11.7", "tabarena": "0.1.0", "torch": None} | versions,
        )
        then = {"set_up_at": f"{stamp(at + 2 * HOUR)}+0200", "git": git}
        path.write_text(json.dumps(json.loads(path.read_text()) | then))
        if approved != 0:
            approvals = self.paths.approvals(identity)
            *earlier, latest = json.loads(approvals.read_text())
            approvals.write_text(json.dumps([*earlier, latest | then]))
        return path

    def result(self, at: int, fold: int = 0) -> None:
        path = self.paths.result("XGBoost_c1", "iris", 0, fold)
        path.parent.mkdir(parents=True)
        shutil.copy(next(GENUINE.glob("*wine*/0_0/results.pkl")), path)
        os.utime(path, (at, at))

    def file(self, path: Path, at: int, content: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        os.utime(path, (at, at))

    def events(self, name: str, *events: tuple[int, str, dict]) -> None:
        """An event log of the runner's, last written at its last event."""
        log = EventLog(self.paths.logs / "local-1" / name)
        for at, kind, more in events:
            log({"time": at, "event": kind, **more})
        os.utime(log.path, (events[-1][0], events[-1][0]))


def stamp(at: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at))


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_the_record_of_the_set_up_names_the_commit(run):
    commit(run.checkout, START)
    run.record("1a2b3c4d", START + DAY, {"head": "a" * 40, "changed": False})
    run.result(START + DAY + MINUTE)
    plan = run.plan()
    assert run.bullets()["Git SHA"] == (
        f"`{'a' * 40}` (HEAD at set-up, by the record of set-up 1a2b3c4d, 2030-01-02 00:00:00 UTC; no local changes)"
    )
    assert plan.entry.startswith(f"## 2030-01-02 — {NAME}\n")
    assert plan.to_dict()["git"] == {
        "sha": "a" * 40,
        "how": "HEAD at set-up, by the record of set-up 1a2b3c4d, 2030-01-02 00:00:00 UTC",
        "at": START + DAY,
        "changed": False,
        "remarks": [],
    }
    assert plan.problems == ()


def test_a_checkout_with_local_changes_is_said(run):
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": True})
    assert run.bullets()["Git SHA"].endswith("2030-01-01 00:00:00 UTC; with local changes)")


def test_of_several_set_ups_the_earliest_counts_and_the_others_are_told(run):
    run.record("cccccccc", START + 2 * DAY, {"head": "c" * 40, "changed": True})
    run.record("aaaaaaaa", START, {"head": "a" * 40, "changed": False}, total=1_206)
    run.record("bbbbbbbb", START + DAY, {"head": "a" * 40, "changed": False})
    run.record("dddddddd", START + 3 * DAY, None)
    bullets = run.bullets()
    assert bullets["Git SHA"] == (
        f"`{'a' * 40}` (HEAD at set-up, by the record of set-up aaaaaaaa, 2030-01-01 00:00:00 UTC; no local changes); "
        "the record of set-up bbbbbbbb, 2030-01-02 00:00:00 UTC, has the same commit; "
        f"the record of set-up cccccccc, 2030-01-03 00:00:00 UTC, has `{'c' * 40}` with local changes; "
        "the record of set-up dddddddd, 2030-01-04 00:00:00 UTC, names no checkout"
    )
    assert bullets["Model(s)"].endswith("on mini; 5 configs, 3 tasks, 1,206 and 6 and 6 and 6 items")
    assert [one["identity"][0] for one in run.plan().to_dict()["set_ups"]] == ["a", "b", "c", "d"]


def test_the_set_up_that_a_run_was_launched_of_outlasts_the_one_that_confirms_it(run):
    states = [{"head": letter * 40, "changed": letter == "b"} for letter in "abcd"]
    for number, state in enumerate(states[:3]):
        run.record("1a2b3c4d", START + number * HOUR, state)
    run.record("1a2b3c4d", START + DAY, states[3], approved=0)
    launched = START + HOUR + MINUTE
    run.events("events.jsonl", (launched, "run-started", {}))
    plan = run.plan()
    assert run.bullets()["Git SHA"] == (
        f"`{'b' * 40}` (HEAD at set-up, by the record of set-up 1a2b3c4d, 2030-01-01 01:00:00 UTC; with local changes)"
        f"; the record of set-up 1a2b3c4d, 2030-01-01 02:00:00 UTC, has `{'c' * 40}`"
    )
    assert (plan.head.at, plan.problems) == (START + HOUR, ())
    (one,) = plan.to_dict()["set_ups"]
    assert (one["head"][0], [approval["head"][0] for approval in one["approvals"]]) == ("d", ["a", "b", "c"])


def test_before_anything_ran_the_latest_set_up_counts(run):
    for number, letter in enumerate("ab"):
        run.record("1a2b3c4d", START + number * HOUR, {"head": letter * 40, "changed": False})
    assert (run.plan().head.sha, run.plan().head.remarks) == ("b" * 40, ())


def test_set_ups_that_cannot_be_read_are_told_and_the_record_counts(run):
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    path = run.paths.approvals("1a2b3c4d")
    path.write_text("[1]")
    plan = run.plan()
    assert [str(problem) for problem in plan.problems] == [
        f"{path}: damaged, expected the set-ups of a plan that approved items\n    fix: remove it"
    ]
    assert plan.head.sha == "a" * 40


def test_when_results_are_older_than_the_record_the_reflog_tells_of_the_first_set_up(run):
    first, second = commit(run.checkout, START), commit(run.checkout, START + DAY)
    run.record("1a2b3c4d", START + DAY + HOUR, {"head": second, "changed": True})
    run.result(START + HOUR)
    assert run.bullets()["Git SHA"] == (
        f"`{first}` (HEAD at 2030-01-01 01:00:00 UTC, when the first result was written, by the reflog; whether with "
        "local changes is not known); set up again later: the record of set-up 1a2b3c4d, 2030-01-02 01:00:00 UTC, has "
        f"`{second}` with local changes"
    )
    assert run.plan().entry.startswith("## 2030-01-01 ")


def test_set_up_again_on_the_same_commit(run):
    sha = commit(run.checkout, START)
    run.record("1a2b3c4d", START + DAY, {"head": sha, "changed": False})
    run.events("events.jsonl", (START + HOUR, "run-started", {}))
    assert run.bullets()["Git SHA"] == (
        f"`{sha}` (HEAD at 2030-01-01 01:00:00 UTC, when the first log was written, by the reflog; whether with local "
        "changes is not known); set up again later: the record of set-up 1a2b3c4d, 2030-01-02 00:00:00 UTC, has the "
        "same commit"
    )


def test_the_reflog_of_another_checkout_is_no_evidence(run):
    commit(run.checkout, START)
    run.record("1a2b3c4d", START + DAY, {"head": "a" * 40, "changed": False})
    run.result(START + HOUR)
    assert run.bullets()["Git SHA"] == (
        f"`{'a' * 40}` (HEAD at set-up, by the record of set-up 1a2b3c4d, 2030-01-02 00:00:00 UTC; no local changes); "
        "the first result, 2030-01-01 01:00:00 UTC, is older, and HEAD then is not known"
    )
    assert run.plan().entry.startswith("## 2030-01-01 ")


def test_without_records_the_reflog_is_asked_for_the_first_file_of_the_run(run):
    commits = [commit(run.checkout, START + number * HOUR) for number in range(4)]
    git(run.checkout, "checkout", "--quiet", commits[0], at=START + 4 * HOUR)
    run.file(run.paths.job_file("gpu"), START + HOUR + MINUTE)
    run.file(run.paths.logs / "17" / "slurm-17_0.out", START + 2 * HOUR + MINUTE)
    run.result(START + 2 * HOUR + 2 * MINUTE)
    plan = run.plan()
    assert plan.problems == ()
    assert run.bullets()["Git SHA"] == (
        f"`{commits[1]}` (HEAD at 2030-01-01 01:01:00 UTC, when the first job file was written, by the reflog; whether "
        f"with local changes is not known); HEAD was `{commits[2]}` at 2030-01-01 02:01:00 UTC, when the first log was "
        f"written; HEAD was `{commits[2]}` at 2030-01-01 02:02:00 UTC, when the first result was written"
    )


@pytest.mark.parametrize(
    ("at", "number"), [(0, 0), (HOUR - 1, 0), (HOUR, 1), (4 * HOUR + 1, 0), (5 * HOUR, 3), (9 * DAY, 3)]
)
def test_head_at_a_moment_is_where_head_moved_last(run, at, number):
    commits = [commit(run.checkout, START + number * HOUR) for number in range(3)]
    git(run.checkout, "checkout", "--quiet", "-b", "side", commits[0], at=START + 4 * HOUR)
    commits.append(commit(run.checkout, START + 5 * HOUR))
    run.result(START + at)
    assert run.plan().head.sha == commits[number]


def test_a_reflog_that_begins_later_names_no_commit(run):
    commit(run.checkout, START + DAY)
    run.result(START + HOUR)
    plan = run.plan()
    how = (
        "no plan record, and the reflog begins at 2030-01-02 00:00:00 UTC, after 2030-01-01 01:00:00 UTC, when the "
        "first result was written"
    )
    assert run.bullets()["Git SHA"] == f"unknown ({how})"
    assert [str(problem) for problem in plan.problems] == [
        f"{run.checkout}: {how}, expected the commit that was HEAD at set-up\n"
        "    fix: name the run's checkout with --repo DIR, or write the commit into the entry if you know it"
    ]


def test_a_folder_that_is_no_checkout_names_no_commit(run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    run.result(START)
    plan = run.plan(repository=tmp_path / "elsewhere", log=run.log)
    assert plan.head.how == "no plan record, and elsewhere has no reflog"
    assert plan.head.sha is None


def test_a_record_of_installed_code_names_no_commit(run):
    commit(run.checkout, START)
    run.record("1a2b3c4d", START + DAY, None)
    assert run.bullets()["Git SHA"] == (
        "unknown (the record of set-up 1a2b3c4d, 2030-01-02 00:00:00 UTC, names no checkout)"
    )
    assert run.plan().problems[0].code == "unknown-commit"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: "",
        lambda content: content[:-20],
        lambda content: content.replace("aaaa", "not hexadecimal"),
        lambda content: content.replace('"total": 6', '"total": null'),
        lambda content: "[]",
    ],
)
def test_a_damaged_record_is_told_and_left_out(run, damage):
    commit(run.checkout, START)
    run.result(START + HOUR)
    path = run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    path.write_text(damage(path.read_text()))
    plan = run.plan()
    assert [str(problem) for problem in plan.problems] == [
        f"{path}: damaged, expected the record that a set-up wrote\n"
        "    fix: run setup of the plan that it is of, or remove it"
    ]
    assert plan.head.how.startswith("HEAD at 2030-01-01 01:00:00 UTC, when the first result")


def test_the_date_is_needed_when_nothing_of_the_run_is_there(run):
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"{run.paths.workspace}: nothing of {NAME}: no plan record, job file, log or result, expected the workspace of "
        "the run\n    fix: name it with --workspace DIR, or give the run's date with --date YYYY-MM-DD"
    )
    assert run.plan(date="2030-01-31").entry.startswith(f"## 2030-01-31 — {NAME}\n")
    bullets = run.bullets(date="2030-01-31")
    assert bullets["Git SHA"] == "unknown (no plan record, job file, log or result of the run is there)"
    assert (bullets["Wall time"], bullets["Results"], bullets["Failures"]) == (
        "unknown",
        "none yet",
        "unknown (no event log)",
    )


def at_work(fold: int, **more: object) -> dict:
    return {"experiment": "XGBoost_c1", "dataset": "iris", "repeat": 0, "fold": fold, **more}


def test_failures_come_from_the_event_logs(run):
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    run.events(
        "events.jsonl",
        (START + 10, "run-started", {"parallel": 2}),
        (START + 20, "item-failed", at_work(0, reason="ValueError: no `luck`\nat all", exit=1)),
        (START + 30, "item-failed", at_work(1, reason="ValueError: no `luck`\nat all", exit=1)),
        (START + 40, "item-failed", at_work(2, reason=None, exit=137)),
        (START + 50, "item-done", at_work(3)),
    )
    run.events(
        "events_1.jsonl",
        (START + HOUR, "run-started", {"parallel": 1}),
        (START + HOUR + 1, "item-done", at_work(0)),
        (START + HOUR + 2, "item-failed", at_work(2, reason="x" * 300, exit=1)),
    )
    with (run.paths.logs / "local-1" / "events_1.jsonl").open("a") as file:
        file.write('{"time": NaN, "event": "item-done"}\n[]\n{"time": 1, "event"')
    for fold in (0, 3):
        run.result(START + 50, fold)
    bullets = run.bullets(fixes=("more memory", "a newer library"))
    assert bullets["Failures"] == (
        "3 items failed at some time, 1 of them done since: `ValueError: no 'luck' at all` (2 items); "
        f"`{'x' * 200}...` (1 item); 2 of 6 items not started"
    )
    assert bullets["Fixes"] == "more memory; a newer library"
    assert bullets["Results"] == "2 of 6 items have a result file"
    assert bullets["Wall time"] == (
        "0:59:52 from the first event or result, 2030-01-01 00:00:10 UTC, to the last, 2030-01-01 01:00:02 UTC, "
        "pauses included"
    )
    assert bullets["Infrastructure"] == "`LocalSetup`, bundle_size 1 and 5, 1 and 2 items side by side"
    assert bullets["Packages"] == "python 3.11.7, tabarena 0.1.0"


def test_packages_of_all_set_ups_are_told_each_by_the_earliest(run):
    run.record("cccccccc", START + DAY, None, tabm="0.0.3", torch="2.9.1", tabarena="0.1.1")
    run.record("aaaaaaaa", START, None, pytabkit="1.7.0")
    assert run.bullets()["Packages"] == "python 3.11.7, tabarena 0.1.0, pytabkit 1.7.0, torch 2.9.1, tabm 0.0.3"


def test_an_array_is_told_by_its_id_and_partition_and_has_nothing_side_by_side(run):
    plan = PLAN | {"scheduler_setup": {"kind": "SlurmSetup", "cpu_partition": None, "bundle_size": 2}}
    run.record("1a2b3c4d", START, None, plan=plan, default_partition="cores")
    for job in (9, 12):
        for task in range(2):
            run.file(run.paths.logs / f"{job}" / f"slurm-{job}_{task}.out", START)
            log = EventLog(run.paths.logs / f"{job}" / f"events_{task}.jsonl")
            log({"time": START, "event": "run-started", "parallel": 1})
    told = "`SlurmSetup`, bundle_size 1 and 2, default partition cores, array"
    assert run.bullets()["Infrastructure"] == f"{told}s 9 and 12"
    shutil.rmtree(run.paths.logs / "12")
    assert run.bullets()["Infrastructure"] == f"{told} 9"


def test_the_bundles_of_a_launch_are_not_side_by_side(run):
    run.record("1a2b3c4d", START, None, plan=PLAN | {"scheduler_setup": {"kind": "SkyPilotSetup", "workers": 3}})
    log = EventLog(run.paths.logs / "demo-cpu-1-ab" / "events-00000.jsonl")
    log({"time": START, "event": "run-started", "parallel": 1})
    assert run.bullets()["Infrastructure"] == "`SkyPilotSetup`, workers 3, bundle_size 1"


def test_many_reasons_are_counted(run):
    failed = [(START + fold, "item-failed", at_work(fold, reason=f"reason {fold}")) for fold in range(7)]
    run.events("events.jsonl", *failed)
    assert run.bullets()["Failures"].endswith("`reason 4` (1 item); 2 more reasons")


def test_a_run_without_failures_says_so(run):
    run.events("events.jsonl", (START, "run-started", {}), (START + DAY, "run-ended", {}))
    bullets = run.bullets()
    assert bullets["Failures"] == "none in the event logs"
    assert bullets["Wall time"].startswith("1 day, 0:00:00 from the first event or result, ")


def test_what_a_cancelled_array_never_began_is_no_failure(run):
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    started = [(START + fold, "item-started", at_work(fold)) for fold in range(3)]
    run.events("events_0.jsonl", *started, (START + 3, "item-done", at_work(0)))
    run.events(
        "events_1.jsonl", (START + 4, "item-failed", at_work(1, reason="x")), (START + 5, "item-stopped", at_work(2))
    )
    run.result(START + 3)
    assert run.bullets()["Failures"] == (
        "1 item failed at some time, 0 of them done since: `x` (1 item); 1 item stopped or still at work; "
        "3 of 6 items not started"
    )
    shutil.rmtree(run.paths.logs)
    run.events("events_0.jsonl", *started[:1], (START + 3, "item-done", at_work(0)))
    assert run.bullets()["Failures"] == "none in the event logs; 5 of 6 items not started"


def test_without_events_the_wall_time_is_that_of_the_results(run):
    run.result(START, 0)
    run.result(START + 90, 1)
    assert run.bullets()["Wall time"] == (
        "0:01:30 from the first result, 2030-01-01 00:00:00 UTC, to the last, 2030-01-01 00:01:30 UTC, pauses included"
    )


def test_links_and_what_is_no_file_are_left_alone(run):
    run.result(START)
    elsewhere = run.paths.workspace / "elsewhere"
    shutil.copytree(run.paths.data, elsewhere)
    (run.paths.data / "linked").symlink_to(elsewhere)
    run.paths.logs.mkdir(parents=True)
    os.mkfifo(run.paths.logs / "events.jsonl")
    assert run.bullets()["Results"] == "1 result file"
    assert run.bullets()["Failures"] == "unknown (no event log)"


def test_a_skypilot_launch_is_told_line_by_line(run):
    launch = {
        "launch_id": "x-1",
        "n_tasks": 5,
        "spot": True,
        "env": {"hash": "4db2"},
        "commands": ["sky\nx"],
        "a": "b\nc",
    }
    run.file(run.paths.setup / "sky" / "gpu" / "launch.json", START, json.dumps(launch))
    run.file(run.paths.logs / "launch.json", START, "{")
    assert run.bullets()["SkyPilot launch"] == "launch_id x-1, n_tasks 5, spot True, env.hash 4db2"


def test_models_and_machine_come_from_the_script_where_no_record_is(run):
    run.result(START)
    bullets = run.bullets()
    assert bullets["Model(s)"] == "TabM (default config)"
    assert bullets["Infrastructure"] == (
        "`SlurmSetup`, gpu_partition gpu-96, bundle_size 2, num_gpus 1, fake_memory_for_estimates 96 GB"
    )
    assert "Packages" not in bullets


@pytest.mark.parametrize(
    ("models", "text"),
    [
        ("('A', 'all')", "A (all configs)"),
        ("[('A', 25), 'B']", "A (default config and 25 random), B"),
        ("[[('A', 0)], ('B', 0), ('A', 0)]", "A (default config), B (default config)"),
        ("chosen()", ""),
    ],
)
def test_the_models_of_a_plan(models, text):
    assert settings_of_text(f"ModelJob(models={models})").models_text == text


@pytest.mark.parametrize(
    ("job", "text"),
    [
        ("ModelJob(models=(MODEL, 200), name=f'{MODEL}_x')", "LightGBM (default config and 200 random)"),
        ("ModelJob((MODEL, COUNT))", "LightGBM (all configs)"),
        ("launcher.ModelJob(MODEL, 'gpu')", "LightGBM"),
        ("ModelJob(BOTH, name=f'{MODEL}')", "LightGBM (all configs), XGBoost (default config)"),
        ("ModelJob(TWICE)", ""),
        ("ModelJob(UNKNOWN)", ""),
        ("[ModelJob(MODEL) for MODEL in names()]", ""),
        ("Other(MODEL)", ""),
    ],
)
def test_the_models_of_a_plan_are_found_behind_the_names_at_its_top(job, text):
    top = (
        "MODEL: str = 'LightGBM'\nCOUNT = 'all'\nBOTH = [(MODEL, COUNT), ('XGBoost', 0)]\nUNKNOWN = chosen()\n"
        "TWICE = 'A'\nTWICE = 'B'\n"
    )
    assert settings_of_text(f"{top}plan = Plan(model_jobs=[{job}])\n").models_text == text


def test_settings_are_found_behind_the_names_at_the_top():
    plan = "SIZE = 5\nHOURS = 4 * 3600\nPlan(scheduler_setup=SlurmSetup(bundle_size=SIZE, time_limit=HOURS))\n"
    assert settings_of_text(plan).values == {"bundle_size": (5,)}


@pytest.mark.parametrize(
    "change",
    ["MODELS.append('KNN')", "MODELS[0] = 'KNN'", "MODELS += ['KNN']", "del MODELS[0]", "MODELS[0], rest = 'KNN', 1"],
)
def test_models_that_the_plan_changes_are_unknown(change):
    for text, models in [("", "TabM"), (f"{change}\n", "")]:
        plan = f"MODELS = ['TabM']\n{text}Plan(model_jobs=[ModelJob(models=MODELS)])\n"
        assert settings_of_text(plan).models_text == models


@pytest.mark.parametrize(
    ("change", "values"),
    [
        ("", {"num_gpus": (1,)}),
        ("GPUS['num_gpus'] = 4", {}),
        ("GPUS.update(num_gpus=count())", {}),
        ("GPUS |= more()", {}),
    ],
)
def test_settings_that_the_plan_changes_are_not_told_as_they_were(change, values):
    assert settings_of_text(f"GPUS = {{'num_gpus': 1}}\n{change}\nPlan(resources=GPUS)\n").values == values


@pytest.mark.parametrize("job", ["models=(MODEL, 200), name=f'{MODEL}_x'", "(MODEL, NUM_CONFIGS)"])
def test_the_model_of_a_run_without_a_record_is_not_taken_for_another(run, info, job):
    run.result(START)
    source = run.script.read_text()
    run.script.write_text(source.replace('models=(MODEL, NUM_CONFIGS),\n                name="gpu"', job))
    assert run.script.read_text() != source
    with pytest.raises(Failure) as caught:
        run.plan(reference="models.info:xgb", repository=run.checkout)
    assert caught.value.problems[0].code == "method-differs"
    assert run.bullets(reference="models.info:tabm", repository=run.checkout)["Model(s)"].startswith("TabM (default")


def test_of_two_partitions_the_one_that_jobs_go_to_is_told(run):
    jobs = [{"models": "A", "resources": {"num_gpus": 1, "fake_memory_for_estimates": 96}}]
    setup = {"kind": "SlurmSetup", "cpu_partition": "cpu", "gpu_partition": "gpu", "exclusive_node": True}
    run.record("1a2b3c4d", START, None, plan={"model_jobs": jobs, "scheduler_setup": setup})
    assert run.bullets()["Infrastructure"] == (
        "`SlurmSetup`, gpu_partition gpu, exclusive_node True, num_gpus 1, fake_memory_for_estimates 96 GB"
    )


READING = """
def setup(args, shell):
    schedulers = {"local": LocalSetup(parallel=args.parallel), "skypilot": SkyPilotSetup(store=args.store)}
    with shell.progress("setup") as progress:
        setup_jobs(Plan(scheduler_setup=schedulers[args.scheduler]), progress=progress)
"""


def test_the_values_of_arguments_that_the_plan_reads_are_those_of_the_record(run):
    run.script.write_text(run.script.read_text().partition("def setup")[0] + READING)
    run.result(START)
    assert "Arguments" not in run.bullets()
    run.record("1a2b3c4d", START, None)
    assert run.bullets()["Arguments"] == "parallel `1`, scheduler `local`, by the plan record; not recorded: store"
    sky = {"kind": "SkyPilotSetup", "store": "gs://BUCKET/x", "pool": True, "accelerators": None}
    run.record("5e6f7a8b", START + HOUR, None, plan=PLAN | {"scheduler_setup": sky})
    assert run.bullets()["Arguments"] == (
        "parallel `1`, scheduler `local` and `skypilot-pool`, store `gs://BUCKET/x`, by the plan record"
    )


def test_a_plan_that_takes_no_arguments_has_none_to_tell(run):
    run.record("1a2b3c4d", START, None)
    assert "Arguments" not in run.bullets()


def test_purpose_and_notes_come_from_the_docstring(run):
    run.result(START)
    words = "w " * 55
    assert (
        "- **Purpose:** Benchmark TabM on TabArena-v0.1.\n"
        "- **Notes:** TabM notes:\n"
        "  - Extra deps: tabm>=0.0.3\n"
        "  - Partition: 96 GB of memory, for three jobs at once\n"
        "  - Asked for in issue 12.\n"
        f"  - Given {words.strip()}\n"
        "    \\- no list of its own\n"
        "- **Infrastructure:** "
    ) in run.plan(notes=(f"Given {words}- no\nlist of its own",)).entry
    assert run.bullets(purpose="Another one.")["Purpose"] == "Another one."


def test_no_absolute_path_is_kept_from_texts(run):
    run.result(START)
    told = {"purpose": "As in /home/alice/old runs/notes.md.", "notes": ("see /home/alice/x/y ",)}
    bullets = run.bullets(**told, fixes=("moved /scratch/bob/tmp away",))
    assert "alice" not in str(bullets) and "bob" not in str(bullets)
    assert bullets["Purpose"].startswith("As in <path>")
    assert bullets["Fixes"] == "moved <path> away"
    assert run.plan(**told).entry.count("see <path>") == 1


def test_the_plan_is_fenced_whatever_it_holds(run):
    run.result(START)
    entry = run.plan().entry
    assert entry.endswith(f"\n\n```python\n{OLDER_PLAN.replace('/shared/workspace', str(run.paths.workspace))}```\n")
    run.script.write_text(run.script.read_text().replace("# Whole nodes", "# ````"))
    entry = run.plan().entry
    assert "\n\n`````python\nfrom tabflow_slurm import " in entry
    assert entry.endswith("\n`````\n")


def test_what_the_metadata_declares_is_told(run):
    run.result(START)
    info = run.checkout / "src" / "models" / "info.py"
    info.parent.mkdir(parents=True)
    info.write_text(
        "tabm = MethodMetadata.config(method='TabM', ag_key='TA-TABM', suite='runs-2030', validation_protocol='8x1')\n"
        "bare = MethodMetadata.config(method='TabM', ag_key='TA-TABM')\n"
    )
    bullets = run.bullets(reference="models.info:tabm", repository=run.checkout)
    assert bullets["Validation protocol"] == "`8x1`, as `models.info:tabm` declares"
    # The suite may be one of an earlier run, unless someone says that this run was processed to it.
    assert bullets["Artifacts"] == "metadata `models.info:tabm` (suite `runs-2030`), as declared"
    bullets = run.bullets(reference="models.info:tabm", repository=run.checkout, suite="runs-2030")
    assert bullets["Artifacts"] == "suite `runs-2030`, metadata `models.info:tabm`"
    assert run.bullets(suite="runs-2030")["Artifacts"] == "suite `runs-2030`"
    bullets = run.bullets(reference="models.info:bare", repository=run.checkout)
    assert bullets["Artifacts"] == "metadata `models.info:bare`, as declared"
    bullets = run.bullets(reference="models.info:bare", repository=run.checkout, suite="runs-2031")
    assert bullets["Validation protocol"] == "unknown"
    assert bullets["Artifacts"] == "suite `runs-2031`, metadata `models.info:bare`"
    assert "Artifacts" not in run.bullets()
    with pytest.raises(Failure) as caught:
        run.plan(reference="models.info:tabm", repository=run.checkout, suite="other")
    assert str(caught.value) == (
        "--suite: other, and models.info:tabm declares runs-2030, expected one suite\n"
        "    fix: leave --suite out, or correct the metadata"
    )


INFO = """\
tabm = MethodMetadata.config(method='TabM', ag_key='TA-TABM', suite='runs-2030')
gpu = MethodMetadata.config(method='TA-TabM_GPU', ag_key='T', suite='runs-2030')
xgb = MethodMetadata.config(method='XGBoost', ag_key='XGB', suite='runs-2030')
"""


@pytest.fixture
def info(run):
    """The declarations of a run's checkout."""
    path = run.checkout / "src" / "models" / "info.py"
    path.parent.mkdir(parents=True)
    path.write_text(INFO)
    return {"repository": run.checkout}


def test_the_metadata_of_another_method_is_refused(run, info):
    run.result(START)
    with pytest.raises(Failure) as caught:
        run.plan(reference="models.info:xgb", **info)
    assert caught.value.exit == Exit.NO
    assert caught.value.problems[0].code == "method-differs"
    assert str(caught.value) == (
        "--method-metadata models.info:xgb: XGBoost, expected TabM\n"
        "    fix: name the declaration of the method that this script ran"
    )
    assert run.plan(reference="models.info:gpu", **info).entry
    # A run's record says more than its script: which models, and what their configs are called.
    run.record("1a2b3c4d", START, None)
    assert run.plan(reference="models.info:xgb", **info).entry
    with pytest.raises(Failure) as caught:
        run.plan(reference="models.info:tabm", **info)
    assert caught.value.problems[0].expected == "XGBoost, KNN"


def test_a_protocol_that_is_not_declared_is_that_of_the_artifact(run, info, tmp_path):
    run.result(START)
    options = info | {"reference": "models.info:tabm", "cache_root": tmp_path / "cache"}
    assert run.bullets(**options)["Validation protocol"] == "unknown"
    folder = tmp_path / "cache" / "artifacts" / "runs-2030" / "methods" / "TabM"
    folder.mkdir(parents=True)
    sidecar = Sidecar("TabM", "runs-2030", "8x1", {"8x1": 9}, {}, {}, NO_INPUTS, {})
    (folder / "provenance.json").write_text(sidecar.to_json())
    assert run.bullets(**options)["Validation protocol"] == (
        "`8x1`, as the `provenance.json` of `TabM` in the suite `runs-2030` records"
    )
    shown = {"8 children, 8 folds x 1 repeat": 1_054, "8x1 requested; 1 child via use_child_oof": 3}
    (folder / "provenance.json").write_text(replace(sidecar, validation_protocol=None, protocols=shown).to_json())
    assert run.bullets(**options)["Validation protocol"] == (
        "no one key; by the `provenance.json` of `TabM` in the suite `runs-2030` the results show "
        "8 children, 8 folds x 1 repeat (1,054), 8x1 requested; 1 child via use_child_oof (3)"
    )


def test_the_protocol_is_what_the_arena_requires(run, info):
    run.record("1a2b3c4d", START, None, protocol="8x1")
    required = "`8x1`, as the arena `mini` requires by the plan record"
    assert run.bullets()["Validation protocol"] == required
    for key, text in [("8x1", f"{required} and `models.info:xgb` declares"),
                      ("holdout:0.2", f"{required}; `holdout:0.2`, as `models.info:xgb` declares")]:  # fmt: skip
        declared = f"ag_key='XGB', validation_protocol={key!r}"
        (run.checkout / "src" / "models" / "info.py").write_text(INFO.replace("ag_key='XGB'", declared))
        assert run.bullets(reference="models.info:xgb", **info)["Validation protocol"] == text


def test_a_secret_in_the_script_is_hidden(run, monkeypatch):
    monkeypatch.setenv("A_SECRET", "not-for-the-log")
    run.result(START)
    run.script.write_text(run.script.read_text().replace("gpu-96", "not-for-the-log"))
    assert "not-for-the-log" not in run.plan().entry
    assert 'gpu_partition="[hidden]"' in run.plan().entry


WRITTEN_OUT = 'expected a text, written out\n    fix: write it at the top of the script, as NAME = "..."'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "{script}: no BENCHMARK_NAME at its top, " + WRITTEN_OUT),
        ("BENCHMARK_NAME = 3", "{script}:31: BENCHMARK_NAME is 3, " + WRITTEN_OUT),
        ("BENCHMARK_NAME = name()", "{script}:31: BENCHMARK_NAME is a call of name(...), " + WRITTEN_OUT),
        (
            "BENCHMARK_NAME = 'a'\nBENCHMARK_NAME += 'b'",
            "{script}:31: BENCHMARK_NAME is bound in 2 places, " + WRITTEN_OUT,
        ),
        (
            "BENCHMARK_NAME = '<benchmark_name>'",
            "{script}:31: the marker <benchmark_name> is not filled, expected a value\n"
            "    fix: scripts/new_benchmark.py MODEL fills every marker, or write the value there",
        ),
        (
            "BENCHMARK_NAME = '../up'",
            "benchmark_name: '../up', expected letters, digits, '.', '_' and '-', at most 128 characters\n"
            "    fix: give it so, by --name or as BENCHMARK_NAME in the run script",
        ),
    ],
)
def test_a_name_that_is_not_written_out_is_refused(run, line, message):
    run.script.write_text(run.script.read_text().replace(f'BENCHMARK_NAME = "{NAME}"', line))
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == message.format(script=run.script)


def test_a_workspace_that_is_computed_is_given(run):
    source = run.script.read_text().replace(f'"{run.paths.workspace}"', "str(Path.home() / 'x')")
    run.script.write_text(source)
    run.result(START)
    with pytest.raises(Failure) as caught:
        run.plan()
    assert str(caught.value) == (
        f"{run.script}:32: WORKSPACE is a call of str(...), expected a text, written out\n"
        "    fix: name it with --workspace DIR"
    )
    assert run.plan(workspace=run.paths.workspace).entry.count("WORKSPACE") == 2


def test_a_workspace_may_be_a_path(run):
    source = run.script.read_text().replace(f'"{run.paths.workspace}"', f'Path("{run.paths.workspace}")')
    run.script.write_text(source)
    run.result(START)
    assert f'workspace=Path("{run.paths.workspace}"), ' in run.plan().entry


def test_everything_that_is_wrong_is_said_at_once(run, tmp_path):
    run.script.write_text('BENCHMARK_NAME = "<name>"\n')
    with pytest.raises(Failure) as caught:
        run.plan(log=tmp_path / "none.md", date="2030-02-30", reference="models.info:x", repository=run.checkout)
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("usage", "--date"),
        ("no-setup-function", str(run.script)),
        ("unfilled-marker", f"{run.script}:1"),
        ("identity", str(run.script)),
        ("no-log", str(tmp_path / "none.md")),
        ("module", "models.info"),
    ]
    assert str(caught.value.problems[0]) == (
        "--date: '2030-02-30', expected a date, YYYY-MM-DD\n"
        "    fix: write it so, or leave --date out for that of set-up"
    )
    assert str(caught.value.problems[4]) == (
        f"{tmp_path}/none.md: no such file or directory, expected a benchmark log\n"
        "    fix: name it with --log FILE; a new log starts as an empty file"
    )


def test_the_log_of_a_tabarena_checkout_is_found(run):
    theirs = run.checkout / "packages" / "tabflow_slurm" / "BENCHMARK_LOG.md"
    theirs.parent.mkdir(parents=True)
    run.log.rename(theirs)
    run.result(START)
    assert run.plan().log == theirs


def test_a_link_to_the_log_stays_one(run):
    (run.checkout / "docs").mkdir()
    real = run.log.rename(run.checkout / "docs" / "real.md")
    run.log.symlink_to("docs/real.md")
    run.result(START)
    assert apply_log_entry(run.plan())
    assert run.log.is_symlink()
    assert f"— {NAME}\n" in real.read_text()


def test_a_link_out_of_the_repository_is_not_written_through(run, tmp_path):
    real = run.log.rename(tmp_path / "an other.md")
    run.log.symlink_to(real)
    run.result(START)
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        f"{run.log}: a link out of the repository, to {real}, expected a file in {run.checkout}\n"
        f"    fix: name the file itself: --log '{real}'"
    )
    assert apply_log_entry(run.plan(log=real))
    assert f"— {NAME}\n" in real.read_text()


def test_a_log_that_may_not_be_written_is_refused_where_something_is_to_be_written(run):
    run.log.chmod(0o444)
    run.result(START)
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.ENVIRONMENT
    assert str(caught.value) == (
        f"{run.log}: not writable, expected a checkout of yours\n    fix: chmod u+w '{run.log}'"
    )
    assert run.log.read_text() == "# Runs\n"
    run.log.chmod(0o600)
    assert apply_log_entry(run.plan())
    assert run.log.stat().st_mode & 0o777 == 0o600
    run.log.chmod(0o444)
    assert run.plan().entry is None


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("pipe", "no regular file, expected a benchmark log"),
        ("folder", "is a directory, expected a benchmark log"),
        ("latin-1", "not UTF-8 (byte 3), expected a benchmark log\n    fix: save it as UTF-8"),
    ],
)
def test_what_is_no_log_is_told(run, kind, found):
    run.log.unlink()
    if kind == "pipe":
        os.mkfifo(run.log)
    elif kind == "folder":
        run.log.mkdir()
    else:
        run.log.write_bytes("# L\xe4ufe\n".encode(kind))
    run.result(START)
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value).startswith(f"{run.log}: {found}")


@pytest.mark.parametrize("before", [b"# Runs\r\n", b"# Runs", b"", b"# Runs\r\n\r\n## 2029-01-01 \xe2\x80\x94 old"])
def test_line_ends_and_a_missing_last_one_are_kept(run, before):
    run.log.write_bytes(before)
    run.result(START)
    assert apply_log_entry(run.plan())
    after = run.log.read_bytes()
    end = b"\r\n" if b"\r" in before else b"\n"
    head, _, old = before.partition(b"## ")
    assert after.startswith(head)
    assert after.endswith(b"## " + old if old else b"```" + end)
    added = after[len(head) : len(after) - len(b"## " + old) if old else None]
    assert added.count(b"\n") == added.count(end) > 10
    assert run.plan().entry is None


def test_a_script_that_is_no_text_is_told(run):
    run.script.write_bytes(run.script.read_bytes() + b"# \xff\n")
    with pytest.raises(Failure) as caught:
        run.plan()
    assert caught.value.exit == Exit.USAGE
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("not-python", str(run.script))
    assert problem.found.startswith("not Python: 'utf-8' codec can't decode byte 0xff in position ")


def test_an_entry_that_is_there_is_left_alone(run):
    run.log.write_text(f"# Runs\n\n## 2030-01-01 — other\n\n## 2029-12-31 — {NAME} (by hand)\n")
    before = run.log.read_bytes()
    plan = run.plan()
    assert (plan.line, plan.entry, plan.changes_file) == (5, None, False)
    assert apply_log_entry(plan) is False
    assert run.log.read_bytes() == before


def test_an_entry_of_the_run_gets_what_was_not_known_yet(run, info):
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    run.log.write_text("# Runs\r\n\r\n## 2029-12-30 \N{EM DASH} old\r\n\r\n- **Artifacts:** unknown\r\n", newline="")
    assert apply_log_entry(run.plan(notes=("by someone",), purpose="kept"))
    first = run.log.read_bytes()
    options = info | {"reference": "models.info:xgb", "suite": "runs-2030", "purpose": "other", "notes": ("other",)}
    run.events("events.jsonl", (START + MINUTE, "run-started", {"parallel": 2}))
    run.record("1a2b3c4d", START, {"head": "b" * 40, "changed": True}, protocol="8x1")

    plan = run.plan(**options)
    assert (plan.entry, plan.completes) == (None, ("Validation protocol", "Wall time", "Failures", "Artifacts"))
    assert [line for line in plan.diff() if line[0] in "+-"][2:] == [
        "-- **Validation protocol:** unknown",
        "+- **Validation protocol:** `8x1`, as the arena `mini` requires by the plan record",
        "-- **Wall time:** unknown",
        "-- **Failures:** unknown (no event log)",
        "+- **Wall time:** 0:00:00 from the first event or result, 2030-01-01 00:01:00 UTC, to the last, 2030-01-01 "
        "00:01:00 UTC,",
        "+  pauses included",
        "+- **Failures:** none in the event logs; 6 of 6 items not started",
        "+- **Artifacts:** suite `runs-2030`, metadata `models.info:xgb`",
    ]
    assert run.log.read_bytes() == first
    assert apply_log_entry(plan)
    after = run.log.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n")
    assert after.index(b"**Packages:**") < after.index(b"**Artifacts:** suite") < after.index(b"```python")
    assert after.endswith(first[first.index(b"```python") :])
    again = run.plan(**options | {"suite": "runs-2031", "reference": None})
    assert (again.completes, again.changes_file) == ((), False)


def test_what_someone_wrote_into_an_entry_stays(run, info):
    run.result(START)
    assert apply_log_entry(run.plan())
    text = run.log.read_text()
    text = text.replace("**Validation protocol:** unknown", "**Validation protocol:** unknown (I asked)")
    text = text.replace("**Failures:** unknown (no event log)", "**Failures:** none yet")
    text = text.replace("\n\n```", "\n- **Artifacts**: `by hand`\n\n```", 1)
    run.log.write_text(text)
    (run.checkout / "src" / "models" / "info.py").write_text(INFO.replace("'T'", "'T', validation_protocol='8x1'"))
    run.events("events.jsonl", (START, "run-started", {}))
    plan = run.plan(reference="models.info:gpu", suite="runs-2030", **info)
    assert plan.completes == ("Failures",)
    assert apply_log_entry(plan)
    assert run.log.read_text() == text.replace("none yet", "none in the event logs")
    # A script that was changed since is not what the entry is of.
    run.log.write_text(text)
    run.script.write_text(run.script.read_text().replace("gpu-96", "gpu-80"))
    assert not run.plan(reference="models.info:gpu", suite="runs-2030", **info).changes_file


def test_a_log_that_changed_in_between_is_not_written(run):
    run.result(START)
    plan = run.plan()
    run.log.write_text("# Others\n")
    with pytest.raises(Failure) as caught:
        apply_log_entry(plan)
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        f"{run.log}: changed since it was read, expected the file of the plan\n    fix: run this again"
    )
    assert run.log.read_text() == "# Others\n"


def test_boilerplate_of_the_templates_is_no_note(tmp_path):
    script = tmp_path / "run_x.py"
    script.write_text(
        '"""Benchmark X.\n\n    setup   does it\n\nIt needs y.\n\nThe identities below are written once, so that\n'
        'no step differs.\n\nGenerated by the ``benchmark-model`` skill.\n"""\n'
    )
    assert read_script(script).paragraphs == ("Benchmark X.", "It needs y.")


def test_the_template_of_our_log_has_the_bullets_of_an_entry(run):
    run.script.write_text(run.script.read_text().partition("def setup")[0] + READING)
    run.record("1a2b3c4d", START, {"head": "a" * 40, "changed": False})
    template = (ROOT / "BENCHMARK_LOG.md").read_text().partition("````markdown\n")[2].partition("````")[0]
    bullets = run.bullets(fixes=("more memory",), suite="runs-2030")
    assert re.findall(r"^- \*\*(.*?):\*\*", template, re.M) == list(bullets)
