"""Writing to the evaluation database as a Postgres server: a plan is one transaction."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
import tenacity
from psycopg import errors, sql

from benchwright.contract import redact
from benchwright.evaldb.postgres import PostgresSource
from benchwright.evaldb.source import KEYS, Record
from benchwright.evaldb.write_steps import (
    FUNCTIONS,
    Step,
    change_arguments,
    function_name,
    refusal,
    settled,
    settled_inserts,
    steps,
)
from benchwright.evaldb.writes import Call, Insert, Update, Write, Written

_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION public\.(\w+)")
_ROLLED_BACK = (errors.DeadlockDetected, errors.SerializationFailure)
"""Of a transaction that the server took back whole, so that it may be sent again."""


class PostgresWriter(PostgresSource):
    """Rows of a Postgres database, written with the same care for lost connections as they are read.

    A plan whose connection is lost is not sent again: whether it was committed is not known then.
    """

    def write(self, plan: Sequence[Write]) -> tuple[Written, ...]:
        """See ``RowWriter.write``."""
        self._check_address()
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_ROLLED_BACK),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=tenacity.wait_random_exponential(
                multiplier=self._patience.first_wait, max=self._patience.longest_wait
            ),
            reraise=True,
        )
        with self._lock:
            try:
                self._retrying(self._open)
                return retrying(lambda: self._transact(plan))
            except psycopg.Error as error:
                said = redact(" ".join((error.diag.message_primary or str(error)).split()))
                raise refusal(self.place, error.sqlstate or "", said) or self._failure(error) from None

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = super()._connect()
        connection.read_only = False
        return connection

    def _transact(self, plan: Sequence[Write]) -> tuple[Written, ...]:
        connection = self._open()
        script = FUNCTIONS.read_text()
        names = [sql.Identifier("pg_temp", name) for name in _FUNCTION.findall(script)]
        with self._transaction(connection):
            connection.execute(script.replace("public.benchwright_", "pg_temp.benchwright_").encode())
            done = [one for step in steps(plan) for one in self._step(connection, step)]
            connection.execute(sql.SQL("DROP FUNCTION {}").format(sql.SQL(", ").join(names)))
        return tuple(done)

    def _step(self, connection: psycopg.Connection[Any], step: Step) -> Iterable[Written]:
        if isinstance(step, Update):
            told = _called(connection, Call("change_row", change_arguments(step)))
            return [settled(self.place, step, told)]
        if isinstance(step, Call):
            return [settled(self.place, step, _called(connection, step))]
        return self._insert(connection, step)

    def _insert(self, connection: psycopg.Connection[Any], inserts: Sequence[Insert]) -> list[Written]:
        table = sql.Identifier("public", inserts[0].table)
        columns = sql.SQL(", ").join(map(sql.Identifier, inserts[0].record))
        key = sql.SQL(", ").join(map(sql.Identifier, KEYS[inserts[0].table]))
        rows = _json([insert.record for insert in inserts])
        insert = sql.SQL(
            "INSERT INTO {0} AS one ({1}) SELECT {1} FROM jsonb_populate_recordset(NULL::{0}, %s)"
            " ON CONFLICT ({2}) DO NOTHING RETURNING to_jsonb(one)::text"
        )
        inserted = _records(connection, insert.format(table, columns, key), rows)
        there: list[Record] = []
        if len(inserted) < len(inserts):
            select = sql.SQL(
                "SELECT to_jsonb(one)::text FROM {0} one WHERE ({1}) IN"
                " (SELECT {1} FROM jsonb_populate_recordset(NULL::{0}, %s))"
            )
            there = _records(connection, select.format(table, key), rows)
        return settled_inserts(self.place, inserts, inserted, there)


def _called(connection: psycopg.Connection[Any], call: Call) -> Any:
    """What a function returned, called as the transaction's own."""
    arguments = sql.SQL(", ").join(sql.SQL("{} => %s").format(sql.Identifier(name)) for name in call.arguments)
    query = sql.SQL("SELECT {}({})::text").format(sql.Identifier("pg_temp", function_name(call)), arguments)
    values = [_json(value) if isinstance(value, (Mapping, list, tuple)) else value for value in call.arguments.values()]
    ((told,),) = connection.execute(query, values).fetchall()
    return json.loads(told)


def _records(connection: psycopg.Connection[Any], query: sql.Composed, rows: str) -> list[Record]:
    return [json.loads(text) for (text,) in connection.execute(query, [rows]).fetchall()]


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
