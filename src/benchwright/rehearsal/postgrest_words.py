"""The few words of PostgREST's query language that the stand-in knows, as SQL. Any other word is an error.

The language: https://docs.postgrest.org/en/stable/references/api/tables_views.html. Of its words for writing there are
those that the supabase client sends for an upsert that leaves what is there, for an update, and for a function's call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from psycopg import sql

_Found = TypeVar("_Found")
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS = {"eq": "=", "gt": ">", "gte": ">="}
_LISTED = re.compile(r'"((?:\\.|[^"\\])*)"|([^",()]*)', re.DOTALL)
"""A value among several: within quotes anything, without them nothing that separates."""


class UnknownWord(Exception):
    """A request that the stand-in does not know, or that PostgREST refuses."""


@dataclass(frozen=True, slots=True)
class Select:
    """What a request asks for: the statement for its rows, and the one for how many there are without a limit."""

    rows: sql.Composed
    count: sql.Composed

    @classmethod
    def of(cls, table: str, query: Iterable[tuple[str, str]], *, most: int) -> Select:
        """The statements for a request's words, of at most ``most`` rows.

        Raises:
            UnknownWord: there is one that is not known, or given twice where it must not be.
        """
        words = {"select": "*", "order": "", "limit": str(most)}
        given: set[str] = set()
        conditions = []
        for name, value in query:
            if name in words:
                if name in given:
                    raise UnknownWord(f"{name} given twice")
                given.add(name)
                words[name] = value
            elif name in ("and", "or"):
                conditions.append(_Logic(value).group(name))
            else:
                conditions.append(_condition(name, value))
        source = sql.SQL("FROM {}").format(sql.Identifier("public", table))
        if conditions:
            source += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions)
        rows = sql.SQL("SELECT {} ").format(_columns(words["select"])) + source
        if words["order"]:
            rows += sql.SQL(" ORDER BY ") + sql.SQL(", ").join(_order(one) for one in words["order"].split(","))
        if not words["limit"].isdecimal():
            raise UnknownWord(f"limit={words['limit']}")
        rows += sql.SQL(" LIMIT {}").format(min(int(words["limit"]), most))
        return cls(rows, sql.SQL("SELECT count(*) ") + source)


@dataclass(frozen=True, slots=True)
class Change:
    """What a writing request asks for: a statement that returns the rows written."""

    statement: sql.Composed

    @classmethod
    def upsert(cls, table: str, query: Iterable[tuple[str, str]], rows: Any) -> Change:
        """The statement for rows that are put in where none is under their key: ``resolution=ignore-duplicates``.

        Raises:
            UnknownWord: a word is not known or missing, or the rows do not have the columns that it lists.
        """
        words = dict(query)
        if sorted(name for name, _ in query) != ["columns", "on_conflict"]:
            raise UnknownWord(f"{', '.join(sorted(words))} of an upsert")
        names = [_unquoted(name) for name in words["columns"].split(",")]
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise UnknownWord("a body that is no list of rows")
        if any(set(row) != set(names) for row in rows):
            raise UnknownWord(f"rows of other columns than {', '.join(names)}")
        columns = sql.SQL(", ").join(map(_column, names))
        key = sql.SQL(", ").join(_column(name) for name in words["on_conflict"].split(","))
        statement = sql.SQL(
            "INSERT INTO {0} AS one ({1}) SELECT {1} FROM json_populate_recordset(NULL::{0}, {2})"
            " ON CONFLICT ({3}) DO NOTHING RETURNING one.*"
        )
        return cls(statement.format(sql.Identifier("public", table), columns, sql.Literal(json.dumps(rows)), key))

    @classmethod
    def update(cls, table: str, query: Iterable[tuple[str, str]], values: Any) -> Change:
        """The statement for new values of the rows that meet conditions, of which there must be some.

        Raises:
            UnknownWord: a word is not known, or the body is no row.
        """
        conditions = [
            sql.SQL("{} IS NULL").format(_column(name)) if value == "is.null" else _condition(name, value)
            for name, value in query
        ]
        if not conditions or not isinstance(values, dict) or not values:
            raise UnknownWord("an update without conditions, or without values")
        statement = sql.SQL(
            "UPDATE {0} SET ({1}) = (SELECT {1} FROM json_populate_record(NULL::{0}, {2})) WHERE {3} RETURNING *"
        )
        columns = sql.SQL(", ").join(map(_column, values))
        place, body = sql.Identifier("public", table), sql.Literal(json.dumps(values))
        return cls(statement.format(place, columns, body, sql.SQL(" AND ").join(conditions)))


def function_call(name: str, types: Mapping[str, str], arguments: Any) -> sql.Composed:
    """The statement that calls a function with the arguments in a body, which are all it has."""
    called = sql.SQL(", ").join(sql.SQL("{0} => given.{0}").format(_column(one)) for one in types)
    function = sql.SQL("SELECT to_json({}({}))::text").format(sql.Identifier("public", name), called)
    if not types:
        return function
    typed = sql.SQL(", ").join(sql.SQL("{} {}").format(_column(one), sql.SQL(kind)) for one, kind in types.items())  # type: ignore[arg-type]
    return function + sql.SQL(" FROM json_to_record({}) given ({})").format(sql.Literal(json.dumps(arguments)), typed)


def _unquoted(text: str) -> str:
    if len(text) < 3 or text[0] != '"' or text[-1] != '"':
        raise UnknownWord(f"column {text!r}")
    return text[1:-1]


def _columns(text: str) -> sql.Composable:
    return sql.SQL("*") if text == "*" else sql.SQL(", ").join(_column(one) for one in text.split(","))


def _column(name: str) -> sql.Identifier:
    if _NAME.fullmatch(name) is None:
        raise UnknownWord(f"column {name!r}")
    return sql.Identifier(name)


def _order(text: str) -> sql.Composed:
    name, _, direction = text.partition(".")
    if direction not in ("", "asc"):
        raise UnknownWord(f"order={text}")
    return sql.SQL("{} ASC").format(_column(name))


def _condition(name: str, value: str) -> sql.Composed:
    """A condition of its own, whose value is the whole rest of the text."""
    operator, _, operand = value.partition(".")
    if operator == "in":
        listed = sql.SQL(", ").join(_Logic(operand).values())
        return sql.SQL("{} IN ({})").format(_column(name), listed)
    return _comparison(name, operator, operand)


def _comparison(name: str, operator: str, operand: str) -> sql.Composed:
    if operator not in _OPERATORS:
        raise UnknownWord(f"operator {operator!r}")
    # A literal without a type: Postgres infers the column's.
    return sql.SQL("{} {} {}").format(_column(name), sql.SQL(_OPERATORS[operator]), sql.Literal(operand))


class _Logic:
    """A text within parentheses, read from its start to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def group(self, joint: str) -> sql.Composed:
        """The whole text as conditions that are joined by ``and`` or ``or``."""
        return self._whole(self._group(joint))

    def values(self) -> list[sql.Literal]:
        """The whole text as a list of values."""
        self._expect("(")
        found = [sql.Literal(self._value())]
        while self._next(","):
            found.append(sql.Literal(self._value()))
        self._expect(")")
        return self._whole(found)

    def _group(self, joint: str) -> sql.Composed:
        self._expect("(")
        parts = [self._part()]
        while self._next(","):
            parts.append(self._part())
        self._expect(")")
        return sql.SQL("({})").format(sql.SQL(f" {joint.upper()} ").join(parts))

    def _part(self) -> sql.Composed:
        for joint in ("and", "or"):
            if self._text.startswith(f"{joint}(", self._at):
                self._at += len(joint)
                return self._group(joint)
        name, operator = self._word(), self._word()
        return _comparison(name, operator, self._value())

    def _word(self) -> str:
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._unknown()
        self._at = match.end()
        self._expect(".")
        return match[0]

    def _value(self) -> str:
        match = _LISTED.match(self._text, self._at)
        assert match is not None  # it may be empty
        self._at = match.end()
        quoted, plain = match.groups()
        return plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)

    def _next(self, mark: str) -> bool:
        there = self._text.startswith(mark, self._at)
        self._at += len(mark) if there else 0
        return there

    def _expect(self, mark: str) -> None:
        if not self._next(mark):
            raise self._unknown()

    def _whole(self, found: _Found) -> _Found:
        if self._at != len(self._text):
            raise self._unknown()
        return found

    def _unknown(self) -> UnknownWord:
        return UnknownWord(f"{self._text!r} at {self._at}")
