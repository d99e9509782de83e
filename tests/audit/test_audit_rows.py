"""Facts from the database: which rows are a run's, whether their jobs live, and what their own statistics say."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from audit_runs import BENCHMARK, BENCHMARKS, MODEL, NOW, SERVED, AuditedRun
from benchwright.audit.facts import JobFacts
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.gather_rows import Judging, doubles, find_rows, row_facts, siblings
from benchwright.audit.manifest import NO_HINT, Entry, Hint
from benchwright.audit.row_gates import row_fails
from benchwright.audit.scheduler import NOT_ASKED, Scheduler
from benchwright.audit.troubles import Troubles
from benchwright.harbor import Benchmarks, Taxonomy
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from benchwright.slurm import JobAccount, QueuedJob, parse_state

PROFILE = Taxonomy.load().profile()
DONE = JobFacts(phase="completed", state="COMPLETED")
COMPLETE = {
    "n_completed_trials": 300,
    "evals": {"k": {"n_trials": 300, "reward_stats": {"reward": {"1": [str(n) for n in range(300)]}}}},
}


@pytest.fixture(params=["postgres", "supabase"])
def database(request, eval_rows):
    with eval_rows.open(request.param, key=eval_rows.standin.service_key) as opened:
        yield opened


@pytest.fixture
def postgres(eval_rows):
    with eval_rows.open("postgres") as opened:
        yield opened


@pytest.fixture
def legs(settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    rules = FolderRules(PROFILE, Benchmarks.load(tmp_path / "benchmarks.yaml"))
    return lambda folder, hint=NO_HINT: read_legs([Entry(folder, hint)], rules, Troubles())


def rows_of(database, leg, *, job=DONE, scheduler=NOT_ASKED):
    return row_facts(find_rows(database, [leg.run])[0], leg, Judging(job, scheduler, PROFILE.benign, NOW))


def job_account(id: str, state: str, submit: datetime, end: datetime) -> JobAccount:
    times = (time.timestamp() for time in (submit, submit, end))
    return JobAccount((id, id), parse_state(state), *times, "eval", "/", "sbatch x")


def test_a_row_is_a_runs_by_its_ids_maybe_by_its_name_and_not_by_its_pair(database, eval_rows, legs, tmp_path):
    launched = "00000000-0000-0000-0000-00000000aaaa"
    run = AuditedRun(tmp_path, row_id=launched, slurm_id="17")
    ids = {
        run.row(eval_rows, id=launched, slurm_job_id=None, job_name="x"): "yes",
        run.row(eval_rows, id=run.aggregate["id"], slurm_job_id=None, job_name="x"): "yes",
        run.row(eval_rows, job_name="x"): "yes",
        run.row(eval_rows, slurm_job_id=None): "maybe",
        run.row(eval_rows, slurm_job_id="18", username="them"): "maybe",
        run.row(eval_rows, slurm_job_id="18", job_name="x"): "no",
        run.row(eval_rows, slurm_job_id=None, job_name="x", benchmark="377118ff" * 5): "no",
        run.row(eval_rows, slurm_job_id=None, job_name="x", model=SERVED): "no",
    }
    run.row(eval_rows, model="another", slurm_job_id=None, job_name="x")
    run.row(eval_rows, benchmark="another", slurm_job_id=None, job_name="x")
    eval_rows.load()
    (leg,) = legs(run.folder)
    assert {row.id: row.of_run for row in rows_of(database, leg)} == ids


@pytest.mark.parametrize(("day", "of_run"), [("2026-08-20", "maybe"), ("2026-08-27", "yes"), ("2026-09-20", "maybe")])
def test_a_job_of_the_same_number_is_the_runs_at_its_time_alone(postgres, eval_rows, legs, tmp_path, day, of_run):
    run = AuditedRun(tmp_path, slurm_id="17")
    run.row(eval_rows, job_name="x", created_at=f"{day}T00:00:00Z")
    eval_rows.load()
    (leg,) = legs(run.folder)
    assert [row.of_run for row in rows_of(postgres, leg)] == [of_run]


def test_what_a_row_shows(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(eval_rows, id=run.aggregate["id"], username="grace", submitted_at="2026-09-01T09:00:00+02:00")
    eval_rows.load()
    (leg,) = legs(run.folder)
    (row,) = rows_of(postgres, leg)
    assert (row.owner, row.status, row.of_run, row.live) == ("grace", "Finished", "yes", False)
    assert (row.model, row.benchmark, row.agent) == (MODEL, BENCHMARK, "terminus-2")
    assert (row.score, row.fails, row.issues) == (pytest.approx(4 / 12), False, frozenset())
    assert row.link == f"traces-org/{run.tag}-traces"
    assert (row.created.isoformat(), row.submitted.isoformat()) == (
        "2026-09-01T22:00:00+00:00",
        "2026-09-01T07:00:00+00:00",
    )


@pytest.mark.parametrize(
    ("more", "issues", "score"),
    [
        ({"metrics": {"accuracy": 0.25}}, {"dict-metrics"}, None),
        ({"metrics": '[{"name": "accuracy", "value": 0.25}]'}, {"text-metrics"}, None),
        ({"metrics": []}, {"no-score"}, None),
        ({"metrics": None}, {"no-score"}, None),
        ({"model": SERVED}, {"numeric-model"}, 0.25),
        ({"benchmark": "377118ff" * 5}, {"hash-benchmark"}, 0.25),
        ({"benchmark": "eval-some-run"}, {"run-dir-benchmark"}, 0.25),
        ({"model": "org/another"}, {"other-model"}, 0.25),
        ({"benchmark": "another_bench"}, {"other-benchmark"}, 0.25),
        ({"model": f"hosted_vllm/{MODEL}"}, set(), 0.25),
        ({"stats": "not json"}, {"text-stats"}, 0.25),
        ({"n_trials": 32}, {"n-trials-differ"}, 0.25),
        ({"job_status": "Pending", "n_trials": 0}, {"n-trials-unset"}, 0.25),
        # That a row is stale is for the rules to say.
        ({"job_status": "Started", "created_at": "2026-01-01T00:00:00Z"}, {"n-trials-concurrency"}, 0.25),
    ],
)
def test_what_is_wrong_with_a_row_by_itself(postgres, eval_rows, legs, tmp_path, more, issues, score):
    run = AuditedRun(tmp_path)
    run.row(eval_rows, id=run.aggregate["id"], **{"metrics": [{"name": "accuracy", "value": 0.25}]} | more)
    eval_rows.load()
    (leg,) = legs(run.folder)
    (row,) = rows_of(postgres, leg)
    assert (row.issues, row.score) == (issues, score)


def test_rows_of_one_agent_model_and_benchmark_are_told(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path)
    for status in ("Finished", "Pending", "Finished"):
        run.row(eval_rows, job_status=status, username="them")
    run.row(eval_rows, agent=eval_rows.agent("another"))
    eval_rows.load()
    (leg,) = legs(run.folder)
    of = f"agent terminus-2, model {MODEL} and benchmark {BENCHMARK}"
    assert doubles(find_rows(postgres, [leg.run])[0]) == [
        f"3 rows are of {of} (2 Finished, 1 Pending): the board shows one, by default the oldest"
    ]


def test_a_model_that_is_not_known_is_no_other_one(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path, model=None)
    run.row(eval_rows, id=run.aggregate["id"], model="org/repaired")
    eval_rows.load()
    (leg,) = legs(run.folder)
    (row,) = rows_of(postgres, leg)
    assert (leg.facts.model, row.issues) == (None, frozenset())


def test_a_sibling_is_told(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path)
    own = run.row(eval_rows, id=run.aggregate["id"], benchmark="small")
    run.row(eval_rows, model=f"hosted_vllm/{MODEL}", job_name="x")
    eval_rows.load()
    (leg,) = legs(run.folder)
    assert siblings(rows_of(postgres, leg), leg.facts) == [
        f"the model {MODEL} is hosted_vllm/{MODEL} too: a sibling, of which no row is to go",
        f"row {own} is filed under small, another name of {BENCHMARK}",
    ]


def test_a_link_that_is_none_is_kept_as_it_is(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(eval_rows, id=run.aggregate["id"], hf_traces_link="see the wiki")
    eval_rows.load()
    (leg,) = legs(run.folder)
    assert rows_of(postgres, leg)[0].link == "see the wiki"


class TestOneRowOfTwoAgents:
    def run(self, tmp_path, *agents):
        grow_job(tmp_path / "a", ["pass"] * 3, JobShape(agent=agents[0], source=BENCHMARK))
        grow_job(tmp_path / "b", ["pass"] * 3, JobShape(agent=agents[1], model="m2", source=BENCHMARK), seed=1)
        for trial in list((tmp_path / "b").iterdir()):
            if trial.is_dir():
                trial.rename(tmp_path / "a" / trial.name)
        return tmp_path / "a"

    def test_it_is_the_row_of_the_agent_that_it_names(self, postgres, eval_rows, legs, tmp_path):
        found = legs(self.run(tmp_path, "terminus-2", "swe-agent"), Hint(model=MODEL, row_id=str(_id(7))))
        eval_rows.job(eval_rows.model(MODEL), eval_rows.benchmark(BENCHMARK), eval_rows.agent("swe-agent"), id=_id(7))
        eval_rows.load()
        assert {leg.facts.agent: rows_of(postgres, leg)[0].of_run for leg in found} == {
            "swe-agent": "yes",
            "terminus-2": "no",
        }

    @pytest.mark.parametrize(("agents", "named"), [(("a", "b"), "c"), (("a", "a"), "a")])
    def test_where_that_does_not_tell_nobody_knows(self, postgres, eval_rows, legs, tmp_path, agents, named):
        found = legs(self.run(tmp_path, *agents), Hint(model=MODEL, row_id=_id(7)))
        eval_rows.job(eval_rows.model(MODEL), eval_rows.benchmark(BENCHMARK), eval_rows.agent(named), id=_id(7))
        eval_rows.load()
        assert [rows_of(postgres, leg)[0].of_run for leg in found] == ["maybe", "maybe"]


def _id(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012}"


class TestWhoSeesWhat:
    def test_that_there_is_no_row_is_not_told_by_a_key_that_may_not_see_all(self, eval_rows, legs, tmp_path):
        run = AuditedRun(tmp_path)
        run.row(eval_rows, job_name="x")
        eval_rows.load()
        (leg,) = legs(run.folder)
        with eval_rows.open("supabase") as anonymous:
            assert rows_of(anonymous, leg).startswith("this key may not see every row")
        with eval_rows.open("supabase", key=eval_rows.standin.service_key) as service:
            assert [row.of_run for row in rows_of(service, leg)] == ["no"]

    def test_a_row_that_is_seen_is_a_fact(self, eval_rows, legs, tmp_path):
        run = AuditedRun(tmp_path)
        run.row(eval_rows, id=run.aggregate["id"])
        eval_rows.load()
        (leg,) = legs(run.folder)
        with eval_rows.open("supabase") as anonymous:
            assert [row.of_run for row in rows_of(anonymous, leg)] == ["yes"]


class TestLife:
    """Whether a row's job lives: 17 is a job of an earlier launch, of which the row is left."""

    SENT = NOW - timedelta(hours=30)

    def row(self, postgres, eval_rows, legs, tmp_path, scheduler, *, job=DONE, **more):
        run = AuditedRun(tmp_path)
        made = {"job_name": "x", "job_status": "Pending", "slurm_job_id": "17", "submitted_at": self.SENT.isoformat()}
        run.row(eval_rows, **made | {"created_at": self.SENT.isoformat()} | more)
        eval_rows.load()
        (leg,) = legs(run.folder)
        (row,) = rows_of(postgres, leg, job=job, scheduler=scheduler)
        return row.live

    @pytest.mark.parametrize(
        ("scheduler", "live"),
        [
            (Scheduler(queue=(QueuedJob(("17", "17"), parse_state("PENDING"), "x"),)), True),
            (Scheduler(accounts=(job_account("17", "TIMEOUT", SENT, SENT + timedelta(hours=5)),)), False),
            # Another cluster's job of the same number.
            (Scheduler(accounts=(job_account("17", "TIMEOUT", SENT - timedelta(days=2), SENT),)), None),
            (Scheduler(), None),
            (Scheduler(silent="x"), None),
            (NOT_ASKED, None),
        ],
    )
    def test_a_pending_row(self, postgres, eval_rows, legs, tmp_path, scheduler, live):
        assert self.row(postgres, eval_rows, legs, tmp_path, scheduler) is live

    def test_a_row_of_weeks_that_no_scheduler_knows(self, postgres, eval_rows, legs, tmp_path):
        old = {"submitted_at": "2026-08-01T00:00:00Z", "created_at": "2026-08-01T00:00:00Z"}
        assert self.row(postgres, eval_rows, legs, tmp_path, Scheduler(), **old) is False

    def test_a_row_without_a_job(self, postgres, eval_rows, legs, tmp_path):
        assert self.row(postgres, eval_rows, legs, tmp_path, Scheduler(), slurm_job_id=None) is None

    def test_a_finished_row_of_another_run(self, postgres, eval_rows, legs, tmp_path):
        assert self.row(postgres, eval_rows, legs, tmp_path, Scheduler(), job_status="Finished") is False

    @pytest.mark.parametrize(
        ("job", "live"), [(DONE, False), (JobFacts(phase="live", state="RUNNING"), True), (None, None)]
    )
    def test_the_runs_own_finished_row_lives_as_the_run_does(self, postgres, eval_rows, legs, tmp_path, job, live):
        own = {"id": "7d2a0dd0-0000-4000-8000-000000000001", "job_status": "Finished"}
        run = AuditedRun(tmp_path / "r", row_id=own["id"])
        run.row(eval_rows, **own)
        eval_rows.load()
        (leg,) = legs(run.folder)
        (row,) = rows_of(postgres, leg, job=job)
        assert row.live is live


@pytest.mark.parametrize(
    ("jobs", "late", "of_run"), [(["17"], 0, {"yes"}), (["17"], 1, {"maybe"}), (["17", "18"], 0, {"maybe"})]
)
def test_a_row_of_the_runs_name_is_the_runs_where_its_job_ran_as_the_run_did(
    postgres, eval_rows, legs, tmp_path, jobs, late, of_run
):
    run = AuditedRun(tmp_path)
    for job in jobs:
        run.row(eval_rows, slurm_job_id=job)
    eval_rows.load()
    (leg,) = legs(run.folder)
    began = leg.run.began + timedelta(hours=late)
    scheduler = Scheduler(accounts=(job_account("17", "TIMEOUT", began, began + timedelta(hours=12)),))
    assert {row.of_run for row in rows_of(postgres, leg, scheduler=scheduler)} == of_run


def test_rows_that_have_not_ended_wait_for_their_jobs(postgres, eval_rows, legs, tmp_path):
    run = AuditedRun(tmp_path)
    for job, status, day in (("1", "Pending", 9), ("2", "Started", 1), ("3", "Finished", 9), ("4", "Failed", 9)):
        run.row(eval_rows, slurm_job_id=job, job_status=status, created_at=f"2026-09-0{day}T00:00:00Z")
    run.row(eval_rows, slurm_job_id="5", job_name="x", job_status="Pending")
    run.row(eval_rows, slurm_job_id="no id", job_status="Pending")
    eval_rows.load()
    (leg,) = legs(run.folder)
    found = find_rows(postgres, [leg.run])[0]
    assert found.scheduler_jobs(leg.run, NOW) == {"1": True, "2": False, "3": False, "4": False}
    assert found.job_ids == {"1", "2", "3", "4", "5"}


def stats(rewarded, errors, *, total=None, completed=None, names=False):
    """The statistics of trials: some with a reward, and some with an exception and no reward."""
    lists = {name: [f"{name}-{n}" for n in range(number)] for name, number in errors.items()}
    one = {"n_trials": rewarded, "n_errors": sum(errors.values()), "exception_stats": lists}
    if names:
        one["reward_stats"] = {"reward": {"1.0": [f"r-{n}" for n in range(rewarded)]}}
    counts = {"n_trials": total, "n_completed_trials": completed}
    return {"evals": {"k": one}} | {name: number for name, number in counts.items() if number is not None}


@pytest.mark.parametrize(
    ("given", "planned", "fails"),
    [
        (stats(270, {"DaytonaError": 30}, completed=300, names=True), 300, False),
        (stats(269, {"DaytonaError": 31}, completed=300, names=True), 300, True),
        (stats(240, {"DaytonaError": 27}, completed=267, names=True), 267, True),
        (stats(200, {"AgentTimeoutError": 100}, completed=300, names=True), 300, False),  # benign
        (stats(240, {}, completed=240, names=True), 300, True),
        (stats(250, {}, completed=300, names=True), 300, True),  # 50 without a word
        (stats(0, {}, completed=0), 300, True),
        (stats(270, {"DaytonaError": 30}, completed=300, names=True), None, None),
        # An older version counts all that ended, or someone put the rewarded ones together: both have to agree.
        (stats(270, {"DaytonaError": 30}, total=300, names=True), 300, False),
        (stats(270, {"DaytonaError": 28}, total=270, names=True), 300, None),
        (stats(270, {"DaytonaError": 27}, total=270, names=True), 297, False),
        (stats(250, {"DaytonaError": 50}, total=250), 300, True),
        ({"evals": {"k": {"n_trials": 300, "exception_stats": {"X": 40}}}, "n_trials": 300}, 300, False),
        ("", 300, None),
        (None, 300, None),
        ({}, 300, None),
        ({"evals": []}, 300, None),
        ({"evals": {"k": 1}}, 300, None),
        (str(COMPLETE).replace("'", '"'), 300, False),  # JSON in a text
        (COMPLETE, 300, False),
    ],
)
def test_a_row_fails_by_its_own_statistics_only_where_they_say_so_for_sure(given, planned, fails):
    assert row_fails(given, planned, PROFILE.benign) is fails
