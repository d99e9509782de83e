"""Calls of the real clients: their answers, and every way of having none."""

from __future__ import annotations

import os
import signal

import pytest
from slurm_cluster import CPUS, MAX_ARRAY_SIZE, wait_until

from benchwright.slurm import CallError, Clients, Phase, Trouble, read_attempts, read_limits, read_queue, try_submission


def ended(rows):
    return sorted(row.tasks for row in rows if row.state.phase in (Phase.DONE, Phase.FAILED))


@pytest.fixture
def clients(cluster):
    return Clients(environment={**os.environ, **cluster.environment})


def test_queue_and_accounts_agree_in_the_end(run, clients):
    job = run.submit(["write-a"], ["fail-b"])
    run.wait_for(job, "COMPLETED", "FAILED")
    queue = read_queue(clients, job)
    assert {row.tasks: row.state.name for row in queue} == {(0,): "COMPLETED", (1,): "FAILED"}
    assert all(row.command == f"{run.submit_script} {run.job_file(['write-a'], ['fail-b'])}" for row in queue)
    wait_until(lambda: ended(read_attempts(clients, job)) == [(0,), (1,)], 20)
    accounts = read_attempts(clients, job)
    states = {row.tasks: (row.state.name, row.exit_code) for row in accounts}
    assert states == {(0,): ("COMPLETED", "0:0"), (1,): ("FAILED", "1:0")}
    assert {(row.submit, row.start) for row in accounts} == {(row.submit, row.start) for row in queue}


def test_limits_are_those_of_the_cluster(clients):
    limits = read_limits(clients)
    assert (limits.array_size, limits.accounting) == (MAX_ARRAY_SIZE, True)
    assert set(limits.partitions) == {"cpu", "short", "closed"}
    assert limits.default_partition.name == "cpu"
    assert (limits.partitions["short"].longest, limits.partitions["short"].cpus) == (7200, 2 * CPUS)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (["--array=0-20000"], None),
        (["--array=0-20001"], "Invalid job array specification"),
        (["--partition=nowhere"], "Invalid partition name specified"),
        (["--cpus-per-task=64"], "Requested node configuration is not available"),
        (["--gres=gpu:1"], "Invalid generic resource (gres) specification"),
    ],
)
def test_a_submission_is_tried_without_being_made(run, clients, options, refusal):
    answer = try_submission(clients, [*options, str(run.submit_script)])
    if refusal is None:
        assert answer.startswith("sbatch: Job ")
        assert "to start at" in answer
    else:
        assert (answer.program, answer.trouble) == ("sbatch", Trouble.REFUSED)
        assert refusal in answer.message


def test_accounting_that_is_off(bare_cluster):
    clients = Clients(environment={**os.environ, **bare_cluster.environment})
    assert read_attempts(clients, 1).trouble is Trouble.ACCOUNTING_OFF
    assert not read_limits(clients).accounting


def test_accounting_that_does_not_answer_in_time(cluster):
    clients = Clients(seconds=0.5, environment={**os.environ, **cluster.environment})
    daemon = int((cluster.folder / "run" / "slurmdbd.pid").read_text())
    os.kill(daemon, signal.SIGSTOP)
    try:
        answer = read_attempts(clients, 1)
    finally:
        os.kill(daemon, signal.SIGCONT)
    assert answer == CallError("sacct", Trouble.TIMEOUT, "no answer within 0.5 s")


def test_a_machine_without_slurm(tmp_path):
    clients = Clients(environment={"PATH": str(tmp_path)})
    missing = "not installed on this machine, or not on the PATH"
    assert read_queue(clients, 1) == CallError("squeue", Trouble.NO_CLIENT, missing)
    assert read_limits(clients) == CallError("scontrol", Trouble.NO_CLIENT, missing)


def test_clients_without_a_cluster():
    answer = read_queue(Clients(environment={"PATH": "/usr/bin:/bin"}), 1)
    assert answer.trouble is Trouble.NO_CLUSTER
    assert answer.message == "fatal: Could not establish a configuration source"


def test_a_job_that_never_was(clients):
    assert read_queue(clients, 999_999).trouble is Trouble.UNKNOWN_JOB
    assert read_attempts(clients, 999_999) == ()
