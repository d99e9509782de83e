"""Rows as both backends give them: every one of every owner, whatever is in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from benchwright.evaldb import Reference, RunNames
from eval_databases import numbered

NASTY = (
    "'; DROP TABLE sandbox_jobs; --",
    'a "quoted" name',
    "two\nlines\r\n\tand a tab",
    'back\\slash \\" and \\',
    "a,b.c(d):e*%_",
    "in.(1,2)",
    " spaces ",
    "100% + 1 & 2 = #3?/;",
    "é λ 漢字 \U0001f680",
    "null",
    "\x01",
)


def test_rows_of_every_owner_come_oldest_first_with_their_names(database, eval_rows):
    agent = eval_rows.agent("terminus-2")
    model, other = eval_rows.model("laion/x-8B"), eval_rows.model("laion/y-8B")
    benchmark = eval_rows.benchmark("dev_set_v2")
    hour = "2026-11-30T1{}:00:00+02:00".format
    last = eval_rows.job(model, benchmark, agent, username="ada", created_at=hour(3), job_status="Pending", n_trials=0)
    first = eval_rows.job(model, benchmark, agent, username="bo", created_at=hour(1), slurm_job_id="4711")
    eval_rows.job(other, benchmark, agent)
    eval_rows.load()
    rows = database.jobs(model="laion/x-8B", benchmark="dev_set_v2")
    assert [row.id for row in rows] == [first, last]
    assert [row.username for row in rows] == ["bo", "ada"]
    row = rows[0]
    assert (row.agent, row.model, row.benchmark) == ("terminus-2", "laion/x-8B", "dev_set_v2")
    assert row.created_at == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert (row.started_at, row.slurm_job_id, row.n_trials, row.n_rep_eval) == (None, "4711", 300, 3)
    assert [row.planned_trials for row in rows] == [300, None]
    assert len(database.jobs()) == 3
    assert database.jobs(model="laion/z") == database.jobs(benchmark="dev_set") == ()


def test_conditions_are_joined(database, eval_rows):
    model, benchmark = eval_rows.model("m-1"), eval_rows.benchmark("b")
    old = eval_rows.job(model, benchmark, job_name="one", created_at="2026-11-29T23:59:59.999999Z")
    new = eval_rows.job(model, benchmark, job_name="one", created_at="2026-11-30T00:00:00Z")
    other = eval_rows.job(model, benchmark, job_name="two", created_at="2026-11-30T00:00:00Z")
    eval_rows.load()

    def found(**conditions):
        return [row.id for row in database.jobs(**conditions)]

    since = datetime(2026, 11, 30, 1, tzinfo=timezone(timedelta(hours=1)))
    assert found(job_name="one") == [old, new]
    assert found(job_name="one", since=since) == [new]
    assert found(since=since) == [new, other]
    assert found(run_id=old) == [old]
    assert found(run_id=old.upper()) == [old]
    assert found(run_id=old, job_name="two") == []
    assert found(run_id=numbered(99)) == []


@pytest.mark.parametrize("name", ["\0", "a\ud800b", "\udcff"])
def test_a_name_that_no_database_holds_has_no_rows(database, eval_rows, name):
    eval_rows.job(eval_rows.model("m"), eval_rows.benchmark("b"))
    eval_rows.load()
    assert database.jobs(job_name=name) == ()
    assert database.jobs(run_id=name) == database.jobs(run_id="7") == database.jobs(run_id="'; --") == ()
    assert database.jobs(model=name) == ()


def test_what_is_in_a_name_is_data(database, eval_rows):
    benchmark = eval_rows.benchmark("b")
    ids = {name: eval_rows.job(eval_rows.model(name), benchmark, job_name=name, username=name) for name in NASTY}
    eval_rows.load()
    for name, job_id in ids.items():
        (row,) = database.jobs(job_name=name)
        assert (row.id, row.job_name, row.username, row.model) == (job_id, name, name, name)
        assert job_id in [row.id for row in database.jobs(model=name)]
    assert len(database.jobs()) == len(NASTY)


def test_json_comes_as_it_is_stored(database, eval_rows):
    model, benchmark = eval_rows.model("m"), eval_rows.benchmark("b")
    values = [None, [], {"accuracy": 0.5}, '{"a": 1}', [{"name": "accuracy", "value": None}], 1e-7, 10**30, True]
    for value in values:
        eval_rows.job(model, benchmark, metrics=value, stats=value, config={"kept": [value, '"\\', "λ\n"]})
    eval_rows.load()
    rows = database.jobs()
    assert [row.metrics for row in rows] == [row.stats for row in rows] == values
    assert [row.config["kept"] for row in rows] == [[value, '"\\', "λ\n"] for value in values]


def test_a_time_that_no_calendar_has_is_unknown(database, eval_rows):
    job = eval_rows.job(
        eval_rows.model("m"),
        eval_rows.benchmark("b"),
        created_at="infinity",
        started_at="0044-03-15 12:00:00 BC",
        ended_at="12026-01-01T00:00:00Z",
        submitted_at="2026-11-30T12:00:00.5Z",
    )
    eval_rows.load()
    (row,) = database.jobs(run_id=job)
    assert (row.created_at, row.started_at, row.ended_at) == (None, None, None)
    assert row.last_sign == datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)


def test_a_model_has_its_rows_under_every_name(database, eval_rows):
    benchmark = eval_rows.benchmark("b")
    names = ("laion/x-8B", "hosted_vllm/laion/x-8B", "openai/laion/X-8b", "laion/x-8B")
    models = [eval_rows.model(name) for name in names]
    twin = eval_rows.model("laion/x-8B-renamed", duplicate_of=models[0])
    number = eval_rows.model("hosted_vllm/1774950145766573")
    for model in (*models, twin, number, eval_rows.model("laion/x-8B-v2")):
        eval_rows.job(model, benchmark)
    eval_rows.load()
    assert {row.id for row in database.siblings("laion/x-8B")} == {*models, twin}
    assert {row.id for row in database.siblings("laion/x-8B", "1774950145766573")} == {*models, twin, number}
    assert [row.id for row in database.models_named("laion/x-8B")] == [models[0], models[3]]
    for name in (*names, "laion/x-8B-renamed"):
        assert {row.model_id for row in database.jobs(model=name)} == {*models, twin}
    assert [row.model for row in database.jobs(model="1774950145766573")] == ["hosted_vllm/1774950145766573"]


def test_a_circle_of_duplicates_ends(database, eval_rows):
    first = eval_rows.benchmark("a")
    second = eval_rows.benchmark("b", duplicate_of=first)
    eval_rows.load()
    eval_rows.execute("UPDATE benchmarks SET duplicate_of = %s WHERE id = %s", second, first)
    assert {row.duplicate_of for row in database.benchmarks()} == {first, second}
    assert database.jobs(benchmark="A") == ()


def test_what_may_be_a_runs_says_why(database, eval_rows):
    run = "dev_set_v2_laion_x-8B_20261130_120000"
    model, number, other = (eval_rows.model(name) for name in ("laion/x-8B", "1774950145766573", "laion/other"))
    benchmark, hashed = eval_rows.benchmark("dev_set_v2"), eval_rows.benchmark("377118ff" * 5)
    named, unlike = eval_rows.benchmark(run), eval_rows.benchmark("terminal_bench_2")
    of_name = eval_rows.job(number, named, job_name=run)
    of_pair = eval_rows.job(model, benchmark, username="bo")
    both = eval_rows.job(model, benchmark, job_name=run)
    of_hash = eval_rows.job(model, hashed)
    of_run = eval_rows.job(model, named)
    of_id = eval_rows.job(other, unlike)
    eval_rows.job(model, unlike)
    eval_rows.job(other, benchmark)
    eval_rows.load()
    names = RunNames(("laion/x-8B",), ("dev_set_v2",), (run,), (of_id, "none"))
    assert {found.row.id: found.by for found in database.rows_of([names])[0]} == {
        of_name: ("job-name",),
        of_pair: ("pair",),
        both: ("job-name", "pair"),
        of_hash: ("misnamed-benchmark",),
        of_run: ("misnamed-benchmark",),
        of_id: ("id",),
    }
    assert database.rows_of([RunNames()]) == [()]
    assert database.rows_of([]) == []


def test_names_that_came_later_are_read_again(database, eval_rows):
    eval_rows.job(eval_rows.model("m-1"), eval_rows.benchmark("b"))
    eval_rows.load()
    assert [row.model for row in database.jobs()] == ["m-1"]
    job = eval_rows.job(eval_rows.model("m-2"), eval_rows.benchmark("c"), eval_rows.agent("nop"))
    eval_rows.load()
    (row,) = database.jobs(run_id=job)
    assert (row.model, row.benchmark, row.agent) == ("m-2", "c", "nop")


def test_more_rows_than_one_answer_holds(database, eval_rows, backend):
    model, benchmark = eval_rows.model("m"), eval_rows.benchmark("b")
    jobs = [eval_rows.job(model, benchmark, created_at=f"2026-11-30T12:00:00.{n % 7}Z") for n in range(2500)]
    eval_rows.load()
    rows = database.jobs(model="m")
    assert len(rows) == 2500
    assert {row.id for row in rows} == {*jobs}
    assert [(row.created_at, row.id) for row in rows] == sorted((row.created_at, row.id) for row in rows)
    asked = [request for request in eval_rows.standin.seen if request.path.endswith("/sandbox_jobs")]
    assert len(asked) == (3 if backend == "supabase" else 0)


def test_more_names_than_one_answer_or_one_address_holds(database, eval_rows):
    models = [eval_rows.model("hosted_vllm/" * (n % 3) + "m") for n in range(1200)]
    benchmark = eval_rows.benchmark("b")
    jobs = [eval_rows.job(model, benchmark) for model in models[::4]]
    eval_rows.load()
    siblings = database.siblings("m")
    assert len(siblings) == 1200
    assert {row.id for row in siblings} == {*models}
    assert {row.id for row in database.jobs(model="m", benchmark="b")} == {*jobs}


def test_references_are_counted_by_owner(database, eval_rows):
    model, benchmark = eval_rows.model("1774950145766573"), eval_rows.benchmark("377118ff" * 5)
    other = eval_rows.model("laion/x", base_model_id=model, created_by="bo")
    eval_rows.model("laion/y", duplicate_of=model, created_by="ada")
    eval_rows.benchmark("b", duplicate_of=benchmark)
    task = eval_rows.task("t1")
    jobs = [eval_rows.job(model, benchmark, username=name) for name in ("bo", "ada", "bo")]
    foreign = eval_rows.job(other, benchmark, username="cy")
    trials = [eval_rows.trial(job, task) for job in (jobs[0], jobs[0], foreign, None)]
    tasks = [{"benchmark_id": benchmark, "benchmark_name": "n", "benchmark_version_hash": "h", "task_checksum": task}]
    usage = [{"trial_id": trial, "model_id": model, "model_provider": "p"} for trial in trials]
    eval_rows.rows |= {"sandbox_benchmark_tasks": tasks, "sandbox_trial_model_usage": usage}
    free = eval_rows.model("free"), eval_rows.benchmark("free")
    eval_rows.load()
    assert database.references("models", model) == (
        Reference("sandbox_jobs", "model_id", "ada", 1),
        Reference("sandbox_jobs", "model_id", "bo", 2),
        Reference("sandbox_trial_model_usage", "model_id", None, 1),
        Reference("sandbox_trial_model_usage", "model_id", "bo", 2),
        Reference("sandbox_trial_model_usage", "model_id", "cy", 1),
        Reference("models", "base_model_id", "bo", 1),
        Reference("models", "duplicate_of", "ada", 1),
    )
    assert database.references("benchmarks", benchmark) == (
        Reference("sandbox_jobs", "benchmark_id", "ada", 1),
        Reference("sandbox_jobs", "benchmark_id", "bo", 2),
        Reference("sandbox_jobs", "benchmark_id", "cy", 1),
        Reference("benchmarks", "duplicate_of", None, 1),
        Reference("sandbox_benchmark_tasks", "benchmark_id", None, 1),
    )
    assert database.references("models", free[0]) == database.references("benchmarks", free[1]) == ()


def test_tables_without_an_id_are_paged_by_their_keys(database, eval_rows):
    model, benchmark = eval_rows.model("m"), eval_rows.benchmark("b")
    job = eval_rows.job(model, benchmark)
    providers = [f'{text}{n}"\\,.()' for n in range(60) for text in ("a", "'", "é", "\n")]
    tasks = [eval_rows.task(f't"{n},\\') for n in range(1100)]
    trials = [eval_rows.trial(job, tasks[0]) for _ in range(5)]
    eval_rows.rows["sandbox_benchmark_tasks"] = [
        {"benchmark_id": benchmark, "benchmark_name": "n", "benchmark_version_hash": "h", "task_checksum": task}
        for task in tasks
    ]
    eval_rows.rows["sandbox_trial_model_usage"] = [
        {"trial_id": trial, "model_id": model, "model_provider": provider} for trial in trials for provider in providers
    ]
    eval_rows.load()
    assert Reference("sandbox_trial_model_usage", "model_id", "ada", 1200) in database.references("models", model)
    tasks_of = Reference("sandbox_benchmark_tasks", "benchmark_id", None, 1100)
    assert tasks_of in database.references("benchmarks", benchmark)


def test_a_schema_without_the_later_columns_is_read(database, eval_rows):
    job = eval_rows.job(eval_rows.model("m"), eval_rows.benchmark("b"))
    eval_rows.load()
    later = {"slurm_job_id": "text", "submitted_at": "timestamptz", "is_overlong": "boolean", "notes": "text"}
    eval_rows.execute("ALTER TABLE sandbox_jobs " + ", ".join(f"DROP {name}" for name in later))
    eval_rows.execute("ALTER TABLE agents DROP duplicate_of")
    try:
        (row,) = database.jobs()
    finally:
        eval_rows.execute("ALTER TABLE sandbox_jobs " + ", ".join(f"ADD {name} {kind}" for name, kind in later.items()))
        eval_rows.execute("ALTER TABLE agents ADD duplicate_of uuid REFERENCES agents")
    assert (row.id, row.slurm_job_id, row.submitted_at, row.is_overlong) == (job, None, None, None)
