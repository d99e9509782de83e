"""The few words of PostgREST's query language that the stand-in knows, as SQL. Any other word is an error.

The language: https://docs.postgrest.org/en/stable/references/api/tables_views.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

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
