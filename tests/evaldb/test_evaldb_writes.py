"""Writes to the database: done, done already, or refused, alike over both backends; cut anywhere, and given again."""

from __future__ import annotations

import json
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.evaldb import Call, Insert, Patience, Update, open_writer
from benchwright.evaldb.comparing import differences, same
from benchwright.evaldb.write_steps import needs_function
from eval_databases import cut_at, folder_for_all, numbered
from object_servers import free_ports
from postgres_cuts import CutLine
from waiting import PATIENCE

ONCE = Patience(attempts=1, connect_timeout=2, answer_timeout=5)
ACCURACY = [{"name": "accuracy", "value": 0.25}]


@pytest.fixture
def cut_line(rows):
    with folder_for_all() as folder:
        line = CutLine(rows.server.folder / "data", folder / "cut")
        yield line
        line.stop()


def refused(writer, *plan):
    with pytest.raises(Failure) as failure:
        writer.write(plan)
    (problem,) = failure.value.problems
    return failure.value.exit, problem


def states(written):
    return [one.state for one in written]


@pytest.fixture
def job(rows):
    """A finished job of ada's, with three trials whose usage is of a model with a number for its name."""
    model, benchmark, task = rows.model("1774950145766573"), rows.benchmark("0" * 40), rows.task("t")
    job = rows.job(model, benchmark, metrics=ACCURACY, hf_traces_link=None)
    trials = [rows.trial(job, task) for _ in range(3)]
    rows.rows["sandbox_trial_model_usage"] = [
        {"trial_id": trial, "model_id": model, "model_provider": "hosted_vllm", "n_input_tokens": 5} for trial in trials
    ]
    rows.rows["sandbox_benchmark_tasks"] = [
        {"benchmark_id": benchmark, "benchmark_name": "x", "benchmark_version_hash": "y", "task_checksum": task}
    ]
    rows.load()
    return job


def deletion(rows, job, owner="ada"):
    there = rows.everything()
    (record,) = (one for one in there["sandbox_jobs"] if one["id"] == job)
    trials = [one for one in there["sandbox_trials"] if one["job_id"] == job]
    ids = {one["id"] for one in trials}
    usage = [one for one in there["sandbox_trial_model_usage"] if one["trial_id"] in ids]
    return Call("delete_job", {"row_owner": owner, "job": record, "trials": trials, "usage": usage})


def link(job, value="https://x/datasets/o/n", *, owner="ada", read=None):
    return Update("sandbox_jobs", {"id": job}, owner, {"hf_traces_link": read}, {"hf_traces_link": value})


class TestInserts:
    def test_once_and_again(self, rows, writer):
        plan = [
            Insert("benchmarks", {"id": numbered(50), "name": "it's", "benchmark_version_hash": "short"}),
            Insert("benchmarks", {"id": numbered(51), "name": '"; DROP TABLE models; --'}),
            Insert("agents", {"id": numbered(52), "name": "a"}),
        ]
        first = writer.write(plan)
        assert states(first) == ["done"] * 3
        assert [one.before for one in first] == [None] * 3
        assert [one.after["name"] for one in first] == [one.record["name"] for one in plan]
        again = writer.write(plan)
        assert states(again) == ["done-already"] * 3
        assert [one.after for one in again] == [one.after for one in first]
        assert len(rows.everything()["benchmarks"]) == 2

    def test_some_of_them_are_there(self, rows, writer):
        plan = [Insert("agents", {"id": numbered(number), "name": f"{number}"}) for number in range(50, 310)]
        writer.write(plan[40:60])
        assert states(writer.write(plan)) == ["done"] * 40 + ["done-already"] * 20 + ["done"] * 200

    def test_values_of_every_kind_are_the_same_when_they_come_back(self, rows, writer, job):
        trial = {
            "id": numbered(60), "trial_name": "ü\\n", "trial_uri": "u", "job_id": job, "task_checksum": "t",
            "reward": 0.1, "started_at": "2026-09-01T12:00:00.120000Z", "config": {"a": [1, None, True, 1.5, "x"]},
            "exception_info": None,
        }  # fmt: skip
        usage = {"trial_id": numbered(60), "model_id": numbered(1), "model_provider": "p", "n_output_tokens": None}
        plan = [Insert("sandbox_trials", trial), Insert("sandbox_trial_model_usage", usage)]
        assert states(writer.write(plan)) == ["done", "done"]
        assert states(writer.write(plan)) == ["done-already", "done-already"]

    def test_another_row_under_the_key(self, rows, writer, backend):
        writer.write([Insert("agents", {"id": numbered(50), "name": "a"})])
        exit_code, problem = refused(writer, Insert("agents", {"id": numbered(50), "name": "b"}))
        assert (exit_code, problem.code) == (Exit.REFUSED, "contested")
        assert problem.where.startswith(f"agents {numbered(50)} in {backend} at ")
        assert problem.found == "name is 'a', and not 'b'"

    def test_another_row_under_a_unique_name(self, rows, writer):
        writer.write([Insert("benchmarks", {"id": numbered(50), "name": "a"})])
        exit_code, problem = refused(writer, Insert("benchmarks", {"id": numbered(51), "name": "a"}))
        assert (exit_code, problem.code) == (Exit.REFUSED, "contested")
        assert problem.found.startswith('duplicate key value violates unique constraint "benchmarks_name_key"')

    @pytest.mark.parametrize(
        ("record", "exit_code", "code"),
        [
            ({"task_checksum": "none of these"}, Exit.REFUSED, "contested"),
            ({"config": None}, Exit.NO, "row-refused"),
            ({"reward": "much"}, Exit.NO, "row-refused"),
            ({"trial_name": "a\0b"}, Exit.NO, "row-refused"),
            ({"trial_name": "a\ud800b"}, Exit.NO, "row-refused"),
        ],
    )
    def test_a_row_that_the_database_does_not_take(self, rows, writer, job, record, exit_code, code):
        before = rows.everything()
        trial = {
            "id": numbered(60),
            "trial_name": "t",
            "trial_uri": "u",
            "task_checksum": "t",
            "config": {},
            "reward": 1,
        }
        found, problem = refused(writer, Insert("sandbox_trials", trial | record))
        assert (found, problem.code) == (exit_code, code)
        assert rows.everything() == before

    def test_a_row_without_its_key_is_no_plan(self):
        with pytest.raises(ValueError, match="a row of sandbox_trial_model_usage needs model_provider"):
            Insert("sandbox_trial_model_usage", {"trial_id": "x", "model_id": "y"})


class TestUpdates:
    def test_once_and_again(self, rows, writer, job):
        (first,) = writer.write([link(job)])
        assert (first.state, first.before["hf_traces_link"]) == ("done", None)
        assert first.after["hf_traces_link"] == "https://x/datasets/o/n"
        (again,) = writer.write([link(job)])
        assert (again.state, again.before) == ("done-already", again.after)

    def test_what_was_read_is_compared_in_every_kind_of_column(self, rows, writer, job):
        read = {
            "job_status": "Finished", "metrics": ACCURACY, "config": {}, "n_trials": 300, "is_overlong": None,
            "created_at": "2026-11-30T13:00:00+01:00", "job_name": "job-3", "stats": None, "notes": None,
        }  # fmt: skip
        values = {"stats": {"n": 1}, "metrics": [], "notes": 'a "b", (c)', "is_overlong": True}
        update = Update("sandbox_jobs", {"id": job}, "ada", read, values)
        assert states(writer.write([update])) == ["done"]
        assert states(writer.write([update])) == ["done-already"]
        back = Update("sandbox_jobs", {"id": job}, "ada", values, {name: read[name] for name in values})
        assert states(writer.write([back])) == ["done"]

    @pytest.mark.parametrize("size", [10, 20_000])
    def test_a_value_too_long_for_an_address(self, rows, writer, job, backend, size):
        long = {"trials": ["t" * size]}
        rows.execute("UPDATE sandbox_jobs SET stats = %s", json.dumps(long))
        update = Update("sandbox_jobs", {"id": job}, "ada", {"stats": long}, {"stats": None})
        assert states(writer.write([update])) == ["done"]
        assert states(writer.write([update])) == ["done-already"]
        if backend == "supabase":
            called = {request.path.rpartition("/")[2] for request in rows.standin.seen if "/rpc/" in request.path}
            assert called == ({"benchwright_functions", "benchwright_change_row"} if size > 6000 else set())

    @pytest.mark.parametrize(
        ("column", "there"),
        [
            ("hf_traces_link", "https://other"),
            ("job_status", "Failed"),
            ("metrics", [{"name": "accuracy", "value": 1}]),
        ],
    )
    def test_a_row_that_changed_since_it_was_read(self, rows, writer, job, column, there):
        rows.execute(f"UPDATE sandbox_jobs SET {column} = %s", json.dumps(there) if column == "metrics" else there)
        before = rows.everything()
        read = {"hf_traces_link": None, "job_status": "Finished", "metrics": ACCURACY}
        exit_code, problem = refused(writer, replace(link(job), read=read))
        assert (exit_code, problem.code) == (Exit.REFUSED, "contested")
        assert problem.found == f"{column} is {there!r}, and not {read[column]!r}".replace("not None", "not NULL")
        assert problem.fix == "look at it, then run this again: it plans anew"
        assert rows.everything() == before

    @pytest.mark.parametrize("done", [False, True])
    def test_a_row_of_somebody_else(self, rows, writer, job, done):
        """Also where it happens to be as it should."""
        rows.execute("UPDATE sandbox_jobs SET username = 'bob'")
        if done:
            rows.execute("UPDATE sandbox_jobs SET hf_traces_link = 'https://x/datasets/o/n'")
        before = rows.everything()
        exit_code, problem = refused(writer, link(job))
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, "contested", "it is bob's, and not ada's")
        assert problem.fix == "leave it, and tell its owner"
        assert rows.everything() == before

    def test_no_such_row(self, rows, writer, job):
        exit_code, problem = refused(writer, link(numbered(99)))
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, "contested", "there is no such row")

    def test_a_table_whose_rows_have_no_owner(self, rows, writer, job):
        update = Update("benchmarks", {"id": numbered(2)}, None, {"name": "0" * 40}, {"name": "b"})
        assert states(writer.write([update])) == ["done"]

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"owner": None}, "an owner is named for sandbox_jobs, and only there"),
            ({"key": {"job_name": "x"}}, "a row of sandbox_jobs is named by id"),
            ({"read": {}}, "every value that changes is compared first"),
        ],
    )
    def test_an_update_that_compares_too_little_is_no_plan(self, changed, said):
        with pytest.raises(ValueError, match=said):
            replace(link(numbered(1)), **changed)


class TestDeletions:
    def test_once_and_again(self, rows, writer, job):
        call = deletion(rows, job)
        (first,) = writer.write([call])
        assert (first.state, first.before["id"]) == ("done", job)
        there = rows.everything()
        assert not any(there[name] for name in ("sandbox_jobs", "sandbox_trials", "sandbox_trial_model_usage"))
        assert states(writer.write([call])) == ["done-already"]

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE sandbox_jobs SET job_status = 'Failed'",
            "UPDATE sandbox_trials SET reward = 1 WHERE id = (SELECT max(id::text)::uuid FROM sandbox_trials)",
            "INSERT INTO sandbox_trials SELECT gen_random_uuid(), trial_name, trial_uri, job_id, task_checksum, reward,"
            " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, config FROM sandbox_trials LIMIT 1",
            "UPDATE sandbox_trial_model_usage SET n_input_tokens = 6",
            "DELETE FROM sandbox_trial_model_usage",
        ],
    )
    def test_what_was_not_seen_is_not_deleted(self, rows, writer, job, statement):
        call = deletion(rows, job)
        rows.execute(statement)
        before = rows.everything()
        exit_code, problem = refused(writer, call)
        assert (exit_code, problem.code) == (Exit.REFUSED, "contested")
        assert problem.where.startswith(f"delete_job {job} in ")
        assert rows.everything() == before

    def test_a_row_of_somebody_else(self, rows, writer, job):
        call = deletion(rows, job, owner="bob")
        before = rows.everything()
        exit_code, problem = refused(writer, call)
        assert (exit_code, problem.found) == (Exit.REFUSED, "it is ada's, and not bob's")
        assert rows.everything() == before

    def test_a_table_that_nobody_knows_of_refers_to_it(self, rows, writer, job):
        rows.execute("CREATE TABLE pins (job uuid REFERENCES sandbox_jobs ON DELETE CASCADE)")
        rows.execute("GRANT SELECT ON pins TO service_role; INSERT INTO pins SELECT id FROM sandbox_jobs")
        try:
            exit_code, problem = refused(writer, deletion(rows, job))
            assert (exit_code, problem.found) == (Exit.REFUSED, "1 of pins.job refer to it")
            assert len(rows.everything()["sandbox_jobs"]) == 1
        finally:
            rows.execute("DROP TABLE pins")

    def test_a_model_and_a_benchmark_that_something_refers_to(self, rows, writer, job):
        there = rows.everything()
        tasks = there["sandbox_benchmark_tasks"]
        updated = [one for (one,) in _query(rows, "SELECT to_jsonb(one) FROM models one")]
        model = Call("drop_model", {"model": updated[0]})
        updated = [one for (one,) in _query(rows, "SELECT to_jsonb(one) FROM benchmarks one")]
        benchmark = Call("drop_benchmark", {"benchmark": updated[0], "tasks": tasks})
        kept = writer.write([model, benchmark])
        assert states(kept) == ["kept", "kept"]
        assert kept[0].told["references"] == {"sandbox_jobs.model_id": 1, "sandbox_trial_model_usage.model_id": 3}
        assert kept[1].told["references"] == {"sandbox_jobs.benchmark_id": 1}
        assert rows.everything() == there
        gone = writer.write([deletion(rows, job), model, benchmark])
        assert states(gone) == ["done"] * 3
        there = rows.everything()
        assert not (there["models"] or there["benchmarks"] or there["sandbox_benchmark_tasks"])
        assert states(writer.write([model, benchmark])) == ["done-already", "done-already"]

    def test_usage_of_ones_own_trials_alone(self, rows, writer, job):
        other = [{**one, "model_provider": "p"} for one in rows.everything()["sandbox_trial_model_usage"]]
        seen = rows.everything()["sandbox_trial_model_usage"]
        arguments = {"row_owner": "ada", "target": job, "seen": seen, "wanted": other}
        assert states(writer.write([Call("change_usage", arguments)])) == ["done"]
        assert rows.everything()["sandbox_trial_model_usage"] == other
        assert states(writer.write([Call("change_usage", arguments)])) == ["done-already"]
        for wrong in ({"row_owner": "bob"}, {"target": numbered(99)}, {"wanted": seen, "seen": []}):
            assert (
                refused(writer, Call("change_usage", arguments | {"seen": other, "wanted": []} | wrong))[0]
                == Exit.REFUSED
            )
        assert rows.everything()["sandbox_trial_model_usage"] == other

    def test_some_trials_of_a_job_with_their_usage(self, rows, writer, job):
        start = rows.everything()
        trials, kept = start["sandbox_trials"][:2], start["sandbox_trials"][2:]
        ids = {trial["id"] for trial in trials}
        usage = [one for one in start["sandbox_trial_model_usage"] if one["trial_id"] in ids]
        arguments = {"row_owner": "ada", "target": job, "trials": trials, "usage": usage}
        for wrong in (
            {"row_owner": "bob"},
            {"target": numbered(99)},
            {"usage": usage[1:]},
            {"usage": start["sandbox_trial_model_usage"]},
            {"trials": [trials[0], trials[1] | {"reward": 0.25}]},
        ):
            assert refused(writer, Call("drop_trials", arguments | wrong))[1].code == "contested"
        assert rows.everything() == start
        assert states(writer.write([Call("drop_trials", arguments)])) == ["done"]
        there = rows.everything()
        assert (there["sandbox_trials"], there["sandbox_jobs"]) == (kept, start["sandbox_jobs"])
        assert [one["trial_id"] for one in there["sandbox_trial_model_usage"]] == [kept[0]["id"]]
        assert states(writer.write([Call("drop_trials", arguments)])) == ["done-already"]
        assert refused(writer, Call("drop_trials", arguments | {"row_owner": "bob"}))[1].code == "contested"

    def test_no_usage_for_a_trial_of_another_job(self, rows, writer, job):
        seen = rows.everything()["sandbox_trial_model_usage"]
        rows.execute("UPDATE sandbox_trials SET job_id = NULL WHERE id = %s", seen[0]["trial_id"])
        arguments = {"row_owner": "ada", "target": job, "seen": seen[1:], "wanted": seen}
        assert refused(writer, Call("change_usage", arguments))[1].code == "contested"


def _query(rows, statement):
    with psycopg.connect(rows.server.url) as connection:
        return connection.execute(statement).fetchall()


class TestPlans:
    def test_over_postgres_all_or_nothing_over_supabase_up_to_the_refusal(self, rows, writer, job, backend):
        plan = [link(job), link(numbered(99)), deletion(rows, job)]
        assert refused(writer, *plan)[1].code == "contested"
        found = rows.everything()["sandbox_jobs"][0]["hf_traces_link"]
        assert found == (None if backend == "postgres" else "https://x/datasets/o/n")

    def test_nothing_to_do(self, writer):
        assert writer.write([]) == ()

    def test_functions_that_are_not_there(self, rows, job):
        rows.drop_functions()
        try:
            writer = rows.writer("supabase")
            exit_code, problem = refused(writer, link(job), deletion(rows, job))
        finally:
            rows.install_functions()
        assert (exit_code, problem.code) == (Exit.REFUSED, "needs-function")
        assert problem.found == "it has no function benchwright_functions"
        assert problem.fix.startswith('have them installed (psql "$DATABASE_URL" -f ')
        assert rows.everything()["sandbox_jobs"][0]["hf_traces_link"] is None  # refused before the first write

    def test_the_command_that_installs_them_runs_as_it_stands(self, monkeypatch):
        monkeypatch.setattr("benchwright.evaldb.write_steps.FUNCTIONS", Path("/a folder/functions.sql"))
        (problem,) = needs_function("a database", "x").problems
        assert problem.fix == (
            """have them installed (psql "$DATABASE_URL" -f '/a folder/functions.sql'), or set DATABASE_URL: """
            "Postgres needs none"
        )

    def test_functions_of_another_version(self, rows, job):
        rows.execute("CREATE OR REPLACE FUNCTION benchwright_functions() RETURNS integer LANGUAGE sql AS 'SELECT 0'")
        try:
            _, problem = refused(rows.writer("supabase"), deletion(rows, job))
        finally:
            rows.install_functions()
        assert problem.found == "it has no function of version 3: benchwright_functions says 0"

    def test_postgres_keeps_nothing_of_the_functions(self, rows, job):
        rows.drop_functions()
        writer = rows.writer("postgres")
        try:
            assert states(writer.write([deletion(rows, job)])) == ["done"]
            names = "SELECT count(*) FROM pg_proc WHERE proname LIKE 'benchwright%'"
            assert _query(rows, names) == [(0,)]
        finally:
            writer.close()
            rows.install_functions()


class TestRights:
    @pytest.fixture
    def reader(self, rows):
        rows.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        yield rows.server.url.replace("//postgres@", "//reader@")
        rows.execute("DROP OWNED BY reader; DROP ROLE reader")

    @pytest.mark.parametrize("what", ["insert", "update", "delete"])
    def test_a_role_or_key_that_may_not_write(self, rows, job, reader, backend, what):
        settings = {"DATABASE_URL": reader} if backend == "postgres" else rows.settings("supabase")  # the anon key
        plan = {
            "insert": Insert("agents", {"id": numbered(50), "name": "a"}),
            "update": link(job),
            "delete": deletion(rows, job),
        }
        writer = open_writer(backend, settings, ONCE)
        before = rows.everything()
        exit_code, problem = refused(writer, plan[what])
        writer.close()
        assert (exit_code, problem.code) == (Exit.ENVIRONMENT, "no-permission")
        assert problem.found.startswith("permission denied for table ")
        assert problem.fix == "use SUPABASE_SERVICE_ROLE_KEY, or in DATABASE_URL a role that may write these tables"
        assert rows.everything() == before

    def test_rows_that_are_hidden_are_not_absent(self, rows, job, reader):
        """A role that row-level security hides rows from may not conclude that nothing refers to one."""
        rows.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO reader, anon")
        rows.execute("ALTER TABLE sandbox_jobs ENABLE ROW LEVEL SECURITY")
        (model,) = [one for (one,) in _query(rows, "SELECT to_jsonb(one) FROM models one")]
        before = rows.everything()
        try:
            for backend, settings in (
                ("postgres", {"DATABASE_URL": reader}),
                ("supabase", rows.settings("supabase")),
            ):
                writer = open_writer(backend, settings, ONCE)
                exit_code, problem = refused(writer, Call("drop_model", {"model": model}))
                writer.close()
                assert (exit_code, problem.code) == (Exit.ENVIRONMENT, "no-permission")
                assert problem.found.startswith(
                    'query would be affected by row-level security policy for table "sandbox_'
                )
        finally:
            rows.execute("ALTER TABLE sandbox_jobs DISABLE ROW LEVEL SECURITY")
            rows.execute("REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public FROM anon")
        assert rows.everything() == before

    def test_no_server(self, backend):
        port = free_ports(1)[0]
        settings = {"DATABASE_URL": f"postgresql://ada:the-word@127.0.0.1:{port}/evals"}
        settings |= {"SUPABASE_URL": f"http://127.0.0.1:{port}", "SUPABASE_ANON_KEY": "the-key-of-tests"}
        exit_code, problem = refused(open_writer(backend, settings, ONCE), link(numbered(1)))
        assert (exit_code, problem.code) == (Exit.REMOTE, "database-unavailable")


def big_plan(rows, job):
    """A plan with a write of every kind, each of which changes something."""
    (old,) = (one for (one,) in _query(rows, "SELECT to_jsonb(one) FROM models one"))
    usage = rows.everything()["sandbox_trial_model_usage"]
    model = {**old, "id": numbered(70), "name": "laion/m"}
    moved = [{**one, "model_id": numbered(70)} for one in usage]
    return [
        Insert("models", model),
        Update("sandbox_jobs", {"id": job}, "ada", {"model_id": numbered(1)}, {"model_id": numbered(70)}),
        Call("change_usage", {"row_owner": "ada", "target": job, "seen": usage, "wanted": moved}),
        Call("drop_model", {"model": old}),
    ]


class TestCuts:
    """A line that is cut at any message of a plan, before or after it takes effect; given again it is completed."""

    def test_over_postgres(self, rows, job, cut_line):
        plan = big_plan(rows, job)
        start = rows.everything()
        at, cuts = 0, 0
        wanted = None
        while True:
            at += 1
            for after in (False, True):
                cut_line.cut(at, after=after)
                writer = open_writer("postgres", {"DATABASE_URL": cut_line.url()}, ONCE)
                try:
                    writer.write(plan)
                    cut = False
                except Failure as failure:
                    assert failure.exit == Exit.REMOTE
                    cut = True
                cuts += cut
                whole = rows.everything() != start
                cut_line.cut(None)
                assert states(writer.write(plan)) == ["done-already" if whole else "done"] * 4
                writer.close()
                wanted = wanted or rows.everything()
                assert rows.everything() == wanted
                if not cut and not after:
                    assert cuts >= 2 * (len(plan) + 3)  # begin, settings, functions, each write, drop, commit
                    return
                rows.execute(  # back to the start
                    "INSERT INTO models SELECT * FROM jsonb_populate_record(NULL::models, %s)",
                    json.dumps(plan[3].arguments["model"]),
                )
                rows.execute("UPDATE sandbox_jobs SET model_id = %s", numbered(1))
                rows.execute("UPDATE sandbox_trial_model_usage SET model_id = %s", numbered(1))
                rows.execute("DELETE FROM models WHERE id = %s", numbered(70))
                assert rows.everything() == start

    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize("step", range(4))
    def test_over_supabase(self, rows, job, step, after):
        plan = big_plan(rows, job)
        fault = cut_at(step)
        rows.standin.fault, rows.standin.fault_after = (None, fault) if after else (fault, None)
        writer = rows.writer("supabase", ONCE)
        with pytest.raises(Failure) as failure:
            writer.write(plan)
        assert failure.value.exit == Exit.REMOTE
        rows.standin.fault = rows.standin.fault_after = None
        done = step + after
        assert states(writer.write(plan)) == ["done-already"] * done + ["done"] * (4 - done)

    def test_over_supabase_it_heals_itself(self, rows, job):
        plan = big_plan(rows, job)
        cuts = [cut_at(step) for step in (0, 2, 4, 6)]
        rows.standin.fault_after = lambda request: next(filter(None, [cut(request) for cut in cuts]), None)
        assert states(rows.writer("supabase").write(plan)) == ["done-already"] * 4
        assert _query(rows, "SELECT name FROM models") == [("laion/m",)]


def _race(backend, settings, plan, start):
    """What becomes of a plan that is written when everybody is ready."""
    writer = open_writer(backend, settings)
    start.wait()
    try:
        return states(writer.write(plan))
    except Failure as failure:
        return [problem.code for problem in failure.problems]
    finally:
        writer.close()


def _race_apart(results, *race):
    results.put(_race(*race))


class TestTwoAtOnce:
    def test_processes(self, rows, job):
        context = multiprocessing.get_context("spawn")
        start, results = context.Barrier(2), context.Queue()
        plans = [[link(job, f"https://x/datasets/o/{name}")] for name in ("a", "b")]
        settings = rows.settings("postgres")
        racers = [
            context.Process(target=_race_apart, args=(results, "postgres", settings, one, start)) for one in plans
        ]
        for racer in racers:
            racer.start()
        found = sorted(results.get(timeout=PATIENCE) for _ in racers)
        for racer in racers:
            racer.join()
        assert found == [["contested"], ["done"]]

    @pytest.mark.parametrize("what", ["insert", "update", "delete"])
    def test_one_wins_and_the_other_is_told(self, rows, job, backend, what):
        settings = rows.settings(backend, key=rows.standin.service_key)
        for number in range(5):
            plans = {
                "insert": [[Insert("agents", {"id": numbered(80 + number), "name": name})] for name in "ab"],
                "update": [[link(job, f"https://x/datasets/o/{name}{number}", read=None)] for name in "ab"],
                "delete": [[deletion(rows, job)], [link(job, f"https://x/datasets/o/{number}")]],
            }[what]
            race = partial(_race, backend, settings, start=threading.Barrier(2))
            with ThreadPoolExecutor(2) as pool:
                found = sorted(pool.map(race, plans))
            assert found == [["contested"], ["done"]]
            rows.execute("UPDATE sandbox_jobs SET hf_traces_link = NULL")
            if what == "delete" and not rows.everything()["sandbox_jobs"]:
                return


@pytest.mark.parametrize(
    ("stored", "wanted", "equal"),
    [
        ("2026-09-01T12:00:00+00:00", "2026-09-01T12:00:00Z", True),
        ("2026-09-01T12:00:00+00:00", "2026-09-01T14:00:00+02:00", True),
        ("2026-09-01T12:00:00+00:00", "2026-09-01T12:00:01Z", False),
        ("ab   ", "ab", False),
        ("ab", "ab ", False),
        (1, 1.0, True),
        (1, True, False),
        (10**308, 1e308, True),
        (10**308, 10**308 + 1, False),
        (10**309, 1e308, False),
        ({"a": [1]}, {"a": [True]}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        (None, "", False),
    ],
)
def test_what_is_the_same(stored, wanted, equal):
    assert same(stored, wanted, "started_at") is equal


def test_differences_are_told_in_words():
    row = {"a": None, "b": "x" * 99}
    assert list(differences(row, {"a": 1, "b": "y", "c": 2})) == [
        "a is NULL, and not 1",
        f"b is '{'x' * 59}..., and not 'y'",
        "it has no c",
    ]
