"""Triage of a real array, with the states of its tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from slurm_run import ROOT

from waiting import wait_until

SCRIPT = ROOT / "scripts" / "triage_run.py"


def triage(run, job):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--log-dir", str(run.logs), "--job-id", str(job), "--json"],
        env={**os.environ, **run.cluster.environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return json.loads(done.stdout)


def classes(answer):
    return {one["class"]: sorted(place["task"].partition("_")[2] for place in one["items"]) for one in answer["groups"]}


def test_states_say_what_the_logs_do_not(run, cluster):
    job = run.submit(
        ["write-a"], ["fail-b", "write-c"], ["weights-d"], ["card-e"], ["package-f"], ["hang-g"], ["hang-h"], throttle=6
    )
    wait_until(lambda: sorted(run.states(job)) == ["COMPLETED", *["FAILED"] * 4, *["RUNNING"] * 2])
    for task, name in ((5, "hang-g"), (6, "hang-h")):
        run.wait_for_line(job, task, f"started: experiment={name}")
    at_work = triage(run, job)
    assert at_work["exit"] == 1
    assert classes(at_work["data"]) == {
        "wrapper-traceback": ["1"], "weights-missing": ["2"], "gpu-memory": ["3"], "environment": ["4"]
    }  # fmt: skip
    cluster.output("scancel", str(job))
    wait_until(lambda: "RUNNING" not in run.states(job) and "COMPLETING" not in run.states(job))
    assert classes(triage(run, job)["data"])["cancelled"] == ["5", "6"]


def test_a_task_without_a_log_is_reported_by_its_state(run):
    job = run.submit(["write-a"], options=(f"--output={run.logs}/nowhere/slurm-%A_%a.out",))
    run.wait_for(job, "FAILED")
    wait_until(lambda: triage(run, job)["data"]["groups"][0]["class"] == "log-folder")
    (bundle,) = triage(run, job)["data"]["bundles"]
    assert (bundle["task"], bundle["state"], bundle["log"]) == (f"{job}_0", "FAILED", None)


def test_the_items_of_a_cancelled_array_are_all_named(run, cluster):
    """One task was at its first item, the other had not begun."""
    job = run.submit(["hang-a", "write-b"], ["write-c", "write-d"], throttle=1)
    run.wait_for(job, "RUNNING", "PENDING")
    run.wait_for_line(job, 0, "started: experiment=hang-a")
    cluster.output("scancel", str(job))
    wait_until(lambda: run.states(job) == ["CANCELLED", "CANCELLED"])
    said = triage(run, job)
    items = [(place["item"].split()[0], place["started"]) for place in said["data"]["groups"][0]["items"]]
    assert said["summary"] == "1 failure, 3 not started, 1 cause, in 2 of 2 tasks"
    assert sorted(items) == [
        ("experiment=hang-a", True), ("experiment=write-b", False),
        ("experiment=write-c", False), ("experiment=write-d", False),
    ]  # fmt: skip


def test_what_never_began_is_named_whatever_rows_the_scheduler_keeps_of_it(run, cluster):
    """Of tasks that were cancelled while they waited it keeps the array's own id, or no row at all."""
    job = run.submit(["hang-a"], *[["write-b"]] * 6, throttle=1)
    run.wait_for_line(job, 0, "started: experiment=hang-a")
    cluster.output("scancel", f"{job}_[1-2]")
    wait_until(lambda: len(run.states(job)) == 5)
    said = triage(run, job)
    (problem,) = said["problems"]
    assert (said["exit"], said["summary"]) == (1, "nothing is known to have failed in 7 tasks")
    assert (problem["code"], problem["where"]) == ("unknown-tasks", f"{job}_1, {job}_2")
    assert problem["found"] == "no row of the scheduler's says where they are or how they ended, and no log does"
    cluster.output("scancel", "--state=PENDING", str(job))
    wait_until(lambda: "PENDING" not in run.states(job))
    said = triage(run, job)
    assert classes(said["data"]) == {"cancelled": ["1", "2", "3", "4", "5", "6"]}
    assert (said["exit"], said["summary"]) == (1, "6 not started, 1 cause, in 6 of 7 tasks")
    cluster.output("scancel", str(job))


def test_an_array_whose_length_nobody_knows_is_no_success(bare_cluster, new_run):
    run = new_run(bare_cluster)
    job = run.submit(["hang-a"], *[["write-b"]] * 3, throttle=1)
    run.wait_for_line(job, 0, "started: experiment=hang-a")
    run.job_file(["a"]).unlink()
    bare_cluster.output("scancel", "--state=PENDING", str(job))
    wait_until(lambda: "PENDING" not in run.states(job))
    said = triage(run, job)
    bare_cluster.output("scancel", str(job))
    (unknown, waited) = said["problems"]
    assert (said["exit"], unknown["code"], unknown["where"]) == (1, "unknown-length", f"job {job}")
    assert unknown["found"] == "how many tasks it has is not known: no job file is known"
    assert (waited["code"], waited["where"]) == ("unknown-tasks", f"{job}_1")  # without accounts it may have ended
    assert classes(said["data"]) == {}
