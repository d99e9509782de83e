"""Whatever is in the tables and whatever is asked: Postgres and Supabase give the same rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.evaldb import RunNames
from eval_databases import numbered

# Whatever a text column holds: anything but NUL and halves of surrogate pairs.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
AWKWARD = st.sampled_from(
    ["", " ", "null", "a,b", '"', "\\", "'", "(", ")", ".", "a.b", "%", "*", "{}", "in.(a)", "\n"]
)
NAMES = st.one_of(TEXTS, AWKWARD, st.sampled_from(["m", "hosted_vllm/m", "openai/1234567890123", "laion/m", "f" * 40]))
NUMBERS = st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False, width=16))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
TIMES = st.one_of(
    st.none(),
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)).map(datetime.isoformat),
    st.sampled_from(["infinity", "-infinity", "0001-01-01 00:00:00 BC", "99999-01-01T00:00:00Z"]),
)
STATUSES = st.sampled_from(["Pending", "Started", "Finished", "Failed"])
COUNTS = st.integers(-(2**31), 2**31 - 1)
JOBS = st.fixed_dictionaries(
    {
        "job_name": NAMES,
        "username": NAMES,
        "job_status": STATUSES,
        "created_at": TIMES.filter(bool),
        "n_trials": COUNTS,
        "n_rep_eval": COUNTS,
        "config": VALUES.filter(lambda value: value is not None),
        "metrics": VALUES,
        "stats": VALUES,
    },
    optional={
        "started_at": TIMES,
        "ended_at": TIMES,
        "submitted_at": TIMES,
        "slurm_job_id": NAMES,
        "notes": NAMES,
        "hf_traces_link": NAMES,
        "is_overlong": st.booleans(),
    },
)


@pytest.fixture
def both(eval_rows):
    opened = [
        eval_rows.open("postgres"),
        eval_rows.open("supabase", key=eval_rows.standin.service_key),
    ]
    yield opened
    for database in opened:
        database.close()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    models=st.lists(st.tuples(NAMES, st.integers(0, 9)), min_size=1, max_size=5),
    benchmarks=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    jobs=st.lists(JOBS, max_size=6),
    picks=st.randoms(use_true_random=False),
    asked=st.lists(NAMES, min_size=1, max_size=3),
)
def test_both_backends_give_the_same(both, eval_rows, models, benchmarks, jobs, picks, asked):
    eval_rows.empty()
    agent = eval_rows.agent()
    model_ids: list[str] = []
    for name, twin in models:
        extra = {"duplicate_of": model_ids[twin]} if twin < len(model_ids) else {}
        model_ids.append(eval_rows.model(name, **extra))
    benchmark_ids = [eval_rows.benchmark(name) for name in benchmarks]
    for job in jobs:
        eval_rows.job(picks.choice(model_ids), picks.choice(benchmark_ids), agent, **job)
    eval_rows.load()
    names = [*asked, models[0][0], benchmarks[0], *(job["job_name"] for job in jobs[:2])]
    questions = [
        lambda database: database.jobs(),
        lambda database: database.models(),
        lambda database: database.benchmarks(),
        lambda database: database.agents(),
        lambda database: database.jobs(since=datetime(2000, 1, 1, tzinfo=UTC)),
        lambda database: database.jobs(run_id=numbered(len(models) + len(benchmarks) + 2)),
        lambda database: database.references("models", model_ids[0]),
        lambda database: database.references("benchmarks", benchmark_ids[0]),
        lambda database: [database.jobs(model=name) for name in names],
        lambda database: [database.jobs(benchmark=name) for name in names],
        lambda database: [database.jobs(job_name=name) for name in names],
        lambda database: [database.siblings(name) for name in names],
        lambda database: database.rows_of([RunNames(tuple(asked), tuple(benchmarks), tuple(names), ("x",))]),
    ]
    for database in both:
        database._registry = None  # of the example before
    for question in questions:
        over_postgres, over_supabase = (question(database) for database in both)
        assert over_postgres == over_supabase
    assert len(both[0].jobs()) == len(jobs)
