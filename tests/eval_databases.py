"""A real Postgres with the evaluation database's tables, the stand-in for PostgREST over it, and rows to put in."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from benchwright.evaldb import EvalDatabase, Patience, RowWriter, open_database, open_writer
from benchwright.evaldb.write_steps import FUNCTIONS
from benchwright.rehearsal.eval_rows import TABLES, create_tables, load_rows
from benchwright.rehearsal.postgres import LocalPostgres
from benchwright.rehearsal.postgrest_standin import Answer, PostgrestStandIn, Request

SOON = Patience(attempts=3, first_wait=0.01, longest_wait=0.05, connect_timeout=2, answer_timeout=5)


@contextlib.contextmanager
def folder_for_all() -> Iterator[Path]:
    """A folder that the account of root's server may enter, which pytest's own are not; its address is short too."""
    folder = Path(tempfile.mkdtemp(prefix="benchwright-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def local_postgres() -> Iterator[LocalPostgres]:
    """A running server with the tables in it."""
    with folder_for_all() as folder:
        server = LocalPostgres(folder / "database", durable=False)
        server.start()
        try:
            create_tables(server.url)
            yield server
        finally:
            server.stop()


def numbered(number: int) -> str:
    """An id that comes behind those with smaller numbers."""
    return str(UUID(int=number))


def cut_at(step: int) -> Callable[[Request], Answer | None]:
    """Cuts the line at the writing request of that number, once; asking for the functions' version is none."""
    seen = []

    def fault(request: Request) -> Answer | None:
        if request.method == "GET" or request.path.endswith("benchwright_functions"):
            return None
        seen.append(request)
        return Answer(0) if len(seen) == step + 1 else None

    return fault


EMPTY = ";".join(  # quicker than TRUNCATE, which makes every file anew
    [
        f"UPDATE {table} SET duplicate_of = NULL WHERE duplicate_of IS NOT NULL"
        for table in ("agents", "benchmarks", "models")
    ]
    + [f"DELETE FROM {table}" for table in reversed(TABLES)]
)


class EvalRows:
    """Rows for the tables, with everything filled in that a test does not care about."""

    def __init__(self, server: LocalPostgres, standin: PostgrestStandIn) -> None:
        self.server, self.standin = server, standin
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self._last = 0

    def empty(self) -> None:
        self.execute(EMPTY)
        self.rows, self._last = {}, 0

    def execute(self, statement: str, *values: Any) -> None:
        with psycopg.connect(self.server.url) as connection:
            connection.execute(statement, values or None)

    def add(self, table: str, **row: Any) -> str:
        """Note a row for ``load``; its id."""
        self._last += 1
        self.rows.setdefault(table, []).append({"id": numbered(self._last)} | row)
        return self.rows[table][-1]["id"]

    def agent(self, name: str = "terminus-2", **row: Any) -> str:
        return self.add("agents", name=name, **row)

    def model(self, name: str, **row: Any) -> str:
        needed = {"created_by": "ada", "creation_location": "here", "weights_location": "there"}
        needed |= {"training_start": "1970-01-01T00:00:00Z", "training_parameters": {}, "agent_id": numbered(0)}
        return self.add("models", name=name, **needed | row)

    def benchmark(self, name: str, **row: Any) -> str:
        return self.add("benchmarks", name=name, **row)

    def job(self, model: str, benchmark: str, agent: str | None = None, **row: Any) -> str:
        """A finished job of the model and benchmark with these ids."""
        if agent is None:
            known = self.rows.get("agents")
            agent = known[0]["id"] if known else self.agent()
        needed = {"job_name": f"job-{self._last}", "username": "ada", "job_status": "Finished", "config": {}}
        needed |= {"n_trials": 300, "n_rep_eval": 3, "package_version": "0.25.0"}
        needed |= {"created_at": "2026-11-30T12:00:00Z", "metrics": [{"name": "accuracy", "value": 0.25}]}
        return self.add("sandbox_jobs", model_id=model, benchmark_id=benchmark, agent_id=agent, **needed | row)

    def trial(self, job: str | None, task: str) -> str:
        return self.add("sandbox_trials", trial_name="t", trial_uri="u", job_id=job, task_checksum=task, config={})

    def task(self, checksum: str) -> str:
        row = {"checksum": checksum, "name": checksum, "agent_timeout_sec": 1, "verifier_timeout_sec": 1, "path": "p"}
        self.rows.setdefault("sandbox_tasks", []).append(row)
        return checksum

    def load(self) -> None:
        load_rows(self.server.url, self.rows)
        self.rows = {}

    def settings(self, backend: str, *, key: str | None = None) -> dict[str, str]:
        if backend == "postgres":
            return {"DATABASE_URL": self.server.url}
        return {"SUPABASE_URL": self.standin.url, "SUPABASE_ANON_KEY": key or self.standin.anon_key}

    def open(self, backend: str, patience: Patience = SOON, *, key: str | None = None) -> EvalDatabase:
        return open_database(backend, self.settings(backend, key=key), patience)

    def writer(self, backend: str, patience: Patience = SOON) -> RowWriter:
        """The write side, with the service key."""
        return open_writer(backend, self.settings(backend, key=self.standin.service_key), patience)

    def install_functions(self) -> None:
        """Put our functions into the schema, where the stand-in calls them."""
        self.execute(FUNCTIONS.read_text())

    def drop_functions(self) -> None:
        names = re.findall(r"FUNCTION (public\.\w+)", FUNCTIONS.read_text())
        self.execute(f"DROP FUNCTION IF EXISTS {', '.join(names)}")

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """All rows there are, without the times that a trigger puts in."""
        tables = ", ".join(
            f"'{table}', (SELECT coalesce(jsonb_agg(to_jsonb(one) - 'updated_at' ORDER BY one), '[]') FROM {table} one)"
            for table in TABLES
        )
        with psycopg.connect(self.server.url) as connection:
            ((found,),) = connection.execute(f"SELECT jsonb_build_object({tables})").fetchall()
        return found


def as_another_user(call: Any) -> Any:
    """What a call returns in a process that is not root's; tests that are not root's call it as they are."""
    if os.geteuid() != 0:
        return call()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            os.write(write, repr(call()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with open(read, "rb") as answer:
        said = answer.read()
    assert os.waitpid(child, 0)[1] == 0
    return said.decode()
