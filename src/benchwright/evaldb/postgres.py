"""The evaluation database as a Postgres server, by ``DATABASE_URL``."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
import tenacity
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from benchwright.contract import Failure, redact
from benchwright.evaldb.source import KEYS, Condition, Patience, Record, askable, refused, unavailable

_OPERATORS = {"eq": sql.SQL("{} = {}"), "gte": sql.SQL("{} >= {}"), "in": sql.SQL("{} = ANY({})")}
_AT_THE_DOOR = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist", "permission")
"""In what a server says that turns a client away for good; the client library gives no code then."""
_NAMELESS = "DATABASE_URL"
_Result = TypeVar("_Result")
_UNKNOWN = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)


class PostgresSource:
    """Rows of a Postgres database. The connection is made by the first select, and made anew where it was lost.

    Every select is a transaction of its own that the server holds read-only and bounds in time, and in which row-level
    security refuses rather than hides rows. These are settings of the transaction and not of the session, which a
    pooler would hand to the next client.
    """

    sees_everything = True

    def __init__(self, url: str, patience: Patience | None = None) -> None:
        self._url = url
        self._patience = patience or Patience()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._lock = threading.Lock()
        self.place = _place(url)
        self._is_address = self.place != _NAMELESS

    def select(self, table: str, *conditions: Condition, columns: Sequence[str] = ("*",)) -> list[Record]:
        """See ``RowSource.select``."""
        self._check_address()
        asked = askable(conditions)
        if asked is None:
            return []
        query, values = _query(table, asked, columns)
        with self._lock:
            try:
                return self._retrying(lambda: self._run(query, values))
            except psycopg.Error as error:
                raise self._failure(error) from None
            except (ValueError, RecursionError) as error:
                raise unavailable(self.place, f"rows that are not JSON: {error}") from None

    def takes(self, text: str) -> bool:
        """See ``RowSource.takes``."""
        return True

    def close(self) -> None:
        """See ``RowSource.close``."""
        if self._connection is not None:
            self._connection.close()

    def _check_address(self) -> None:
        if not self._is_address:
            fix = "correct DATABASE_URL: postgresql://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ in the password"
            raise refused(self.place, "no address of a Postgres database", fix, code="bad-credentials")

    def _retrying(self, call: Callable[[], _Result]) -> _Result:
        """Call again where the connection was lost, as often as patience says."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, psycopg.Error) and self._may_pass(error)),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=tenacity.wait_exponential(multiplier=self._patience.first_wait, max=self._patience.longest_wait),
            reraise=True,
        )
        return retrying(call)

    def _run(self, query: sql.Composed, values: Sequence[object]) -> list[Record]:
        connection = self._open()
        with self._transaction(connection):  # of the kind BEGIN READ ONLY
            return [json.loads(text) for (text,) in connection.execute(query, values).fetchall()]

    @contextlib.contextmanager
    def _transaction(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """One transaction, bounded in time, in which no row is hidden."""
        with self._deadline(connection), connection.transaction():
            timeout = str(int(self._patience.answer_timeout * 1000))
            connection.execute(
                "SELECT set_config('statement_timeout', %s, true), set_config('row_security', 'off', true),"
                " set_config('timezone', 'UTC', true)",
                [timeout],
            )
            yield

    def _open(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection, a new one where there is none or it was lost."""
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = psycopg.connect(
            self._url,
            connect_timeout=max(2, round(self._patience.connect_timeout)),
            application_name="benchwright",
            prepare_threshold=None,  # poolers that hand a connection to others know nothing of prepared statements
        )
        connection.read_only = True
        return connection

    def _is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def _may_pass(self, error: psycopg.Error) -> bool:
        """Whether the same read may succeed a moment later, over a new connection."""
        return isinstance(error, psycopg.OperationalError) and self._is_lost() and not _is_at_the_door(error)

    @contextlib.contextmanager
    def _deadline(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Hang up on a server that keeps quiet for longer than it has promised; without that a read waits for ever."""
        longest = self._patience.answer_timeout + self._patience.connect_timeout
        late = threading.Event()

        def hang_up() -> None:
            late.set()
            with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(longest, hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        except psycopg.OperationalError:
            if late.is_set():
                raise unavailable(self.place, f"nothing heard for {longest:g} s") from None
            raise
        finally:
            timer.cancel()

    def _failure(self, error: psycopg.Error) -> Failure:
        said = redact(" ".join((error.diag.message_primary or str(error)).split()))
        if isinstance(error, errors.QueryCanceled):
            return unavailable(self.place, f"no answer within {self._patience.answer_timeout:g} s")
        if isinstance(error, errors.InsufficientPrivilege):
            fix = "use a role that may read every row: one with BYPASSRLS, or the tables' owner"
            return refused(self.place, said, fix, code="no-permission")
        if isinstance(error, _UNKNOWN):
            fix = "correct DATABASE_URL: the database has another schema"
            return refused(self.place, said, fix, code="no-such-table")
        if _is_at_the_door(error):
            return refused(self.place, said, "correct DATABASE_URL", code="credentials-refused")
        return unavailable(self.place, said)


def _is_at_the_door(error: psycopg.Error) -> bool:
    return error.sqlstate is None and any(words in str(error) for words in _AT_THE_DOOR)


def _query(
    table: str, conditions: Sequence[Condition], columns: Sequence[str]
) -> tuple[sql.Composed, list[str | list[str]]]:
    """The statement that gives each row as one JSON text, and the values that go beside it."""
    names = [sql.SQL("*") if name == "*" else sql.Identifier(name) for name in columns]
    key = sql.SQL(", ").join(map(sql.Identifier, KEYS[table]))
    clauses: list[sql.Composed] = []
    values: list[str | list[str]] = []
    for condition in conditions:
        clause = _OPERATORS[condition.operator]
        clauses.append(clause.format(sql.Identifier(condition.column), sql.Placeholder()))
        values.append(list(condition.value) if isinstance(condition.value, tuple) else condition.value)
    where = sql.SQL(" WHERE ") + sql.SQL(" AND ").join(clauses) if clauses else sql.SQL("")
    query = sql.SQL("SELECT row_to_json(one)::text FROM (SELECT {} FROM {}{} ORDER BY {}) one")
    return query.format(sql.SQL(", ").join(names), sql.Identifier("public", table), where, key), values


def _place(url: str) -> str:
    """Where a database is, without user and password; ``_NAMELESS`` for an address that is none.

    A password with special characters in it moves the borders: then a part of it would be taken for the host or the
    database, and must not be shown.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return _NAMELESS
    host, name = str(parts.get("host") or parts.get("hostaddr") or "this machine"), str(parts.get("dbname") or "")
    ports = str(parts.get("port") or "0").split(",")
    if "@" in host + name or not all(port.isdecimal() for port in ports):
        return _NAMELESS
    return f"postgres at {host}/{name}"
