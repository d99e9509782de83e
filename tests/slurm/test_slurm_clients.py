"""Calls of the real clients: their answers, and every way of having none."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from slurm_cluster import CPUS, MAX_ARRAY_SIZE

from benchwright.slurm import CallError, Clients, Phase, Trouble, read_attempts, read_limits, read_queue
from benchwright.slurm.nodes import read_nodes
from waiting import wait_until


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
    wait_until(lambda: ended(read_attempts(clients, job)) == [(0,), (1,)])
    accounts = read_attempts(clients, job)
    states = {row.tasks: (row.state.name, row.exit_code) for row in accounts}
    assert states == {(0,): ("COMPLETED", "0:0"), (1,): ("FAILED", "1:0")}
    assert {(row.submit, row.start) for row in accounts} == {(row.submit, row.start) for row in queue}
    number_of_task = int(run.cluster.output("squeue", "-h", "-t", "all", "-j", f"{job}_0", "-o", "%A"))
    assert number_of_task != job
    assert read_queue(clients, number_of_task) == read_attempts(clients, number_of_task) == ()
    assert read_attempts(clients, job + 2**32) == (), "SLURM itself takes it for the job"


def test_limits_are_those_of_the_cluster(clients):
    limits = read_limits(clients)
    assert limits.array_size == MAX_ARRAY_SIZE
    assert set(limits.partitions) == {"cpu", "short", "closed"}
    assert limits.default_partition.name == "cpu"
    assert limits.partitions["short"].longest == 7200
    assert {(node.partition, node.cpus, node.gpus) for node in read_nodes(clients)} == {
        (name, CPUS, 0) for name in limits.partitions
    }


def test_the_largest_array_is_what_the_controller_takes(run, clients):
    largest = read_limits(clients).array_size
    tried = [
        run.cluster.run("sbatch", "--test-only", f"--array=0-{last}", str(run.submit_script))
        for last in (largest - 1, largest)
    ]
    assert [done.returncode for done in tried] == [0, 1]
    assert "Invalid job array specification" in tried[1].stderr


@pytest.fixture
def stranger(cluster):
    """The clients of a user who is no operator of the cluster."""
    if os.geteuid():
        yield Clients(environment={**os.environ, **cluster.environment, "SINFO_PARTITION": "short"})
        return
    with tempfile.TemporaryDirectory() as name:  # one that others may look into
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(cluster.configuration, folder / "slurm.conf")
        for program in ("scontrol", "sinfo"):
            (folder / program).write_text(
                f'#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups {shutil.which(program)} "$@"\n'
            )
            (folder / program).chmod(0o755)
        variables = {"SLURM_CONF": f"{folder}/slurm.conf", "SINFO_PARTITION": "short"}
        yield Clients(environment={**os.environ, **variables, "PATH": f"{folder}:{os.environ['PATH']}"})


def test_a_partition_that_is_hidden_from_lists_is_known(cluster, stranger):
    cluster.output("scontrol", "create", "partition=hidden", "nodes=n1", "hidden=yes", "state=up")
    try:
        limits, nodes = read_limits(stranger), read_nodes(stranger)
    finally:
        cluster.output("scontrol", "delete", "partition=hidden")
    assert set(limits.partitions) == {node.partition for node in nodes} == {"cpu", "short", "closed", "hidden"}


def test_the_parts_of_a_heterogeneous_job_end_each_for_itself(cluster, clients):
    job = cluster.submit("#SBATCH -o /dev/null\n#SBATCH hetjob\nfalse", name="parts")
    wait_until(lambda: ended(read_queue(clients, job)) == [(0,), (1,)])
    wait_until(lambda: ended(read_attempts(clients, job)) == [(0,), (1,)])


def test_accounting_that_is_off(bare_cluster):
    clients = Clients(environment={**os.environ, **bare_cluster.environment})
    assert read_attempts(clients, 1).trouble is Trouble.ACCOUNTING_OFF


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
