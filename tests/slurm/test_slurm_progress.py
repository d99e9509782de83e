"""The watcher on real arrays of a real cluster, called as a skill calls it."""

from __future__ import annotations

import json
import re
import signal

import pytest
from slurm_run import SlurmRun

from waiting import PATIENCE, text_of, wait_until

LINE = re.compile(
    r"\d\d:\d\d job (?P<job>\d+): (?P<left>\d+)% of (?P<tasks>\d+) tasks left; "
    r"(?P<done>\d+) done, (?P<failed>\d+) failed, "
    r"(?P<running>\d+) running, (?P<queued>\d+) queued, (?P<requeued>\d+) requeued(?:, (?P<unknown>\d+) unknown)?"
    r"(?:; results (?P<results>\d+)(?: of (?P<expected>\d+))?)?(?P<notes>(?:; .*)?)"
)


def progress(stdout):
    """The interval lines, as the figures in them."""
    found = [LINE.fullmatch(line) for line in stdout.splitlines() if re.match(r"\d\d:\d\d job \d+: \d+%", line)]
    assert None not in found, stdout
    return [line.groupdict() for line in found]


def lines(stdout, beginning):
    return [line for line in stdout.splitlines() if line.startswith(beginning)]


@pytest.fixture(scope="session")
def timeout_run(cluster, tmp_path_factory):
    """An array that SLURM ends by its time limit, which it looks at twice a minute: submitted before anything else."""
    run = SlurmRun(cluster, tmp_path_factory.mktemp("timeout") / "a workspace")
    run.job = run.submit(["hang-a"], ["write-b"], options=("--time=1",))
    run.wait_for(run.job, "COMPLETED", "RUNNING")
    run.wait_for_line(run.job, 0, "started: experiment=hang-a")  # of one that had not begun there is no log
    # Of an end that has passed when the controller comes to it, it says: Invalid time specified.
    cluster.output("scontrol", "update", f"jobid={run.job}_0", "EndTime=now+10")
    return run


@pytest.fixture(autouse=True)
def _timeout_under_way(timeout_run):
    """Every test of this module runs while that array does."""


def test_an_array_is_watched_to_its_end(run):
    job = run.submit(["write-a", "write-b"], ["write-c", "write-d"], ["write-e"], ["write-f"], throttle=1)
    done = run.watch(job, 4, expected=6)
    assert (done.returncode, done.stderr) == (0, "")
    *said, last = done.stdout.splitlines()
    assert last == f"DONE job {job}: 4 tasks, 4 done, 0 failed; results 6 of 6"
    shown = progress("\n".join(said))
    assert len(shown) == len(said) >= 1
    for line in shown:
        counts = [int(line[name] or 0) for name in ("done", "failed", "running", "queued", "requeued", "unknown")]
        assert sum(counts) == int(line["tasks"]) == 4
        assert int(line["left"]) == 100 - 25 * int(line["done"])
        assert (line["job"], line["expected"]) == (str(job), "6")
        assert re.match("(; STALLED: .*)?$", line["notes"])  # three short intervals may pass on a busy machine


def test_a_failed_item_fails_its_task_and_is_named_once(run):
    job = run.submit(["write-a", "fail-b", "write-c"], ["write-d"])
    done = run.watch(job, 2, expected=4)
    assert done.returncode == 2
    log = run.log(job, 0)
    assert lines(done.stdout, "FAILED") == [f"FAILED {job}_0: FAILED, exit code 1:0, log {log}"] or lines(
        done.stdout, "FAILED"
    ) == [f"FAILED {job}_0: FAILED, log {log}"]
    assert done.stdout.splitlines()[-3:-1] == [
        f"DONE job {job}: 2 tasks, 1 done, 1 failed ({job}_0); results 3 of 4 (1 of this array missing, 0 of others)",
        "  missing: experiment=fail-b dataset=my data repeat=0 fold=1",
    ]
    assert f"scripts/triage_run.py --log-dir '{run.logs}' --job-id {job}" in done.stdout.splitlines()[-1]
    again = run.watch(job, 2, expected=4)
    assert again.returncode == 2
    assert lines(again.stdout, "FAILED") == []
    assert len(again.stdout.splitlines()) == 3


def test_json_lines_say_the_same(run):
    job = run.submit(["fail-a"], ["write-b"])
    run.wait_for(job, "COMPLETED", "FAILED")
    done = run.watch(job, 2, "--once", "--json", expected=2)
    assert done.returncode == 2
    failure, shown, verdict = (json.loads(line) for line in done.stdout.splitlines())
    assert (failure["event"], failure["task"], failure["state"], failure["log_there"]) == ("failure", 0, "FAILED", True)
    assert (failure["job"], failure["node"], failure["log"]) == (job, "n1", str(run.log(job, 0)))
    assert (shown["tasks"], shown["done"], shown["failed"], shown["left_percent"]) == (2, 1, 1, 0.0)
    assert (shown["results"], shown["expected_results"], shown["results_partial"]) == (1, 2, False)
    assert (verdict["verdict"], verdict["exit"]) == ("DONE", 2)
    assert verdict["missing"] == [{"experiment": "fail-a", "dataset": "my data", "repeat": 0, "fold": 0}]


def test_a_requeued_task_is_not_failed_and_its_second_attempt_counts(run, cluster):
    job = run.submit(["wait-a"], ["wait-b"], options=("--requeue",))
    run.wait_for(job, "RUNNING", "RUNNING")
    cluster.output("scontrol", "requeue", f"{job}_0")
    cluster.output("scontrol", "requeuehold", f"{job}_1")
    wait_until(lambda: run.states(job) == ["PENDING"] * 2)
    wait_until(lambda: " requeued" in run.watch(job, 2, "--once").stdout.replace(" 0 requeued", ""))
    once = run.watch(job, 2, "--once", expected=2)
    assert once.returncode == 0
    (line,) = progress(once.stdout)
    assert (line["left"], line["requeued"], line["failed"], line["queued"]) == ("100", "2", "0", "0")
    assert line["notes"] == f"; {job}_1 held (job requeued in held state): scontrol release {job}_1"
    cluster.output("scontrol", "release", f"{job}_1")
    run.start_again(job, 0, 1)
    done = run.watch(job, 2, expected=2)
    assert (done.returncode, lines(done.stdout, "FAILED")) == (0, [])
    assert done.stdout.splitlines()[-1] == f"DONE job {job}: 2 tasks, 2 done, 0 failed; results 2 of 2"


def test_a_lost_node_fails_what_may_not_be_requeued(run, cluster):
    on_one_node = ("--partition=short", "--nodelist=n3")
    spot = run.submit(["wait-a"], options=("--requeue", *on_one_node))
    fixed = run.submit(["hang-b"], options=("--no-requeue", *on_one_node), label="fixed")
    run.wait_for(spot, "RUNNING")
    run.wait_for_line(fixed, 0, "started: experiment=hang-b")  # of one that had not begun there is no log
    cluster.output("scontrol", "update", "node=n3", "state=down", "reason=test")
    try:
        failed = run.watch(fixed, 1)
    finally:
        cluster.run("scontrol", "update", "node=n3", "state=resume")
    assert failed.returncode == 2
    (line,) = lines(failed.stdout, "FAILED")
    assert line.startswith(f"FAILED {fixed}_0: NODE_FAIL")
    assert line.endswith(f", log {run.log(fixed, 0)}")
    run.wait_for_line(fixed, 0, "DUE TO NODE FAILURE")
    run.wait_for(spot, "PENDING")
    run.start_again(spot, 0)
    done = run.watch(spot, 1)
    assert (done.returncode, lines(done.stdout, "FAILED")) == (0, [])


def test_a_cancelled_array_is_failed_and_what_never_began_is_named_together(run, cluster):
    job = run.submit(*[["hang-a"]] * 6, throttle=2)
    run.wait_for(job, *["RUNNING"] * 2, *["PENDING"] * 4)
    cluster.output("scancel", str(job))
    done = run.watch(job, 6)
    assert done.returncode == 2
    failures = {re.match(r"FAILED \d+_(\S+): CANCELLED", line)[1]: line for line in lines(done.stdout, "FAILED")}
    assert failures.keys() == {"0", "1", "[2-5]"}
    assert failures["[2-5]"].endswith("before it began")
    assert f"6 failed ({job}_[0-5])" in done.stdout


def test_what_was_cancelled_while_it_waited_is_failed_by_its_indices(run, cluster):
    """The scheduler forgets which they were: it lists them by the array's own id."""
    job = run.submit(*[["hang-a"]] * 8, throttle=2)
    run.wait_for(job, *["RUNNING"] * 2, *["PENDING"] * 6)
    cluster.output("scancel", "--state=PENDING", str(job))
    wait_until(lambda: "PENDING" not in run.states(job))
    once = run.watch(job, 8, "--once")
    (line,) = lines(once.stdout, "FAILED")
    assert re.fullmatch(rf"FAILED {job}_\[2-7\]: CANCELLED( by .*)?, before it began", line)
    assert (once.returncode, progress(once.stdout)[0]["running"]) == (2, "2")
    cluster.output("scancel", str(job))
    done = run.watch(job, 8)
    assert done.returncode == 2
    assert f"DONE job {job}: 8 tasks, 0 done, 8 failed ({job}_[0-7])" in done.stdout


def test_held_tasks_are_named_with_the_command_that_frees_them(run, cluster):
    job = run.submit(["write-a"], ["write-b"], options=("--hold",))
    done = run.watch(job, 2, "--once")
    assert done.returncode == 0
    (line,) = progress(done.stdout)
    command = f"scontrol release {job}_[0-1]"
    assert line["notes"] == f"; {job}_[0-1] held (JobHeldUser): {command}"
    cluster.output(*command.split())
    assert run.watch(job, 2, expected=2).returncode == 0


def test_a_timeout_is_a_failure(timeout_run):
    run, job = timeout_run, timeout_run.job
    done = run.watch(job, 2)
    assert done.returncode == 2
    (line,) = lines(done.stdout, "FAILED")
    assert line.startswith(f"FAILED {job}_0: TIMEOUT")
    assert line.endswith(f", log {run.log(job, 0)}")
    run.wait_for_line(job, 0, "DUE TO TIME LIMIT")


def test_missing_results_of_completed_tasks_are_named(run):
    job = run.submit(["write-a", "write-b"], ["write-c", "write-d"])
    run.wait_for(job, "COMPLETED", "COMPLETED")
    (run.data / "write-a" / "my_data-1" / "0_0" / "results.pkl").unlink()
    cut = run.data / "write-d" / "my_data-1" / "0_1" / "results.pkl"
    cut.write_bytes(cut.read_bytes()[:-100])
    done = run.watch(job, 2, expected=4)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-3:] == [
        f"INCOMPLETE job {job}: 2 results of tasks that ended well are missing; "
        "results 2 of 4 (2 of this array missing, 0 of others)",
        "  missing: experiment=write-a dataset=my data repeat=0 fold=0",
        "  missing: experiment=write-d dataset=my data repeat=0 fold=1",
    ]


def test_results_of_a_sibling_array_are_not_missing(run):
    slow = run.submit(["hang-a"], ["hang-b"], label="gpu")
    job = run.submit(["write-a"], ["write-b"], label="cpu")
    done = run.watch(job, 2, expected=4)
    assert done.returncode == 0
    text = f"DONE job {job}: 2 tasks, 2 done, 0 failed; results 2 of 4 (0 of this array missing, 2 of others)"
    assert done.stdout.splitlines()[-1] == text
    run.cluster.output("scancel", str(slow))


WITHOUT_ACCOUNTS = "accounting is off: counted from the queue and the results alone"


def test_without_accounting_queue_and_results_decide(bare_cluster, new_run):
    run = new_run(bare_cluster)
    job = run.submit(["write-a"], ["write-b"])
    done = run.watch(job, 2, expected=2)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        f"DONE job {job}: 2 tasks, 2 done, 0 failed; results 2 of 2; {WITHOUT_ACCOUNTS}"
    )
    shown = progress(run.watch(run.submit(["hang-a"], label="hang"), 1, "--once").stdout)
    assert shown[0]["notes"] == f"; {WITHOUT_ACCOUNTS}"
    job = run.submit(["fail-a"], ["write-b"], label="fail")
    done = run.watch(job, 2)
    assert done.returncode == 2
    assert lines(done.stdout, "FAILED") == [f"FAILED {job}_0: FAILED, log {run.log(job, 0)}"]


def test_accounting_that_does_not_answer_is_said(run, cluster):
    job = run.submit(["write-a"], ["hang-b"])
    run.wait_for(job, "COMPLETED", "RUNNING")
    done = run.watch(job, 2, "--once", SLURM_CONF=str(cluster.without_accounting))
    (line,) = progress(done.stdout)
    assert (done.returncode, line["done"], line["running"]) == (0, "1", "1")
    assert line["notes"] == (
        "; accounting does not answer (sacct: error: Problem talking to the database: Connection refused): "
        "counted from the queue and the results alone"
    )
    cluster.output("scancel", str(job))


def test_a_controller_that_is_down_is_waited_for(bare_cluster, new_run):
    run = new_run(bare_cluster)
    job = run.submit(["write-a"], ["write-b"])
    run.wait_for(job, "COMPLETED", "COMPLETED")
    bare_cluster.stop_controller()
    try:
        watcher = run.start_watch(job, 2, "--interval", "0.5", expected=2, SLURM_CONF=str(bare_cluster.impatient))
        first = watcher.stdout.readline()
    finally:
        bare_cluster.start_controller()
    said = (
        "no answer from the queue (squeue: slurm_load_jobs error: Unable to contact slurm controller (connect failure))"
    )
    assert re.fullmatch(rf"\d\d:\d\d job {job}: {re.escape(said)}; waiting until \d\d:\d\d\n", first)
    rest, _ = watcher.communicate(timeout=PATIENCE)
    assert watcher.returncode == 0
    assert rest.splitlines()[-1] == f"DONE job {job}: 2 tasks, 2 done, 0 failed; results 2 of 2; {WITHOUT_ACCOUNTS}"


def test_an_id_that_is_not_known_yet_is_waited_for(run, cluster):
    job = cluster.submit("true", "--output=/dev/null") + 1
    watcher = run.start_watch(job, 2, "--interval", "0.5", expected=2)
    first = watcher.stdout.readline()
    assert run.submit(["write-a"], ["write-b"]) == job
    rest, _ = watcher.communicate(timeout=PATIENCE)
    said = "neither the queue nor the accounts know it (squeue: slurm_load_jobs error: Invalid job id specified)"
    assert re.fullmatch(rf"\d\d:\d\d job {job}: {re.escape(said)}; waiting until \d\d:\d\d\n", first)
    assert watcher.returncode == 0
    assert rest.splitlines()[-1] == f"DONE job {job}: 2 tasks, 2 done, 0 failed; results 2 of 2"
    never = run.watch(999_999, 2, "--patience", "1")
    assert never.returncode == 2
    assert never.stdout.splitlines()[-1].startswith(f"UNKNOWN job 999999: {said}; given up")
    assert "DONE" not in never.stdout
    assert run.watch(999_999, 2, "--once").returncode == 2


def test_someone_elses_job_is_never_done(run):
    job = run.submit(["write-a"])
    run.wait_for(job, "COMPLETED")
    done = run.watch(job, 1, "--user", "somebody", "--patience", "1")
    assert done.returncode == 2
    assert "DONE" not in done.stdout
    text = "it belongs to root, not to somebody: is the id right? --user root if it is"
    assert done.stdout.splitlines()[-1].startswith(f"NOT YOURS job {job}: {text}; given up after")


def test_tasks_that_nothing_knows_are_never_done(run):
    job = run.submit(["write-a"], ["write-b"])
    run.wait_for(job, "COMPLETED", "COMPLETED")
    done = run.watch(job, 5, "--patience", "2")
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith(
        f"LOST job {job}: it has left the queue, and nothing says yet how {job}_[2-4] ended, "
        "and the accounts are late, or it was cancelled by itself while it waited; given up"
    )


def test_a_task_that_is_cancelled_by_itself_while_it_waits_is_one_of_them(run, cluster):
    """It leaves no row: the queue strikes it from the list of those that wait, and so do the accounts."""
    job = run.submit(["write-a"], ["write-b"], ["write-c"], options=("--hold",))
    cluster.output("scancel", f"{job}_1")
    cluster.output("scontrol", "release", str(job))
    run.wait_for(job, "COMPLETED", "COMPLETED")
    done = run.watch(job, 3, "--patience", "2")
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith(
        f"LOST job {job}: it has left the queue, and nothing says yet how {job}_1 ended, "
        "and the accounts are late, or it was cancelled by itself while it waited; given up"
    )


def test_filters_of_the_users_own_hide_nothing(run, cluster):
    job = run.submit(["write-a"], ["hang-b"], ["hang-c"], throttle=2)
    run.wait_for(job, "COMPLETED", "RUNNING", "RUNNING")
    for name, value in (("SQUEUE_STATES", "PENDING"), ("SQUEUE_FORMAT", "%i"), ("SLURM_BITSTR_LEN", "1")):
        (line,) = progress(run.watch(job, 3, "--once", **{name: value}).stdout)
        assert (line["done"], line["running"]) == ("1", "2"), name
    cluster.output("scancel", str(job))


def test_a_killed_watcher_goes_on_where_it_was(run, cluster):
    job = run.submit(["fail-a"], ["hang-b"], ["hang-c"])
    watcher = run.start_watch(job, 3, "--interval", "0.5")
    said = iter(watcher.stdout.readline, "")
    assert next(line for line in said if line.startswith("FAILED")).startswith(f"FAILED {job}_0: ")
    wait_until(lambda: '"0"' in text_of(run.logs / f".slurm_progress_{job}.json"))
    watcher.send_signal(signal.SIGKILL)
    watcher.communicate()
    cluster.output("scancel", f"{job}_1")
    watcher = run.start_watch(job, 3, "--interval", "0.5")
    said = iter(watcher.stdout.readline, "")
    failures = next(line for line in said if line.startswith("FAILED"))
    assert failures.startswith(f"FAILED {job}_1: CANCELLED")
    watcher.send_signal(signal.SIGINT)
    watcher.communicate()
    assert watcher.returncode == 130
    cluster.output("scancel", str(job))


def test_a_log_folder_that_is_not_there_is_said_and_the_cause_named(run):
    run.logs.rmdir()
    job = run.submit(["write-a"])
    done = run.watch(job, 1)
    assert done.returncode == 2
    (line,) = lines(done.stdout, "FAILED")
    assert f", no log at {run.log(job, 0)}" in line
    started = run.submit(["hang-a"], options=("--output=/dev/null",), label="other")
    run.wait_for(started, "RUNNING")
    (line,) = progress(run.watch(started, 1, "--once").stdout)
    assert line["notes"] == f"; no log folder yet: {run.logs}"
    run.cluster.output("scancel", str(started))


def test_a_stall_is_said_with_the_log_to_look_at(run, cluster):
    job = run.submit(["write-a"], ["hang-b"])
    run.wait_for(job, "COMPLETED", "RUNNING")
    watcher = run.start_watch(job, 2, "--interval", "0.3")
    stalled = next(line for line in iter(watcher.stdout.readline, "") if "STALLED" in line)
    watcher.kill()
    watcher.communicate()
    said = r"; STALLED: no new result for [\d.]+ s while tasks run; look at (.*)\n"
    assert re.search(said, stalled)[1] == str(run.log(job, 1))
    cluster.output("scancel", str(job))
