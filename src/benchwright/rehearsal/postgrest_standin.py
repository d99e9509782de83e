"""A stand-in for PostgREST, as a Supabase project serves it, over a Postgres of this machine's own.

It is no PostgREST: it reads tables in the few words that this package sends (``postgrest_words``), and answers
everything else with an error, so that a word it does not know is never taken for granted. Rights are real: a request
runs in a read-only transaction under the database role of its key, ``anon`` or ``service_role``.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from psycopg import sql

from benchwright.rehearsal.postgrest_words import Select, UnknownWord

PREFIX = "/rest/v1/"
_LONGEST_ADDRESS = 8000
"""Characters of an address: the proxies before a project take no more."""
_ROLES = """
DO $$ BEGIN
    IF to_regrole('anon') IS NULL THEN CREATE ROLE anon NOLOGIN; END IF;
    IF to_regrole('service_role') IS NULL THEN CREATE ROLE service_role NOLOGIN BYPASSRLS; END IF;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO anon, service_role;
"""
_STATUS = {"42501": 403, "42P01": 404, "57014": 500}
"""https://docs.postgrest.org/en/stable/references/errors.html"""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that came in. ``role`` is None where no key told it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    role: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with. A status of 0 breaks the line off instead."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json; charset=utf-8"),)


class PostgrestStandIn:
    """The stand-in's server, in threads of this process. It makes the roles in the database at ``database_url``.

    ``url`` is what ``SUPABASE_URL`` would be, ``anon_key`` and ``service_key`` are the keys, new ones each time.
    ``seen`` are all requests, in their order; ``fault`` may answer one in the stand-in's place. An answer has at most
    ``most_rows`` rows, whatever is asked.
    """

    def __init__(self, database_url: str) -> None:
        with psycopg.connect(database_url) as connection:
            connection.execute(_ROLES)
        self.anon_key, self.service_key = _key("anon"), _key("service_role")
        self.most_rows = 1000  # Supabase's default
        self.seen: list[Request] = []
        self.fault: Callable[[Request], Answer | None] | None = None
        self._server = _Server(self, database_url)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """End the server and break off every line."""
        self._server.shutdown()
        self._server.server_close()
        for line in list(self._server.lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, standin: PostgrestStandIn, database_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.standin = standin
        self.database_url = database_url
        self.roles = {standin.anon_key: "anon", standin.service_key: "service_role"}
        self.lines: set[socket.socket] = set()


class _Handler(BaseHTTPRequestHandler):
    """One line of a client, over which it may send several requests, with a connection to the database of its own."""

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    database: psycopg.Connection[Any] | None = None

    def setup(self) -> None:
        super().setup()
        self.server.lines.add(self.connection)

    def finish(self) -> None:
        self.server.lines.discard(self.connection)
        if self.database is not None:
            self.database.close()
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: ``seen`` is the log."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = tuple(parse_qsl(address.query, keep_blank_values=True))
        role = self.server.roles.get(self.headers.get("apikey", ""))
        request = Request(self.command, unquote(address.path), query, role)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.standin.seen.append(request)
        fault = self.server.standin.fault
        answer = (fault(request) if fault is not None else None) or self._answer(request)
        if answer.status == 0:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
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
            select = Select.of(table, request.query, most=self.server.standin.most_rows)
            return self._rows(select, request.role)
        except UnknownWord as error:
            return _error(400, "STANDIN", f"the stand-in does not know {error}")
        except psycopg.Error as error:
            return _refusal(error, table, request.role)

    def _unknown_words(self, request: Request) -> str:
        """What of method, path and headers is not known; empty where all of it is."""
        known = {
            "accept": {"*/*", "application/json"},
            "accept-profile": {"public"},
            "content-profile": {"public"},
            "prefer": {"count=exact"},
            "range": set[str](),
            "range-unit": set[str](),
        }
        if request.method != "GET":
            return f"the method {request.method}"
        if not request.path.startswith(PREFIX) or "/" in request.path.removeprefix(PREFIX):
            return f"the path {request.path}"
        odd = [
            f"{name}: {value}" for name, value in self.headers.items() if value not in known.get(name.lower(), value)
        ]
        return ", ".join(odd)

    def _rows(self, select: Select, role: str) -> Answer:
        if self.database is None or self.database.closed:
            self.database = psycopg.connect(self.server.database_url, prepare_threshold=None)
            self.database.read_only = True
        with self.database.transaction():
            self.database.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
            whole = sql.SQL("SELECT coalesce(json_agg(one), '[]')::text, count(*) FROM ({}) one").format(select.rows)
            body, number = self.database.execute(whole).fetchone() or ("[]", 0)
            total = None
            if self.headers.get("Prefer"):
                (total,) = self.database.execute(select.count).fetchone() or (0,)
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
