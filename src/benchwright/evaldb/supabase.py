"""The evaluation database as a Supabase project, by ``SUPABASE_URL`` and a key."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import tenacity
from postgrest import CountMethod
from supabase import Client, ClientOptions, create_client

from benchwright.contract import Failure, redact
from benchwright.evaldb.source import KEYS, Condition, Patience, Record, askable, refused, too_long, unavailable

_LONGEST_ADDRESS = 7900
"""Characters of a request's address: the proxies before a project take 8,192 bytes of its first line."""
_LONGEST_TEXT = 6000
"""Characters of a text in an address, as it is written there."""
PAGE = 1000
"""Rows asked for at once: as many as Supabase gives by default. A server that gives fewer is asked more often."""
_UNKNOWN = ("42P01", "42703", "PGRST204", "PGRST205")
_NO_PERMISSION = "42501"


class SupabaseSource:
    """Rows of a Supabase project, read through its client's ``select`` and nothing else of it.

    A table without a visible row is refused where the key is not the service key: row-level security hides rows in
    silence, and "hidden" must not read as "absent". That it hides some rows of a table cannot be seen from here.
    """

    def __init__(self, url: str, key: str, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._key = key
        self._http = httpx.Client(
            verify=_trusted(),
            timeout=httpx.Timeout(self._patience.answer_timeout, connect=self._patience.connect_timeout),
            follow_redirects=False,  # the key goes nowhere else
            event_hooks={"request": [_measure], "response": [_refuse]},
        )
        self._client: Client = create_client(
            url, key, ClientOptions(postgrest_client_retry=False, httpx_client=self._http)
        )
        self._visible: set[str] = set()
        self.place = f"supabase at {httpx.URL(url).host}"
        self.sees_everything = is_service_key(key)

    def select(self, table: str, *conditions: Condition, columns: Sequence[str] = ("*",)) -> list[Record]:
        """See ``RowSource.select``."""
        asked = askable(conditions)
        if asked is None:
            return []
        try:
            return self._selected(table, asked, columns)
        except _TooLong:
            halves = _halved(asked)
            if halves is None:
                raise self._too_long(asked) from None
            return [record for half in halves for record in self.select(table, *half, columns=columns)]

    def takes(self, text: str) -> bool:
        """See ``RowSource.takes``."""
        return len(quote(text, errors="replace")) <= _LONGEST_TEXT

    def _selected(self, table: str, conditions: Sequence[Condition], columns: Sequence[str]) -> list[Record]:
        records: list[Record] = []
        while True:
            page, left = self._page(table, conditions, columns, after=records[-1] if records else None)
            records += page
            if len(page) >= left:
                break
            if not page:
                raise unavailable(self.place, f"no rows of {table}, where {left:,} are left")
        if not records and not self.sees_everything and table not in self._visible:
            if self._page(table, (), KEYS[table], limit=1)[1] == 0:
                fix = "use the service key (SUPABASE_SERVICE_ROLE_KEY) or DATABASE_URL, which see every row"
                raise refused(self.place, f"this key sees no row of {table} at all", fix, code="nothing-visible")
            self._visible.add(table)
        return records

    def close(self) -> None:
        """See ``RowSource.close``."""
        self._http.close()

    def _page(
        self,
        table: str,
        conditions: Sequence[Condition],
        columns: Sequence[str],
        *,
        after: Record | None = None,
        limit: int = PAGE,
    ) -> tuple[list[Record], int]:
        """The rows behind ``after``, as many as there are at once, and how many there are in all."""
        key = KEYS[table]
        query = self._client.table(table).select(*columns, count=CountMethod.exact)
        for condition in conditions:
            value = condition.value
            words = f"({','.join(map(_quoted, value))})" if isinstance(value, tuple) else value
            query = query.filter(condition.column, condition.operator, words)
        if after is not None:
            query = query.or_(_behind(key, after))
        for column in key:
            query = query.order(column)
        answer = self._ask(query.limit(limit))
        rows: Any = answer.data
        sound = isinstance(rows, list) and all(isinstance(row, dict) and row.keys() >= {*key} for row in rows)
        if not sound or answer.count is None:
            raise self._odd_answer(table)
        return rows, answer.count

    def _too_long(self, conditions: Sequence[Condition]) -> Failure:
        longest = max((value for one in conditions for value in one.values), key=len, default="")
        return too_long(self.place, "a value", longest)

    def _odd_answer(self, what: str) -> Failure:
        return unavailable(self.place, f"an answer that is none of PostgREST, for {what}: is SUPABASE_URL right?")

    def _ask(self, query: Any) -> Any:
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_passing),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=tenacity.wait_exponential(multiplier=self._patience.first_wait, max=self._patience.longest_wait),
            reraise=True,
        )
        try:
            return retrying(query.execute)
        except Refusal as refusal:
            raise self._failure(refusal) from None
        except httpx.HTTPError as error:
            raise unavailable(self.place, self._hidden(str(error) or type(error).__name__)) from None

    def _failure(self, refusal: Refusal) -> Failure:
        found = self._hidden(f"{refusal.message} (HTTP {refusal.status})")
        if refusal.code == _NO_PERMISSION:
            fix = "use a key that may read the table: SUPABASE_SERVICE_ROLE_KEY"
            return refused(self.place, found, fix, code="no-permission")
        if refusal.code in _UNKNOWN:
            return refused(self.place, found, "correct SUPABASE_URL: it has another schema", code="no-such-table")
        if refusal.status in {401, 403}:
            fix = "set SUPABASE_SERVICE_ROLE_KEY or SUPABASE_ANON_KEY to a key of this project"
            return refused(self.place, found, fix, code="credentials-refused")
        return unavailable(self.place, found)

    def _hidden(self, text: str) -> str:
        return redact(text, {"SUPABASE_API_KEY": self._key})


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom a client trusts. It takes as long to read as ten requests, so that clients share it."""
    return httpx.create_ssl_context()


class Refusal(Exception):
    """An answer that is no success, with what the server says of it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message)


class _TooLong(Exception):
    """A request whose address is longer than what proxies take; it was not sent."""


def _measure(request: httpx.Request) -> None:
    """Stop before a request that would be answered with HTTP 414."""
    if len(str(request.url)) > _LONGEST_ADDRESS:
        raise _TooLong


def _halved(conditions: Sequence[Condition]) -> Iterator[list[Condition]] | None:
    """The conditions twice, each time with half of the values of the longest; None where each has one alone."""
    several = [one for one in conditions if len(one.values) > 1]
    if not several:
        return None
    longest = max(several, key=lambda one: len(quote("".join(one.values))))
    middle = len(longest.values) // 2
    halves = (longest.values[:middle], longest.values[middle:])
    return ([replace(one, value=half) if one is longest else one for one in conditions] for half in halves)


def _refuse(response: httpx.Response) -> None:
    """Stop at an answer that is no success: the client keeps its text and drops its status."""
    if response.is_success:
        return
    response.read()
    said: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        body = response.json()
        said = body if isinstance(body, dict) else {}
    message = str(said.get("message") or response.reason_phrase or "refused")
    raise Refusal(response.status_code, str(said.get("code") or ""), " ".join(message.split())[:300])


def _is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later. A time-out is not repeated: the next would be as long."""
    if isinstance(error, Refusal):
        return error.status in {408, 425, 429} or (error.status >= 500 and error.code != "57014")
    return isinstance(error, (httpx.NetworkError, httpx.ProtocolError))


def _behind(key: Sequence[str], record: Record) -> str:
    """PostgREST's words for the rows behind a record in the order of the key."""
    parts = []
    for place, column in enumerate(key):
        equal = [f"{name}.eq.{_quoted(record[name])}" for name in key[:place]]
        last = f"{column}.gt.{_quoted(record[column])}"
        parts.append(f"and({','.join([*equal, last])})" if equal else last)
    return ",".join(parts)


def _quoted(value: object) -> str:
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_service_key(key: str) -> bool:
    """Whether a key sees every row: the role that a project's service key names, or the prefix of a secret key."""
    if key.startswith("sb_secret_"):
        return True
    with contextlib.suppress(ValueError, AttributeError, IndexError, RecursionError):
        body = key.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return bool(claims.get("role") == "service_role")
    return False
