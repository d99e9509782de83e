"""Databases that refuse, hide, hang, lie and die: a read answers with all rows or with a failure, never with fewer."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.evaldb import Patience, open_database
from benchwright.rehearsal.postgrest_standin import Answer, PostgrestStandIn
from eval_databases import SOON, local_postgres
from object_servers import free_ports
from waiting import PATIENCE, children_of


@pytest.fixture
def filled(eval_rows):
    model, benchmark = eval_rows.model("m-1"), eval_rows.benchmark("b")
    for _ in range(1500):
        eval_rows.job(model, benchmark)
    eval_rows.load()
    return eval_rows


@pytest.fixture
def small(eval_rows):
    eval_rows.job(eval_rows.model("m-1"), eval_rows.benchmark("b"))
    eval_rows.load()
    return eval_rows


def failing(call, *args, **kwargs):
    with pytest.raises(Failure) as failure:
        call(*args, **kwargs)
    (problem,) = failure.value.problems
    return failure.value.exit, problem


def times(count, answer, *, of="/sandbox_jobs", after=0):
    """The answer for some requests of a table, behind the first ones; then none."""
    seen = []

    def fault(request):
        if not request.path.endswith(of):
            return None
        seen.append(request)
        return answer if after < len(seen) <= after + count else None

    return fault


DROPPED = Answer(0)


class TestNothingIsWritten:
    def test_postgres_is_asked_in_read_only_transactions_alone(self, filled):
        log = filled.server.folder / "log"
        filled.execute("ALTER DATABASE postgres SET log_statement = 'all'")
        start = log.stat().st_size
        try:
            with filled.open("postgres") as database:
                database.jobs(model="m-1", benchmark="b", job_name="x")
                database.references("models", database.models()[0].id)
                database.references("benchmarks", database.benchmarks()[0].id)
            said = log.read_bytes()[start:].decode()
        finally:
            filled.execute("ALTER DATABASE postgres RESET log_statement")
        kinds = set(re.findall(r"(?:statement|execute [^:]*): (.{1,22})", said))
        assert kinds == {"BEGIN READ ONLY", "SELECT set_config('sta", "SELECT row_to_json(one", "COMMIT"}

    def test_postgres_itself_would_refuse_to_write(self, filled):
        with filled.open("postgres") as database:
            database.models()
            connection = database._source._connection
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), connection.transaction():
                connection.execute("DELETE FROM sandbox_jobs")

    def test_supabase_is_asked_by_get_alone(self, filled):
        with filled.open("supabase", key=filled.standin.service_key) as database:
            database.jobs(model="m-1", benchmark="b", job_name="x")
            database.references("models", database.models()[0].id)
            database.references("benchmarks", database.benchmarks()[0].id)
        assert {request.method for request in filled.standin.seen} == {"GET"}
        assert {request.role for request in filled.standin.seen} == {"service_role"}


class TestAway:
    def test_no_server(self, backend):
        port = free_ports(1)[0]
        settings = {"DATABASE_URL": f"postgresql://ada:the-word@127.0.0.1:{port}/evals"}
        settings |= {"SUPABASE_URL": f"http://127.0.0.1:{port}", "SUPABASE_ANON_KEY": "the-key-of-tests"}
        exit_code, problem = failing(open_database(backend, settings, SOON).jobs)
        assert exit_code == Exit.REMOTE
        assert (problem.code, problem.fix) == ("database-unavailable", "run this again later")
        assert (
            problem.where == {"postgres": "postgres at 127.0.0.1/evals", "supabase": "supabase at 127.0.0.1"}[backend]
        )
        assert "refused" in problem.found
        assert "the-word" not in str(problem)
        assert "the-key" not in str(problem)

    def test_a_session_that_was_ended_is_begun_again(self, small):
        with small.open("postgres") as database:
            assert len(database.jobs()) == 1
            small.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'benchwright'"
            )
            assert len(database.jobs()) == 1

    def test_a_line_that_broke_is_begun_again(self, filled):
        filled.standin.fault = times(2, DROPPED, after=1)
        with filled.open("supabase") as database:
            assert len(database.jobs()) == 1500
            assert sum(request.path.endswith("/sandbox_jobs") for request in filled.standin.seen) == 4

    @pytest.mark.parametrize("status", [429, 500, 503, 520])
    def test_a_server_that_is_busy_for_a_moment(self, filled, status):
        filled.standin.fault = times(2, Answer(status, b'{"message": "slow down", "code": null}'))
        with filled.open("supabase") as database:
            assert len(database.jobs()) == 1500

    def test_a_server_that_stays_busy(self, small):
        small.standin.fault = times(99, Answer(429, b'{"message": "too many\\nrequests"}'))
        with small.open("supabase") as database:
            exit_code, problem = failing(database.jobs)
        assert exit_code == Exit.REMOTE
        assert problem.found == "too many requests (HTTP 429)"
        assert sum(request.path.endswith("/sandbox_jobs") for request in small.standin.seen) == SOON.attempts

    def test_dead_behind_the_first_page(self, filled):
        """Half the rows are no answer."""
        filled.standin.fault = times(99, DROPPED, after=1)
        with filled.open("supabase") as database:
            assert failing(database.jobs)[0] == Exit.REMOTE
            filled.standin.fault = None
            assert len(database.jobs()) == 1500

    def test_a_server_that_goes_away(self, small):
        standin = PostgrestStandIn(small.server.url)
        settings = {"SUPABASE_URL": standin.url, "SUPABASE_ANON_KEY": standin.anon_key}
        with open_database("supabase", settings, SOON) as database:
            assert len(database.models()) == 1
            standin.stop()
            assert failing(database.jobs)[0] == Exit.REMOTE

    def test_killed_in_the_middle_of_a_read(self):
        with local_postgres() as server, open_database("postgres", {"DATABASE_URL": server.url}, SOON) as database:
            database.models()
            lock = psycopg.connect(server.url)
            lock.execute("LOCK TABLE sandbox_jobs IN ACCESS EXCLUSIVE MODE")
            postmaster = int((server.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

            def kill():
                wait_for_a_waiting_read(server.url)
                for pid in children_of(postmaster):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                os.kill(postmaster, signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            exit_code, problem = failing(database.jobs)
            killer.join()
            assert exit_code == Exit.REMOTE
            assert problem.code == "database-unavailable"
            assert failing(database.jobs)[0] == Exit.REMOTE
            server._process.wait()
            lock.close()
            assert server.start()
            assert database.jobs() == ()

    def test_a_read_that_takes_too_long(self, small):
        with psycopg.connect(small.server.url) as lock:
            lock.execute("LOCK TABLE sandbox_jobs IN ACCESS EXCLUSIVE MODE")
            with small.open("postgres", Patience(answer_timeout=0.2)) as database:
                exit_code, problem = failing(database.jobs)
        assert exit_code == Exit.REMOTE
        assert problem.found == "no answer within 0.2 s"

    def test_a_server_that_keeps_quiet(self, small):
        with small.open("postgres", Patience(attempts=3, answer_timeout=1, connect_timeout=1)) as database:
            database.models()
            pid = database._source._connection.info.backend_pid
            os.kill(pid, signal.SIGSTOP)
            try:
                start = time.monotonic()
                exit_code, problem = failing(database.jobs)
            finally:
                os.kill(pid, signal.SIGCONT)
            assert time.monotonic() - start < PATIENCE
            assert exit_code == Exit.REMOTE
            assert problem.found == "nothing heard for 2 s"
            assert len(database.jobs()) == 1

    def test_an_answer_that_does_not_come(self, small):
        small.standin.fault = lambda request: time.sleep(0.6)
        before = len(small.standin.seen)
        with small.open("supabase", Patience(answer_timeout=0.2)) as database:
            exit_code, problem = failing(database.models)
        assert len(small.standin.seen) == before + 1
        assert (exit_code, problem.found) == (Exit.REMOTE, "timed out")


class TestTurnedAway:
    @pytest.mark.parametrize(
        ("url", "found"),
        [
            ("postgresql://nobody-here@/postgres?host={}", 'FATAL: role "nobody-here" does not exist'),
            ("postgresql://postgres@/nothing-here?host={}", 'FATAL: database "nothing-here" does not exist'),
        ],
    )
    def test_by_postgres(self, small, url, found):
        url = url.format(small.server.folder / "data")
        exit_code, problem = failing(open_database("postgres", {"DATABASE_URL": url}, SOON).jobs)
        assert exit_code == Exit.ENVIRONMENT
        assert problem.code == "credentials-refused"
        assert problem.found.endswith(found)

    @pytest.mark.parametrize(
        "url",
        [
            "mysql://ada:the-word@h/d",
            "the-word = =",
            "postgresql://ada:x@the-word@h/d",
            "postgresql://ada:x/the-word@h/d",
            "postgresql://ada:the-word/x@h/d",
            "postgresql://ada@h:the-word/d",
        ],
    )
    def test_an_address_that_is_none(self, url):
        exit_code, problem = failing(open_database("postgres", {"DATABASE_URL": url}, SOON).jobs)
        assert exit_code == Exit.ENVIRONMENT
        assert (problem.code, problem.found) == ("bad-credentials", "no address of a Postgres database")
        assert "the-word" not in str(problem)

    def test_another_schema(self, small):
        url = small.server.url.replace("/postgres?", "/template1?")
        exit_code, problem = failing(open_database("postgres", {"DATABASE_URL": url}, SOON).jobs)
        assert exit_code == Exit.ENVIRONMENT
        assert problem.code == "no-such-table"
        assert problem.found == 'relation "public.sandbox_jobs" does not exist'
        small.execute("ALTER TABLE models RENAME TO models_once")
        try:
            with small.open("supabase") as database:
                exit_code, problem = failing(database.jobs)
        finally:
            small.execute("ALTER TABLE models_once RENAME TO models")
        assert exit_code == Exit.ENVIRONMENT
        assert problem.code == "no-such-table"
        assert problem.found == "Could not find the table 'public.models' in the schema cache (HTTP 404)"

    def test_by_a_key_of_another_project(self, small):
        with small.open("supabase", key="another.key.here") as database:
            exit_code, problem = failing(database.jobs)
        assert exit_code == Exit.ENVIRONMENT
        assert str(problem) == (
            "supabase at 127.0.0.1: Invalid API key (HTTP 401), expected a database that may be read\n"
            "    fix: set SUPABASE_SERVICE_ROLE_KEY or SUPABASE_ANON_KEY to a key of this project"
        )
        assert len(small.standin.seen) == 1

    def test_a_key_is_never_shown(self, small):
        key = small.standin.anon_key
        small.standin.fault = lambda request: Answer(400, b'{"message": "no ' + key.encode() + b'", "code": "X"}')
        with small.open("supabase") as database:
            exit_code, problem = failing(database.jobs)
        assert (exit_code, problem.found) == (Exit.REMOTE, "no [hidden] (HTTP 400)")

    def test_by_missing_rights(self, small):
        small.execute("REVOKE SELECT ON sandbox_jobs FROM anon")
        small.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON agents, models, benchmarks TO reader")
        try:
            with small.open("supabase") as database:
                exit_code, problem = failing(database.jobs)
            url = small.server.url.replace("//postgres@", "//reader@")
            with open_database("postgres", {"DATABASE_URL": url}, SOON) as database:
                other_exit, other = failing(database.jobs)
        finally:
            small.execute("GRANT SELECT ON sandbox_jobs TO anon; DROP OWNED BY reader; DROP ROLE reader")
        assert exit_code == other_exit == Exit.ENVIRONMENT
        assert problem.code == other.code == "no-permission"
        assert problem.found == "permission denied for table sandbox_jobs (HTTP 401)"
        assert other.found == "permission denied for table sandbox_jobs"
        assert problem.fix == "use a key that may read the table: SUPABASE_SERVICE_ROLE_KEY"
        assert other.fix == "use a role that may read every row: one with BYPASSRLS, or the tables' owner"


class TestRowLevelSecurity:
    """It hides rows without a word; hidden is not absent."""

    @pytest.fixture
    def secured(self, small):
        small.execute("ALTER TABLE sandbox_jobs ENABLE ROW LEVEL SECURITY")
        small.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        yield small
        small.execute("ALTER TABLE sandbox_jobs DISABLE ROW LEVEL SECURITY; DROP OWNED BY reader; DROP ROLE reader")

    def test_a_key_that_sees_no_row_is_refused(self, secured):
        with secured.open("supabase") as database:
            assert not database.sees_everything
            exit_code, problem = failing(database.jobs)
        assert exit_code == Exit.ENVIRONMENT
        assert problem.code == "nothing-visible"
        assert problem.found == "this key sees no row of sandbox_jobs at all"
        assert problem.fix == ("use the service key (SUPABASE_SERVICE_ROLE_KEY) or DATABASE_URL, which see every row")

    def test_the_service_key_sees_them(self, secured):
        settings = secured.settings("supabase") | {"SUPABASE_SERVICE_ROLE_KEY": secured.standin.service_key}
        with open_database("supabase", settings, SOON) as database:
            assert database.sees_everything
            assert len(database.jobs()) == 1

    def test_an_ordinary_role_of_postgres_is_refused(self, secured):
        url = secured.server.url.replace("//postgres@", "//reader@")
        with open_database("postgres", {"DATABASE_URL": url}, SOON) as database:
            exit_code, problem = failing(database.jobs)
        assert (exit_code, problem.code) == (Exit.ENVIRONMENT, "no-permission")
        assert problem.found == 'query would be affected by row-level security policy for table "sandbox_jobs"'

    def test_no_row_of_a_pair_is_no_refusal(self, small):
        with small.open("supabase") as database:
            assert database.jobs(job_name="none") == database.jobs(job_name="none at all") == ()
        asked = [request for request in small.standin.seen if request.path.endswith("/sandbox_jobs")]
        assert len(asked) == 3  # whether any row can be seen is asked once


class TestStrangeAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            Answer(200, b"<html>log in</html>"),
            Answer(200, b"[]"),
            Answer(200, b'{"id": 1}'),
            Answer(200, b"[1]", (("Content-Range", "0-0/1"),)),
            Answer(200, b'[{"name": "no id"}]', (("Content-Range", "0-0/1"),)),
            Answer(200, b"[]", (("Content-Range", "*/7"),)),
        ],
        ids=["a page", "no count", "an object", "a number", "no key", "fewer than counted"],
    )
    def test_are_no_rows(self, small, answer):
        small.standin.fault = times(99, answer)
        with small.open("supabase") as database:
            exit_code, problem = failing(database.jobs)
        assert (exit_code, problem.code) == (Exit.REMOTE, "database-unavailable")

    def test_another_address_is_not_gone_to(self, small):
        away = Answer(302, b"", (("Location", f"{small.standin.url}/rest/v1/elsewhere"),))
        small.standin.fault = times(99, away)
        with small.open("supabase") as database:
            assert failing(database.jobs)[0] == Exit.REMOTE
        assert not any("elsewhere" in request.path for request in small.standin.seen)

    def test_a_server_that_gives_fewer_rows_at_once(self, filled, monkeypatch):
        monkeypatch.setattr(filled.standin, "most_rows", 400)
        with filled.open("supabase") as database:
            assert len(database.jobs()) == 1500

    def test_a_number_beyond_reading(self, small):
        small.execute("UPDATE sandbox_jobs SET stats = ('{\"a\": 1' || repeat('0', 5000) || '}')::jsonb")
        for backend in ("postgres", "supabase"):
            with small.open(backend) as database:
                exit_code, problem = failing(database.jobs)
            assert (exit_code, problem.code) == (Exit.REMOTE, "database-unavailable")


def wait_for_a_waiting_read(url):
    """Until a session of ours waits for a lock."""
    with psycopg.connect(url, autocommit=True) as connection:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'benchwright'"
        )
        while connection.execute(query).fetchone() != (1,):
            time.sleep(0.01)
