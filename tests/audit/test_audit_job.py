"""Facts about the job: what the queue, the accounts, Harbor and the folder say, and which of them is believed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from audit_runs import AuditedRun
from benchwright.audit.facts import JobFacts
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.gather_job import job_facts, ran_during
from benchwright.audit.manifest import Entry
from benchwright.audit.scheduler import NOT_ASKED, Scheduler, ask
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit
from benchwright.harbor import Benchmarks, Taxonomy
from benchwright.slurm import CallError, Clients, JobAccount, QueuedJob, Trouble, parse_state

BEGAN = datetime(2026, 9, 1, 10, tzinfo=UTC)
"""When Harbor began the runs; it wrote its last nine hours later."""
LAST = BEGAN + timedelta(hours=9)


@pytest.fixture
def make(settings, tmp_path):
    def made(*, finished: bool = True, **more):
        run = AuditedRun(tmp_path, **more)
        rules = FolderRules(Taxonomy.load().profile(), Benchmarks.load())
        (leg,) = read_legs([Entry(run.folder)], rules, Troubles())
        job = leg.run.job
        if not finished:
            job = msgspec.structs.replace(job, aggregate=msgspec.structs.replace(job.aggregate, finished=None))
        return replace(leg.run, job=job)

    return made


def account(state: str, id: str = "17", *, start: datetime = BEGAN, end: datetime = LAST) -> JobAccount:
    times = (time.timestamp() for time in (start - timedelta(minutes=5), start, end))
    return JobAccount((id, id), parse_state(state), *times, "eval", "/where it was", "sbatch --time=1 eval.sbatch")


def queued(state: str, id: str = "17", name: str = "eval") -> QueuedJob:
    return QueuedJob((id, id), parse_state(state), name)


def at(hours: float) -> datetime:
    return LAST + timedelta(hours=hours)


SUBMIT = "cd '/where it was' && sbatch --time=1 eval.sbatch"


@pytest.mark.parametrize(
    ("scheduler", "facts"),
    [
        (Scheduler(accounts=(account("COMPLETED"),)), JobFacts(phase="completed", state="COMPLETED", told_by="sacct")),
        (Scheduler(accounts=(account("TIMEOUT"),)), JobFacts(phase="ended", state="TIMEOUT", told_by="sacct")),
        (
            Scheduler(accounts=(account("CANCELLED by 7"),)),
            JobFacts(phase="ended", state="CANCELLED by 7", told_by="sacct"),
        ),
        (
            Scheduler(queue=(queued("RUNNING"),), accounts=(account("TIMEOUT"),)),
            JobFacts(phase="live", state="RUNNING", told_by="squeue"),
        ),
        (Scheduler(accounts=(account("PENDING"),)), JobFacts(phase="live", state="PENDING", told_by="sacct")),
    ],
)
def test_the_queue_says_what_is_alive_and_the_accounts_how_it_ended(make, scheduler, facts):
    found = job_facts(make(slurm_id="17"), {}, scheduler, at(24))
    assert found == msgspec.structs.replace(facts, id="17", submit=SUBMIT)


def test_a_job_that_the_queue_alone_remembers(make):
    found = job_facts(make(slurm_id="17"), {}, Scheduler(queue=(queued("COMPLETED"),)), at(24))
    assert found == JobFacts(phase="completed", state="COMPLETED", id="17", told_by="squeue")


def test_a_job_that_bears_the_runs_name_is_alive(make):
    run = make()
    scheduler = Scheduler(queue=(queued("PENDING", "99", run.tag),), accounts=(account("TIMEOUT"),))
    assert job_facts(run, {}, scheduler, at(24)) == JobFacts(phase="live", state="PENDING", id="99", told_by="squeue")
    ended = Scheduler(queue=(queued("FAILED", "99", run.tag),))
    assert job_facts(run, {}, ended, at(24)).phase == "completed"  # by Harbor


def test_of_several_jobs_a_live_one_counts_and_else_the_last(make):
    run = make(slurm_id="17")
    second = account("FAILED", "18", start=at(2), end=at(3))
    both = Scheduler(accounts=(account("COMPLETED"), second))
    assert job_facts(run, {"18": False}, both, at(24)).id == "18"
    assert job_facts(run, {"18": False}, replace(both, queue=(queued("RUNNING"),)), at(24)).phase == "live"


def test_a_job_that_a_row_waits_for_and_nobody_knows_may_be_alive_elsewhere(make):
    run, known = make(slurm_id="17"), Scheduler(accounts=(account("TIMEOUT"),))
    assert job_facts(run, {"18": False}, known, at(24)).phase == "ended"
    assert "18, which a row waits for" in job_facts(run, {"18": True}, known, at(24))


class TestForgotten:
    def test_harbor_and_the_queue_tell_together(self, make):
        found = job_facts(make(slurm_id="17"), {}, Scheduler(), at(24))
        assert found == JobFacts(phase="completed", state="finished", id="17", told_by="squeue and Harbor")

    def test_an_unfinished_one_is_not_known_until_nothing_has_happened_for_days(self, make):
        run = make(slurm_id="17", finished=False)
        why = "neither squeue nor sacct knows job 17 as one of this run: was it on another cluster?"
        assert job_facts(run, {}, Scheduler(), at(47)) == why
        assert job_facts(run, {}, Scheduler(), at(49)).phase == "ended"

    def test_a_job_that_was_over_before_the_run_began_is_another_one(self, make):
        run = make(slurm_id="17", finished=False)
        before = account("COMPLETED", start=BEGAN - timedelta(hours=5), end=BEGAN - timedelta(hours=4))
        assert isinstance(job_facts(run, {}, Scheduler(accounts=(before,)), at(24)), str)

    @pytest.mark.parametrize("state", ["COMPLET+", "SOMETHING"])
    def test_a_state_that_nobody_knows_is_none(self, make, state):
        run = make(slurm_id="17", finished=False)
        assert isinstance(job_facts(run, {}, Scheduler(accounts=(account(state),)), at(24)), str)


class TestSilence:
    silent = Scheduler(silent="squeue: no answer within 1 s")

    def test_a_job_of_a_silent_scheduler_is_not_known(self, make):
        run = make()
        assert job_facts(run, {"17": False}, self.silent, at(24)) == "squeue: no answer within 1 s"
        assert job_facts(run, {"17": False}, NOT_ASKED, at(24)) == "SLURM was not asked"

    def test_neither_is_one_that_the_launch_left_a_record_of(self, make):
        assert job_facts(make(slurm_id="17"), {}, self.silent, at(24)) == "squeue: no answer within 1 s"

    def test_a_run_that_was_none_of_its_jobs_has_harbors_word(self, make):
        assert job_facts(make(), {}, self.silent, at(24)) == JobFacts(
            phase="completed", state="finished", told_by="Harbor"
        )

    def test_a_folder_that_is_written_is_alive_and_one_that_was_is_not_known(self, make):
        run = make(finished=False)
        assert job_facts(run, {}, NOT_ASKED, at(0.9)) == JobFacts(
            phase="live", state="still writing", told_by="its folder"
        )
        assert "name its slurm_job_id in a manifest" in job_facts(run, {}, NOT_ASKED, at(1.1))
        assert job_facts(run, {}, NOT_ASKED, at(49)).phase == "ended"


def test_what_writes_long_after_its_job_ended_is_alive(make):
    run = make(slurm_id="17", finished=False)
    early = Scheduler(accounts=(account("TIMEOUT", end=at(-3)),))
    assert job_facts(run, {}, early, at(0.5)).phase == "live"
    zombie = Scheduler(accounts=(account("TIMEOUT", end=at(-0.9)),))
    assert job_facts(run, {}, zombie, at(0.5)).phase == "ended"
    why = "its results changed after the job that is known of it had ended"
    assert job_facts(run, {}, early, at(2)) == why
    assert job_facts(run, {}, early, at(49)).phase == "ended"


def test_a_job_ran_a_run_if_it_was_there_from_its_first_to_its_last_sign(make):
    run = make()
    standing = Scheduler(accounts=(account("TIMEOUT"),)).standing("17")
    assert ran_during(run, standing)
    assert not ran_during(run, replace(standing, ended=at(-1.1)))
    assert not ran_during(run, replace(standing, began=BEGAN + timedelta(minutes=11)))
    assert not ran_during(run, replace(standing, ended=None))


NO_CLIENT = CallError("squeue", Trouble.NO_CLIENT, "x")


class Said(Clients):
    """Clients that say what they are told to."""

    def __init__(self, **answers):
        object.__setattr__(self, "answers", answers)

    def call(self, program, *arguments, **more):
        return self.answers[program]


@pytest.mark.parametrize(
    ("answers", "answering", "exits"),
    [
        ({"squeue": "", "sacct": ""}, True, []),
        ({"squeue": "", "sacct": CallError("sacct", Trouble.ACCOUNTING_OFF, "x")}, True, []),
        ({"squeue": "", "sacct": CallError("sacct", Trouble.ACCOUNTING_DOWN, "x")}, False, [Exit.REMOTE]),
        ({"squeue": CallError("squeue", Trouble.TIMEOUT, "x"), "sacct": ""}, False, [Exit.REMOTE]),
        ({"squeue": CallError("squeue", Trouble.CONTROLLER_DOWN, "x"), "sacct": ""}, False, [Exit.REMOTE]),
        (
            {name: CallError(name, Trouble.NO_CLIENT, "x") for name in ("squeue", "sacct")},
            False,
            [Exit.ENVIRONMENT] * 2,
        ),
    ],
)
def test_what_does_not_answer_is_a_failure(answers, answering, exits):
    scheduler, failures = ask(Said(**answers), ["17"])
    assert scheduler.answers is answering
    assert [failure.exit for failure in failures] == exits
