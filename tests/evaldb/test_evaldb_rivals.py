"""What others put in a write's way: values that JSON confuses, names that look alike, tables, rows that move."""

from __future__ import annotations

import json
import threading

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.evaldb import Call, Insert, Update, owners_from
from benchwright.evaldb.comparing import same
from eval_databases import numbered
from waiting import wait_until

ACCURACY = [{"name": "accuracy", "value": 0.25}]


@pytest.fixture
def job(rows):
    """A job of ada's with a trial and its usage, whose metrics are the JSON value null, and not NULL."""
    model, benchmark, task = rows.model("1774950145766573"), rows.benchmark("0" * 40), rows.task("t")
    job = rows.job(model, benchmark, metrics=None, job_status="Started")
    trial = rows.trial(job, task)
    usage = {"trial_id": trial, "model_id": model, "model_provider": "hosted_vllm", "n_input_tokens": 5}
    rows.rows["sandbox_trial_model_usage"] = [usage]
    links = {"benchmark_id": benchmark, "benchmark_name": "x", "benchmark_version_hash": "y", "task_checksum": task}
    rows.rows["sandbox_benchmark_tasks"] = [links]
    rows.load()
    rows.execute("UPDATE sandbox_jobs SET metrics = 'null', stats = 'null'")
    rows.execute("UPDATE sandbox_trials SET exception_info = 'null'")
    return job


def removal(rows, job, owner="ada"):
    there = rows.everything()
    (record,) = there["sandbox_jobs"]
    trials, usage = there["sandbox_trials"], there["sandbox_trial_model_usage"]
    return Call("delete_job", {"row_owner": owner, "job": record, "trials": trials, "usage": usage})


class TestJsonsOwnNull:
    """It is read as NULL is, so that it has to be compared as NULL, too."""

    def test_is_written_over(self, rows, writer, job):
        update = Update("sandbox_jobs", {"id": job}, "ada", {"metrics": None}, {"metrics": ACCURACY})
        assert [one.state for one in writer.write([update])] == ["done"]
        assert rows.everything()["sandbox_jobs"][0]["metrics"] == ACCURACY

    def test_a_row_with_it_can_go(self, rows, writer, job):
        assert [one.state for one in writer.write([removal(rows, job)])] == ["done"]
        assert rows.everything()["sandbox_jobs"] == []

    def test_trials_with_it_can_go(self, rows, writer, job):
        there = rows.everything()
        arguments = {"row_owner": "ada", "target": job, "trials": there["sandbox_trials"]}
        plan = [Call("drop_trials", arguments | {"usage": there["sandbox_trial_model_usage"]})]
        assert [one.state for one in writer.write(plan)] == ["done"]
        assert rows.everything()["sandbox_trials"] == []

    def test_a_value_is_not_taken_for_it(self, rows, writer, job):
        rows.execute("UPDATE sandbox_jobs SET metrics = %s", json.dumps(ACCURACY))
        update = Update("sandbox_jobs", {"id": job}, "ada", {"metrics": None}, {"metrics": []})
        with pytest.raises(Failure) as caught:
            writer.write([update])
        assert caught.value.problems[0].code == "contested"


@pytest.mark.parametrize("other", ["ada ", " ada", "Ada", "ADA", "ada\t"])
class TestANameThatLooksAlike:
    def test_is_somebody_elses(self, rows, writer, job, other):
        rows.execute("UPDATE sandbox_jobs SET username = %s, notes = 'mine'", other)
        record = rows.everything()["sandbox_jobs"][0]
        before = rows.everything()
        for plan in (
            Update("sandbox_jobs", {"id": job}, "ada", {"notes": "mine"}, {"notes": "mine"}),
            Insert("sandbox_jobs", {**record, "username": "ada"}),
            removal(rows, job),
        ):
            with pytest.raises(Failure) as caught:
                writer.write([plan])
            (problem,) = caught.value.problems
            assert (problem.code, caught.value.exit) == ("contested", Exit.REFUSED)
            assert problem.found == f"it is {other}'s, and not ada's"
        assert rows.everything() == before


def test_blanks_count_but_where_the_column_pads_them():
    assert same("a" + " " * 63, "a", "benchmark_version_hash")
    assert not same("a ", "a", "name")
    assert not same("a ", "a", "username")


def test_times_are_compared_where_there_are_times():
    assert same("2026-09-01T12:00:00+00:00", "2026-09-01T14:00:00+02:00", "started_at")
    assert not same("20260901", "2026-09-01", "slurm_job_id")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("ada", {"ada"}),
        ("ada lovelace", {"ada", "lovelace"}),
        (" ada, lovelace ,", {"ada", "lovelace"}),
        ("Ada Lovelace,", {"Ada Lovelace"}),
        ("Ada Lovelace, ada", {"Ada Lovelace", "ada"}),
    ],
)
def test_a_name_with_a_blank_in_it_is_one_name_beside_commas(said, names):
    assert owners_from({"BENCHWRIGHT_OWNERS": said}) == names


def test_a_temporary_table_of_the_session_is_not_taken_for_ours(rows, job):
    arguments = removal(rows, job).arguments
    with psycopg.connect(rows.server.url) as connection:
        connection.execute("CREATE TEMP TABLE sandbox_jobs (LIKE public.sandbox_jobs)")
        values = [json.dumps(value) if not isinstance(value, str) else value for value in arguments.values()]
        ((told,),) = connection.execute("SELECT benchwright_delete_job(%s, %s, %s, %s)", values).fetchall()
    assert told["state"] == "done"
    assert rows.everything()["sandbox_jobs"] == []


def _drop_benchmark(rows):
    there = rows.everything()
    return Call("drop_benchmark", {"benchmark": there["benchmarks"][0], "tasks": there["sandbox_benchmark_tasks"]})


@pytest.mark.parametrize(
    ("statement", "plan"),
    [
        ("UPDATE sandbox_trial_model_usage SET n_input_tokens = 6", removal),
        (
            "UPDATE sandbox_trial_model_usage SET n_input_tokens = 6",
            lambda rows, job: Call(
                "change_usage",
                {
                    "row_owner": "ada",
                    "target": job,
                    "seen": rows.everything()["sandbox_trial_model_usage"],
                    "wanted": [],
                },
            ),
        ),
        (
            "UPDATE sandbox_trial_model_usage SET n_input_tokens = 6",
            lambda rows, job: Call(
                "drop_trials",
                {
                    "row_owner": "ada",
                    "target": job,
                    "trials": rows.everything()["sandbox_trials"],
                    "usage": rows.everything()["sandbox_trial_model_usage"],
                },
            ),
        ),
        ("UPDATE sandbox_benchmark_tasks SET benchmark_name = 'z'", lambda rows, job: _drop_benchmark(rows)),
    ],
)
def test_what_changes_between_the_look_and_the_deletion_is_not_deleted(rows, writer, job, statement, plan):
    """A rival's statement stands when ours begins, and is committed while ours waits for it."""
    wanted = plan(rows, job)
    if wanted.function == "drop_benchmark":
        rows.execute("UPDATE sandbox_jobs SET benchmark_id = %s", _other_benchmark(rows))
    caught: list[Failure] = []

    def write():
        try:
            writer.write([wanted])
        except Failure as failure:
            caught.append(failure)

    with psycopg.connect(rows.server.url) as rival:
        rival.execute(statement)
        ours = threading.Thread(target=write)
        ours.start()
        _until_it_waits(rows)
        rival.commit()
    ours.join()
    assert [failure.problems[0].code for failure in caught] == ["contested"]
    assert len(rows.everything()["sandbox_trial_model_usage"]) == 1
    assert len(rows.everything()["sandbox_benchmark_tasks"]) == 1


def _other_benchmark(rows):
    rows.execute("INSERT INTO benchmarks (id, name) VALUES (%s, 'another')", numbered(90))
    return numbered(90)


def _until_it_waits(rows):
    """Until a statement waits for another transaction's lock."""
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(rows.server.url, autocommit=True) as connection:
        wait_until(lambda: connection.execute(waits).fetchone() != (0,), pause=0.01)
