"""``scripts/triage_run.py``: the logs of a run, put in order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "tests" / "data" / "slurm" / "logs"
WELL = "##### item 1/1 started: {item}\n##### bundle summary: ok=1 failed=0\n".format(item="experiment=a fold=0")
RUN_SCRIPT = 'BENCHMARK_NAME = "demo_30112026"\nPYTHON_PATH = "/venv/bin/python"\n'


@pytest.fixture
def folder(tmp_path):
    """An array's log folder, and the run script that launched it."""
    logs = tmp_path / "slurm_out" / "demo_30112026" / "7"
    logs.mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run_demo.py").write_text(RUN_SCRIPT)
    (tmp_path / "scripts" / "run_other.py").write_text(RUN_SCRIPT.replace("demo_", "other_"))
    return logs


def put(folder, *names):
    for number, name in enumerate(names):
        shutil.copy(LOGS / f"{name}.out", folder / f"slurm-7_{number}.out")


def triage(folder, *options, **environment):
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "triage_run.py"), "--log-dir", str(folder), *options],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def answer(folder, *options, **environment):
    scripts = folder.parents[2] / "scripts"
    done = triage(folder, "--json", "--script-dir", str(scripts), *options, **environment)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_equal_causes_are_grouped_and_the_relaunch_is_named(folder):
    put(folder, "one_item_failed", "requeued", "three_in_a_row", "package_missing")
    said = answer(folder)
    assert (said["exit"], said["summary"]) == (1, "5 failures, 2 causes, in 3 of 4 tasks")
    first, second = said["data"]["groups"]
    assert (first["class"], first["count"], second["class"]) == ("wrapper-traceback", 4, "environment")
    assert first["items"][0] == {
        "item": "experiment=fail-b dataset=my data repeat=0 fold=1",
        "started": True,
        "task": "7_0",
        "log": str(folder / "slurm-7_0.out"),
    }
    bundles = [(one["task"], one["ok"], one["failed"], one["not_run"]) for one in said["data"]["bundles"]]
    assert {one["not_started"] for one in said["data"]["bundles"]} == {said["data"]["not_started"]} == {0}
    assert bundles == [("7_0", 2, 1, 0), ("7_2", 0, 3, 2), ("7_3", 1, 1, 0)]
    assert said["next"] == [f"/venv/bin/python {folder.parents[2]}/scripts/run_demo.py setup"]
    assert said["data"]["ask_now"] == []


def test_many_items_of_one_cause_are_a_decision(folder):
    put(folder, "three_in_a_row", "three_in_a_row")
    said = answer(folder)
    assert said["data"]["ask_now"] == ["wrapper-traceback: 6 items fail for one reason"]


def test_lost_nodes_need_no_launch(folder):
    put(folder, "node_lost")
    said = answer(folder)
    assert (said["exit"], said["next"]) == (1, [])


def test_a_run_in_which_nothing_failed(folder):
    put(folder, "requeued")
    said = answer(folder)
    assert (said["exit"], said["ok"], said["summary"], said["next"]) == (0, True, "nothing failed in 1 tasks", [])


def test_the_report_for_people(folder):
    put(folder, "card_exhausted", "timeout")
    done = triage(folder, "--script-dir", str(folder))
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "3 failures, 1 not started, 2 causes, in 2 of 2 tasks"
    assert lines[1].startswith("gpu-memory, 2 failures: torch.OutOfMemoryError: CUDA out of memory.")
    assert lines[2:5] == [
        "    means: folds side by side on the card, or one table too large for it",
        "    do: confirm fake_memory_for_estimates; for one wide table "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the wrapper's warm-up, a smaller support size, or its "
        "folds one after another",
        "    ask if: the dataset cannot fit the card even with its folds one after another",
    ]
    assert lines[5] == f"    experiment=card-a dataset=my data repeat=0 fold=0, {folder}/slurm-7_0.out"
    where = lines.index(f"    experiment=hang-b dataset=my data repeat=0 fold=1, {folder}/slurm-7_1.out")
    assert lines[where + 1] == f"    item 3/3, not started, {folder}/slurm-7_1.out"
    assert lines[-5:] == [
        "by task; what is ok has its result:",
        "    7_0: ok=0 failed=2",
        "    7_1: ok=1 failed=0, 1 not started",
        f"  - {folder}: no run script of benchmark demo_30112026, whose setup launches what is missing, "
        "expected the run's own",
        "    fix: name its folder: --script-dir DIR",
    ]
    assert "next:" not in done.stdout


def test_a_folder_outside_of_a_workspace_may_be_the_benchmarks_own(folder, tmp_path):
    put(folder, "timeout")
    elsewhere = tmp_path / "copied" / "7"
    shutil.copytree(folder, elsewhere)
    (problem,) = json.loads(triage(elsewhere, "--json", "--script-dir", str(tmp_path)).stdout)["problems"]
    assert (problem["code"], problem["where"]) == ("no-run-script", str(tmp_path))
    assert problem["found"] == "no run script of benchmark copied or 7, whose setup launches what is missing"


def test_the_logs_of_a_local_run(folder):
    shutil.copy(LOGS / "one_item_failed.out", folder / "bundle_0.log")
    assert [one["task"] for one in answer(folder)["data"]["bundles"]] == ["bundle 0"]


def test_logs_above_the_arrays_folder_are_its_own_if_they_bear_its_id(folder):
    shutil.copy(LOGS / "one_item_failed.out", folder.parent / "slurm-7_3.out")
    shutil.copy(LOGS / "timeout.out", folder.parent / "slurm-8_0.out")
    assert [one["task"] for one in answer(folder)["data"]["bundles"]] == ["7_3"]


def test_no_folder_and_no_logs_are_said(folder, tmp_path):
    said = answer(folder)
    assert (said["exit"], said["problems"][0]["code"]) == (1, "no-logs")
    done = triage(tmp_path / "nowhere", "--json")
    assert json.loads(done.stdout)["exit"] == 2
    assert json.loads(done.stdout)["summary"] == f"{tmp_path}/nowhere is no folder"


def test_a_log_that_cannot_be_read_is_no_success(folder):
    put(folder, "requeued")
    (folder / "slurm-7_1.out").symlink_to("slurm-7_1.out")
    (folder / "slurm-7_2.out").mkdir()
    said = answer(folder)
    assert (said["exit"], said["data"]["tasks"], said["data"]["failed"]) == (1, 3, 0)
    assert [(one["code"], one["where"], one["found"]) for one in said["problems"]] == [
        ("unreadable-log", f"{folder}/slurm-7_1.out", "Too many levels of symbolic links"),
        ("unreadable-log", f"{folder}/slurm-7_2.out", "Is a directory"),
    ]


def test_a_number_that_is_no_id_is_wrong_usage(folder):
    for number in ("-1", "0", "x", str(2**32)):
        done = triage(folder, f"--job-id={number}")
        assert (done.returncode, f"{number!r} is no array's id" in done.stdout + done.stderr) == (2, True)


def test_the_benchmarks_own_folder_names_the_relaunch(folder):
    shutil.copy(LOGS / "timeout.out", folder.parent / "slurm-7_0.out")
    scripts = folder.parents[2] / "scripts"
    done = triage(folder.parent, "--json", "--script-dir", str(scripts))
    assert json.loads(done.stdout)["next"] == [f"/venv/bin/python {scripts}/run_demo.py setup"]


def test_a_scheduler_that_is_not_there_leaves_the_logs(folder, tmp_path):
    put(folder, "timeout")
    said = answer(folder, "--job-id", "7", PATH=str(tmp_path))
    assert (said["exit"], said["data"]["groups"][0]["class"]) == (1, "timeout")
    assert [problem["code"] for problem in said["problems"]] == ["scheduler-silent"] * 2
    assert said["problems"][0]["found"] == "sacct: not installed on this machine, or not on the PATH"


@pytest.fixture
def clients(tmp_path):
    """``squeue`` and ``sacct`` that print these rows; an ``sacct`` without rows does not reach its database."""

    def stand_in(queued, booked=None):
        path = tmp_path / "clients"
        path.mkdir()
        (path / "squeue").write_text(f"#!/bin/sh\ncat <<'EOF'\n{queued}\nEOF\n")
        down = (LOGS.parent / "error_accounting_down.txt").read_text()
        told = f"cat <<'EOF'\n{booked}\nEOF" if booked else f"cat >&2 <<'EOF'\n{down}\nEOF\nexit 1"
        (path / "sacct").write_text(f'#!/bin/sh\ncase "$*" in *SubmitLine*) exit 1;; esac\n{told}\n')
        for client in path.iterdir():
            client.chmod(0o755)
        return {"PATH": f"{path}:/usr/bin:/bin"}

    return stand_in


SENT = "2026-11-30T09:00:00"
LAST_ROWS = f"7_3|COMPLETED|None|me|{SENT}|{SENT}|n1|/submit.sh x", f"7|CANCELLED|None|me|N/A|{SENT}||/submit.sh x"


@pytest.mark.parametrize("rows", [LAST_ROWS, LAST_ROWS[1:]])
def test_what_the_queue_has_forgotten_was_not_cancelled_where_accounts_do_not_answer(folder, clients, rows):
    """The plain id is of some that waited; others may have ended too long ago for the queue."""
    for number in range(3):
        (folder / f"slurm-7_{number}.out").write_text(WELL)
    said = answer(folder, "--job-id", "7", **clients("\n".join(rows)))
    assert (said["data"]["groups"], said["data"]["bundles"], said["next"]) == ([], [], [])
    assert (said["exit"], [problem["code"] for problem in said["problems"]]) == (1, ["unknown-length"])
    assert said["summary"] == f"nothing is known to have failed in {2 + len(rows)} tasks"


def test_a_task_whose_log_tells_its_end_was_not_cancelled_while_it_waited(folder, clients):
    """The accounts have lost its row, and name those that waited by the plain id alone."""
    (folder / "slurm-7_2.out").write_text(WELL)
    booked = f"7_[0-1,4]|COMPLETED|0:0|me|{SENT}|{SENT}|n1\n7|CANCELLED by 0|0:0|me|{SENT}|Unknown|None assigned"
    said = answer(folder, "--job-id", "7", **clients(LAST_ROWS[1], booked))
    items = [(place["task"], place["started"]) for one in said["data"]["groups"] for place in one["items"]]
    assert items == [("7_3", True)]
