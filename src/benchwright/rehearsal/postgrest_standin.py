"""A stand-in for PostgREST, as a Supabase project serves it, over a Postgres of this machine's own.

It is no PostgREST: it reads and writes tables and calls functions in the few words that this package sends
(``postgrest_words``), and answers everything else with an error, so that a word it does not know is never taken for
granted. Rights are real: a request runs in a transaction under the database role of its key, ``anon`` or
``service_role``, which for a GET is read-only.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from psycopg import sql

from benchwright.rehearsal.line_server import LineHandler, LineServer
from benchwright.rehearsal.postgrest_words import Change, Select, UnknownWord, function_call

PREFIX = "/rest/v1/"
_LONGEST_ADDRESS = 8000
"""Characters of an address: the proxies before a project take no more."""
_ROLES = """
DO $$ BEGIN
    IF to_regrole('anon') IS NULL THEN CREATE ROLE anon NOLOGIN; END IF;
    IF to_regrole('service_role') IS NULL THEN CREATE ROLE service_role NOLOGIN BYPASSRLS; END IF;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO anon, service_role;
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO service_role;
"""
_STATUS = {"23503": 409, "23505": 409, "25006": 405, "40001": 500, "40P01": 500, "42501": 403, "57014": 500}
"""https://docs.postgrest.org/en/stable/references/errors.html"""
_SIGNATURE = """
SELECT coalesce(proargnames, '{}'), ARRAY(SELECT format_type(kind, NULL) FROM unnest(proargtypes) kind)
FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = %s
"""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that came in. ``role`` is None where no key told it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    role: str | None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with. A status of 0 breaks the line off instead."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json; charset=utf-8"),)


class PostgrestStandIn:
    """The stand-in's server, in threads of this process. It makes the roles in the database at ``database_url``.

    ``url`` is what ``SUPABASE_URL`` would be, ``anon_key`` and ``service_key`` are the keys, new ones each time.
    ``seen`` are all requests, in their order; ``fault`` may answer one in the stand-in's place, before anything is
    done, ``fault_after`` once it is done and cannot be taken back. An answer has at most ``most_rows`` rows, whatever
    is asked.
    """

    def __init__(self, database_url: str) -> None:
        with psycopg.connect(database_url) as connection:
            connection.execute(_ROLES)
        self.anon_key, self.service_key = _key("anon"), _key("service_role")
        self.most_rows = 1000  # Supabase's default
        self.seen: list[Request] = []
        self.fault: Callable[[Request], Answer | None] | None = None
        self.fault_after: Callable[[Request], Answer | None] | None = None
        self._server = _Server(self, database_url)
        self.url = self._server.url
        self._server.start()

    def stop(self) -> None:
        """End the server and break off every line."""
        self._server.stop()


class _Server(LineServer):
    def __init__(self, standin: PostgrestStandIn, database_url: str) -> None:
        super().__init__(_Handler)
        self.standin = standin
        self.database_url = database_url
        self.roles = {standin.anon_key: "anon", standin.service_key: "service_role"}


class _Handler(LineHandler):
    """A line, with a connection to the database of its own."""

    server: _Server
    database: psycopg.Connection[Any] | None = None

    def finish(self) -> None:
        try:
            if self.database is not None:
                self.database.close()
        finally:
            super().finish()

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = tuple(parse_qsl(address.query, keep_blank_values=True))
        role = self.server.roles.get(self.headers.get("apikey", ""))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, unquote(address.path), query, role, body)
        standin = self.server.standin
        standin.seen.append(request)
        answer = standin.fault(request) if standin.fault is not None else None
        if answer is None:
            answer = self._answer(request)
            answer = (standin.fault_after(request) if standin.fault_after is not None else None) or answer
        if answer.status == 0:
            self.break_off()
            return
        self.send_response(answer.status)
        for name, value in (*answer.headers, ("Content-Length", str(len(answer.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _answer(self, request: Request) -> Answer:
        key = self.headers.get("apikey")
        if request.role is None or self.headers.get("Authorization") != f"Bearer {key}":
            return _error(401, None, "Invalid API key" if key else "No API key found in request")
        if len(self.path) > _LONGEST_ADDRESS:
            return _error(414, None, "Request-URI Too Large")
        unknown = self._unknown_words(request)
        if unknown:
            return _error(400, "STANDIN", f"the stand-in does not know {unknown}")
        table = request.path.removeprefix(PREFIX)
        try:
            if request.method == "GET":
                select = Select.of(table, request.query, most=self.server.standin.most_rows)
                return self._rows(select, request.role)
            return self._written(request, table, request.role)
        except UnknownWord as error:
            return _error(400, "STANDIN", f"the stand-in does not know {error}")
        except psycopg.Error as error:
            return _refusal(error, table, request.role)

    def _unknown_words(self, request: Request) -> str:
        """What of method, path and headers is not known; empty where all of it is."""
        method, place = request.method, request.path.removeprefix(PREFIX)
        is_call = place.startswith("rpc/")
        preferences = {
            "GET": {"count=exact"},
            "POST": {""} if is_call else {"return=representation,resolution=ignore-duplicates"},
            "PATCH": {"return=representation"},
        }
        if method not in preferences or (is_call and method != "POST"):
            return f"the method {method}"
        known = {
            "accept": {"*/*", "application/json"},
            "accept-profile": {"public"},
            "content-profile": {"public"},
            "prefer": preferences[method],
            "range": set[str](),
            "range-unit": set[str](),
        }
        if method != "GET":
            known["content-type"] = {"application/json"}
        if not request.path.startswith(PREFIX) or "/" in place.removeprefix("rpc/"):
            return f"the path {request.path}"
        if method != "GET" and not is_call and self.headers.get("Prefer") not in preferences[method]:
            return f"a {method} without {', '.join(preferences[method])}"
        odd = [
            f"{name}: {value}" for name, value in self.headers.items() if value not in known.get(name.lower(), value)
        ]
        return ", ".join(odd)

    @contextlib.contextmanager
    def _transaction(self, role: str, *, read_only: bool) -> Iterator[psycopg.Connection[Any]]:
        if self.database is None or self.database.closed:
            self.database = psycopg.connect(self.server.database_url, prepare_threshold=None)
        self.database.read_only = read_only
        # rows and their number are of one moment, as in the one statement that PostgREST sends
        self.database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ if read_only else None
        with self.database.transaction():
            self.database.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
            yield self.database

    def _written(self, request: Request, table: str, role: str) -> Answer:
        try:
            body = json.loads(request.body)
        except ValueError:
            return _error(400, "PGRST102", "Empty or invalid json")
        if table.startswith("rpc/"):
            return self._called(table.removeprefix("rpc/"), request, body, role)
        change = (Change.upsert if request.method == "POST" else Change.update)(table, request.query, body)
        whole = sql.SQL("WITH one AS ({}) SELECT coalesce(json_agg(one), '[]')::text FROM one").format(change.statement)
        with self._transaction(role, read_only=False) as database:
            (rows,) = database.execute(whole).fetchone() or ("[]",)
        return Answer(201 if request.method == "POST" else 200, rows.encode())

    def _called(self, name: str, request: Request, arguments: Any, role: str) -> Answer:
        if request.query or not isinstance(arguments, dict):
            raise UnknownWord("a call with words in its address, or without named arguments")
        with self._transaction(role, read_only=False) as database:
            found = database.execute(_SIGNATURE, [name]).fetchone()
            types = dict(zip(*found, strict=True)) if found else {}
            if found is None or types.keys() != arguments.keys():
                said = f"Could not find the function public.{name}({', '.join(sorted(arguments))}) in the schema cache"
                return _error(404, "PGRST202", said)
            (told,) = database.execute(function_call(name, types, arguments)).fetchone() or ("null",)
        return Answer(200, told.encode())

    def _rows(self, select: Select, role: str) -> Answer:
        with self._transaction(role, read_only=True) as database:
            whole = sql.SQL("SELECT coalesce(json_agg(one), '[]')::text, count(*) FROM ({}) one").format(select.rows)
            body, number = database.execute(whole).fetchone() or ("[]", 0)
            total = None
            if self.headers.get("Prefer"):
                (total,) = database.execute(select.count).fetchone() or (0,)
        here = f"0-{number - 1}" if number else "*"
        headers = (*Answer(200).headers, ("Content-Range", f"{here}/{'*' if total is None else total}"))
        return Answer(200 if total is None or number == total else 206, body.encode(), headers)


def _error(status: int, code: str | None, message: str) -> Answer:
    said = {"message": message} if code is None else {"code": code, "details": None, "hint": None, "message": message}
    return Answer(status, json.dumps(said).encode())


def _refusal(error: psycopg.Error, table: str, role: str) -> Answer:
    code = error.sqlstate
    if code is None:
        return _error(503, "PGRST001", "Database connection error. Retrying the connection.")
    message = error.diag.message_primary or ""
    if code == "42P01":
        code, message = "PGRST205", f"Could not find the table 'public.{table}' in the schema cache"
    status = 404 if code == "PGRST205" else _STATUS.get(code, 400)
    return _error(401 if status == 403 and role == "anon" else status, code, message)


def _key(role: str) -> str:
    """A key in the form of a Supabase project's: a signed token that names the role."""
    parts = (json.dumps({"alg": "HS256", "typ": "JWT"}).encode(), json.dumps({"role": role}).encode())
    signed = (*parts, secrets.token_bytes(32))
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in signed)
