"""What rows say by themselves: names, shapes of JSON, counts and age; owners; which database the settings name."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.evaldb import (
    JobRow,
    Metrics,
    Pair,
    configured,
    duplicates,
    is_hash,
    is_numeric_model,
    is_run_name,
    metrics_of,
    model_key,
    open_database,
    owners_from,
    row_health,
    served_since,
    stats_of,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROW = JobRow(
    id="00000000-0000-0000-0000-000000000001",
    job_name="dev_set_v2_laion_x-8B_20261130_110000",
    username="ada",
    job_status="Finished",
    created_at=NOON,
    submitted_at=None,
    started_at=None,
    ended_at=None,
    slurm_job_id=None,
    n_trials=300,
    n_rep_eval=3,
    metrics=[{"name": "accuracy", "value": 0.25}, {"name": "accuracy_stderr", "value": 0.01}],
    stats={"n_completed_trials": 300},
    config={},
    hf_traces_link=None,
    agent_id="a",
    model_id="m",
    benchmark_id="b",
    agent="terminus-2",
    model="laion/x-8B",
    benchmark="dev_set_v2",
)


def codes(*, now=NOON, run_names=(), **changes):
    return {remark.code for remark in row_health(replace(ROW, **changes), now=now, run_names=run_names)}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("laion/X-8B", "laion/x-8b"),
        ("hosted_vllm/laion/x-8B", "laion/x-8b"),
        ("openai/hosted_vllm/laion/x-8B", "laion/x-8b"),
        ("hosted_vllm/1774950145766573", "1774950145766573"),
        ("openai/1774950145766573", "1774950145766573"),
        ("openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("hosted_vllm/openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("hosted_vllm/", "hosted_vllm/"),
        (" laion/x ", "laion/x"),
        ("", ""),
    ],
)
def test_the_key_of_a_model(name, key):
    assert model_key(name) == key
    assert model_key(key) == key


def test_a_numeric_model_tells_when_it_was_launched():
    assert served_since("hosted_vllm/1774950145766573") == datetime(2026, 3, 31, 9, 42, 25, 766573, tzinfo=UTC)
    assert served_since("9" * 40) is None
    assert served_since("laion/1774950145766573") is None
    assert [is_numeric_model(name) for name in ("123456789012", "12345678901", "laion/123456789012", "1e300")] == [
        True, False, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "hashed"),
    [
        ("0c553bd6" * 5, True),
        ("f" * 64, True),
        ("f" * 31, False),
        ("f" * 65, False),
        ("F" * 40, True),
        ("g" * 40, False),
    ],
)
def test_a_hash(name, hashed):
    assert is_hash(name) == hashed


@pytest.mark.parametrize(
    "name",
    [
        "terminal_bench_2_Qwen3_5_35B_A3B_x",
        "eval-laion_foo-8B_DCAgent_dev_set_v2",
        "dev_set_v2-20261130_110000",
        "dev_set_v2_2026-11-30__11-00-00",
        "the-run",
    ],
)
def test_the_name_of_a_run(name):
    assert is_run_name(name, models=["Qwen/Qwen3.5-35B-A3B"], run_names=["the-run"])


def test_a_benchmark_that_begins_with_a_models_name_is_no_run():
    assert not is_run_name("terminal_bench_2", models=["laion/terminal"])
    assert is_run_name("terminal_bench_2_terminal_x", models=["laion/terminal"])


@pytest.mark.parametrize(
    "name",
    [
        "swebench-verified-random-100-folders",
        "dev_set_v2",
        "terminal_bench_2",
        "DCAgent_dev_set_v2",
        "bfcl-parity",
        "aime",
    ],
)
def test_the_name_of_a_benchmark(name):
    assert not is_run_name(name, models=["laion/x-8B", "hosted_vllm/1774950145766573", "a/ai"], run_names=["the-run"])


@pytest.mark.parametrize(
    ("value", "metrics"),
    [
        (None, Metrics("null")),
        ([], Metrics("empty")),
        (ROW.metrics, Metrics("list", 0.25, 1, 1)),
        ({"accuracy": 0.5}, Metrics("object", 0.5, 1, 0)),
        ({}, Metrics("object")),
        ([{"name": "accuracy", "value": None}], Metrics("list", None, 1, 0)),
        ([{"name": "accuracy", "value": "0.3"}], Metrics("list", None, 1, 0)),
        ([{"name": "accuracy", "value": True}], Metrics("list", None, 1, 0)),
        ([{"name": "accuracy", "value": 10**400}], Metrics("list", None, 1, 0)),
        ([{"name": "accuracy", "value": 0}], Metrics("list", 0.0, 1, 0)),
        ([{"name": "accuracy", "value": None}, {"name": "accuracy", "value": 0.5}], Metrics("list", 0.5, 2, 0)),
        ([{"name": "accuracy_stderr", "value": 0.1}] * 2, Metrics("list", None, 0, 2)),
        ('{"accuracy": 0.5}', Metrics("text", 0.5, 1, 0)),
        ('[{"name": "accuracy", "value": NaN}]', Metrics("text", None, 1, 0)),
        ('"\\"0.5\\""', Metrics("text")),
        ("no JSON", Metrics("text")),
        ("[" * 100_000, Metrics("text")),
        ([1], Metrics("other")),
        (0.5, Metrics("other")),
    ],
)
def test_metrics_in_every_shape(value, metrics):
    assert metrics_of(value) == metrics


def test_stats_in_every_shape():
    assert stats_of({"a": 1}) == stats_of('{"a": 1}') == {"a": 1}
    assert [stats_of(value) for value in (None, [], "[]", "x", '"{}"', 1, "[" * 100_000)] == [None] * 7


def test_a_sound_row_has_no_remark():
    assert row_health(ROW, now=NOON + timedelta(days=99)) == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": "hosted_vllm/1774950145766573"}, {"numeric-model"}),
        ({"benchmark": "377118ff" * 5}, {"hash-benchmark"}),
        ({"benchmark": ROW.job_name}, {"run-dir-benchmark"}),
        ({"benchmark": "dev_set_v2_olmo_8b", "model": "laion/Olmo-8B"}, {"run-dir-benchmark"}),
        ({"benchmark": "dev_set_v2_x_8b"}, set()),
        ({"agent": None}, {"dangling-id"}),
        ({"metrics": {"accuracy": 0.5}}, {"dict-metrics"}),
        ({"metrics": '{"accuracy": 0.5}'}, {"text-metrics"}),
        ({"metrics": [1]}, {"other-metrics", "no-score"}),
        ({"metrics": []}, {"no-score"}),
        ({"metrics": None}, {"no-score"}),
        ({"metrics": [{"name": "accuracy", "value": None}]}, {"no-score"}),
        ({"metrics": ROW.metrics * 2}, {"doubled-accuracy", "doubled-stderr"}),
        ({"stats": '{"n_trials": 3}'}, {"text-stats"}),
        ({"stats": "x"}, {"text-stats"}),
        ({"stats": [1]}, {"odd-stats"}),
        ({"n_trials": 0}, {"no-trials"}),
        ({"job_status": "Pending", "n_trials": 0, "metrics": None}, {"n-trials-unset"}),
        ({"job_status": "Started", "n_trials": 32, "metrics": None}, {"n-trials-concurrency"}),
        ({"job_status": "Failed", "metrics": None}, set()),
    ],
)
def test_what_a_row_shows(changes, expected):
    assert codes(**changes) == expected


def test_a_run_that_is_named_elsewhere_is_no_benchmark():
    assert codes(benchmark="my-run", run_names=["my-run"]) == {"run-dir-benchmark"}


def test_remarks_say_what_they_mean():
    row = replace(ROW, model="1774950145766573", metrics=[], job_status="Started", n_trials=32)
    said = [(one.severity, one.text) for one in row_health(row, now=NOON + timedelta(hours=13, minutes=59))]
    assert said == [
        ("error", "the model is the served id 1774950145766573, launched 2026-03-31 09:42 UTC"),
        ("context", "n_trials 32 of a started row is how many trials run at once"),
        ("warn", "Started for 13 h without a sign of its job"),
    ]


@pytest.mark.parametrize("status", ["Pending", "Started", "Running"])
def test_a_row_is_stale_by_its_last_sign(status):
    young = NOON - timedelta(hours=12)
    old = young - timedelta(seconds=1)
    assert "stale" not in codes(job_status=status, created_at=young)
    assert "stale" in codes(job_status=status, created_at=old)
    assert "stale" not in codes(job_status=status, created_at=old, started_at=young)
    assert "stale" not in codes(job_status=status, created_at=None)


def test_finished_and_failed_rows_are_not_stale():
    long_after = NOON + timedelta(days=400)
    assert "stale" not in codes(now=long_after) | codes(now=long_after, job_status="Failed")


def test_rows_of_one_pair():
    other_agent = replace(ROW, id="2", agent="nop")
    sibling = replace(ROW, id="3", model="hosted_vllm/laion/X-8b", model_id="n", username="bo", job_status="Pending")
    nameless = replace(ROW, id="4", model=None)
    assert duplicates([ROW, other_agent, nameless, sibling]) == {
        Pair("terminus-2", "laion/x-8b", "dev_set_v2"): (ROW, sibling)
    }


@pytest.mark.parametrize(
    ("text", "owners"), [("ada", {"ada"}), ("ada,bo", {"ada", "bo"}), (" ada , bo\n ada", {"ada", "bo"})]
)
def test_owners_are_declared(text, owners):
    assert owners_from({"BENCHWRIGHT_OWNERS": text, "USER": "root"}) == owners


@pytest.mark.parametrize("settings", [{}, {"BENCHWRIGHT_OWNERS": ""}, {"BENCHWRIGHT_OWNERS": " , "}, {"USER": "ada"}])
def test_owners_are_never_guessed(settings):
    with pytest.raises(Failure) as failure:
        owners_from(settings | {"LOGNAME": "ada", "UPLOAD_USERNAME": "ada"})
    assert failure.value.exit == Exit.ENVIRONMENT
    assert str(failure.value) == (
        "BENCHWRIGHT_OWNERS: not set, expected your user names in the database\n"
        "    fix: export BENCHWRIGHT_OWNERS=NAME,NAME with every name that your rows have in the column username"
    )


POSTGRES = {"DATABASE_URL": "postgresql://h/d"}
SUPABASE = {"SUPABASE_URL": "https://h", "SUPABASE_ANON_KEY": "the-key-of-tests"}


def key_of(claims):
    return f"a.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.c"


class TestTheDatabaseThatIsMeant:
    def test_the_one_that_is_configured(self):
        assert open_database(None, POSTGRES).place == "postgres at h/d"
        assert open_database(None, SUPABASE).place == "supabase at h"

    def test_the_one_that_is_named(self):
        assert open_database("postgres", POSTGRES | SUPABASE).place == "postgres at h/d"
        assert open_database("supabase", POSTGRES | SUPABASE).place == "supabase at h"

    @pytest.mark.parametrize("settings", [POSTGRES | SUPABASE, POSTGRES | {"SUPABASE_URL": "https://h"}])
    def test_never_one_of_two(self, settings):
        assert configured(settings) == ("postgres", "supabase")
        assert self.refused(None, settings, Exit.USAGE) == (
            "--db: DATABASE_URL (postgres) and SUPABASE_URL (supabase) are both set, expected one database\n"
            "    fix: name the one that is meant: --db postgres or --db supabase"
        )

    @pytest.mark.parametrize(
        ("choice", "settings", "found"),
        [
            (None, {}, "none is configured"),
            (None, {"SUPABASE_ANON_KEY": "k"}, "none is configured"),
            ("postgres", SUPABASE, "DATABASE_URL not set"),
            ("supabase", POSTGRES, "SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY or SUPABASE_ANON_KEY not set"),
            (None, {"SUPABASE_URL": "https://h"}, "SUPABASE_SERVICE_ROLE_KEY or SUPABASE_ANON_KEY not set"),
            (None, SUPABASE | {"SUPABASE_URL": "h.supabase.co"}, "no address"),
            (None, SUPABASE | {"SUPABASE_URL": "https://ada:word@h"}, "no address"),
            (None, SUPABASE | {"SUPABASE_ANON_KEY": "a key"}, "a value of 5 characters that is no key"),
            (None, SUPABASE | {"SUPABASE_ANON_KEY": "k\n"}, "a value of 2 characters that is no key"),
        ],
    )
    def test_what_is_missing(self, choice, settings, found):
        said = self.refused(choice, settings, Exit.ENVIRONMENT)
        assert found in said
        assert "word" not in said

    def test_the_key_that_sees_most_is_used(self):
        from benchwright.evaldb.supabase import is_service_key

        service, anon = key_of({"role": "service_role"}), key_of({"role": "anon"})
        assert is_service_key(service)
        assert is_service_key("sb_secret_x")
        assert not any(map(is_service_key, ("", "x", "a.b.c", key_of([]), key_of({}), anon, "sb_publishable_x")))
        assert open_database(None, SUPABASE | {"SUPABASE_SERVICE_ROLE_KEY": service}).sees_everything
        assert not open_database(None, SUPABASE | {"SUPABASE_SERVICE_ROLE_KEY": anon}).sees_everything

    def refused(self, choice, settings, exit_code):
        with pytest.raises(Failure) as failure:
            open_database(choice, settings)
        assert failure.value.exit == exit_code
        return str(failure.value)


class TestTheSchemaIsTheLiveOne:
    def test_a_pair_may_have_several_rows(self, eval_rows):
        model, benchmark = eval_rows.model("m"), eval_rows.benchmark("b")
        for _ in range(2):
            eval_rows.job(model, benchmark)
        eval_rows.model("m")
        eval_rows.load()

    @pytest.mark.parametrize(
        ("statement", "error"),
        [
            ("INSERT INTO benchmarks (name) VALUES ('b')", psycopg.errors.UniqueViolation),
            ("UPDATE models SET duplicate_of = id", psycopg.errors.CheckViolation),
            ("UPDATE sandbox_jobs SET package_version = NULL", psycopg.errors.CheckViolation),
            ("UPDATE sandbox_jobs SET job_status = 'Running'", psycopg.errors.InvalidTextRepresentation),
            ("DELETE FROM benchmarks", psycopg.errors.ForeignKeyViolation),
            ("DELETE FROM models", psycopg.errors.ForeignKeyViolation),
            ("DELETE FROM agents", psycopg.errors.ForeignKeyViolation),
            ("DELETE FROM sandbox_jobs", psycopg.errors.ForeignKeyViolation),
            ("DELETE FROM sandbox_trials", psycopg.errors.ForeignKeyViolation),
        ],
    )
    def test_nothing_cascades_and_what_is_wrong_is_refused(self, eval_rows, statement, error):
        job = eval_rows.job(eval_rows.model("m"), eval_rows.benchmark("b"))
        model = eval_rows.rows["models"][0]["id"]
        trial = eval_rows.trial(job, eval_rows.task("t"))
        usage = {"trial_id": trial, "model_id": model, "model_provider": "p"}
        eval_rows.rows["sandbox_trial_model_usage"] = [usage]
        eval_rows.load()
        with pytest.raises(error):
            eval_rows.execute(statement)

    def test_a_pending_row_needs_no_version(self, eval_rows):
        row = {"job_status": "Pending", "package_version": None, "n_trials": 0, "n_rep_eval": 0}
        eval_rows.job(eval_rows.model("m"), eval_rows.benchmark("b"), **row)
        eval_rows.load()
