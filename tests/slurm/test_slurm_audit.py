"""Jobs of evals on a real cluster: their states by one call of each client, and what an audit makes of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from audit_runs import AuditedRun
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.gather_job import job_facts
from benchwright.audit.manifest import Entry, Hint
from benchwright.audit.scheduler import ask
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit
from benchwright.harbor import Benchmarks, Taxonomy
from benchwright.slurm import Clients, Phase, is_job_id, read_accounts, read_whole_queue
from waiting import wait_until

ENDED = (Phase.DONE, Phase.FAILED)


@pytest.fixture
def clients(cluster):
    return Clients(environment={**os.environ, **cluster.environment})


@pytest.fixture
def leg_of(tmp_path):
    rules = FolderRules(Taxonomy.load().profile(), Benchmarks.load())

    def made(job, tag="run", **more):
        run = AuditedRun(tmp_path / tag, tag, **more)
        (leg,) = read_legs([Entry(run.folder, Hint(slurm_job_id=job and str(job)))], rules, Troubles())
        return leg

    return made


def test_one_call_of_each_client_tells_of_all_jobs(cluster, clients, leg_of):
    done = cluster.submit("exit 0", "--job-name=a|b")
    failed = cluster.submit("exit 7", name="failed")
    array = cluster.submit("exit 0", "--array=0-1", name="array")
    alive = cluster.submit("sleep 600", "--job-name=run-of-its-own", name="alive")
    ids = [str(done), str(failed), f"{array}_0", str(alive), "999999"]
    try:
        wait_until(lambda: sum(row.state.phase in ENDED for row in read_accounts(clients, ids)) == 3)
        wait_until(lambda: any(row.state.name == "RUNNING" for row in read_whole_queue(clients)))
        scheduler, failures = ask(clients, ids)
        assert failures == []
        found = {id: scheduler.standing(id) for id in ids}
        assert [(one.phase, one.state) for one in found.values()] == [
            ("ended", "COMPLETED"),
            ("ended", "FAILED"),
            ("ended", "COMPLETED"),
            ("live", "RUNNING"),
            ("unknown", ""),
        ]
        assert next(row.name for row in scheduler.accounts if str(done) in row.ids) == "a|b"
        assert all(one.submitted <= one.began <= one.ended for one in list(found.values())[:3])
        assert all(abs((one.submitted - datetime.now(UTC)).total_seconds()) < 600 for one in list(found.values())[:4])

        now = datetime.now(UTC)
        job = job_facts(leg_of(failed).run, {}, scheduler, now)
        assert (job.phase, job.state, job.told_by) == ("ended", "FAILED", "sacct")
        assert job.submit.startswith(f"cd {cluster.folder} && ")
        assert job.submit.endswith(f"sbatch --parsable {cluster.folder}/failed.sh")
        assert job_facts(leg_of(None, "run-of-its-own").run, {}, scheduler, now).phase == "live"
        assert job_facts(leg_of(alive, "another").run, {}, scheduler, now).phase == "live"
        forgotten = job_facts(leg_of(999999, "third").run, {}, scheduler, now)
        assert (forgotten.phase, forgotten.told_by) == ("completed", "squeue and Harbor")
    finally:
        cluster.run("scancel", str(alive))


def test_a_waiting_array_has_all_of_its_tasks(cluster, clients):
    job = cluster.submit("exit 0", "--array=3-9%2", "--hold", name="held")
    try:
        queue = read_whole_queue(clients)
        (held,) = [row for row in queue if row.is_called(f"{job}_4")]
        assert held.state.name == "PENDING"
        assert not held.is_called(f"{job}_2")
        scheduler, _ = ask(clients, [f"{job}_4"])
        assert scheduler.standing(f"{job}_4").phase == "live"
    finally:
        cluster.run("scancel", str(job))


def test_without_accounts_the_queue_tells_of_what_it_remembers(bare_cluster):
    clients = Clients(environment={**os.environ, **bare_cluster.environment})
    job = bare_cluster.submit("exit 0")
    wait_until(lambda: any(row.state.phase in ENDED for row in read_whole_queue(clients)))
    scheduler, failures = ask(clients, [str(job)])
    assert (failures, scheduler.answers, scheduler.standing(str(job)).phase) == ([], True, "ended")


def test_accounts_that_are_down_leave_what_lives(cluster):
    clients = Clients(environment={**os.environ, "SLURM_CONF": str(cluster.without_accounting)})
    scheduler, failures = ask(clients, ["1"])
    assert [failure.exit for failure in failures] == [Exit.REMOTE]
    assert (scheduler.answers, scheduler.standing("1").phase) == (False, "unknown")


def test_ids_are_told_from_other_texts():
    assert [is_job_id(text) for text in ("4", "4_7", "4_[1-3]", "4.batch", "", "x", "4;rm")] == [
        True, True, False, False, False, False, False
    ]  # fmt: skip
