"""A request that came in and what it is answered with, in the words of the Hub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from benchwright.rehearsal.hub.records import Rights

Words = TypeVar("Words")
_JSON_TYPE = ("Content-Type", "application/json; charset=utf-8")


class UnknownToEmulator(Exception):
    """A route, method, query word or body word that the emulator does not know. The answer is 501 and its name."""


class Refusal(Exception):
    """The Hub's refusal of a request, raised where it is found out."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Request:
    """A request that came in. ``target`` is path and query as they were sent; ``user`` is None where no token told it.

    ``body`` is empty where the route takes a stream (uploads of large files), which ``stream`` then yields.
    """

    method: str
    target: str
    user: str | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    rights: Rights | None = field(default=None, repr=False)
    stream: Callable[[], Iterator[bytes]] | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        """The path, still percent-encoded: a revision or a folder is one segment, whatever is in it."""
        return urlsplit(self.target).path

    @property
    def query(self) -> tuple[tuple[str, str], ...]:
        """Names and values in their order; ``expand[]`` is ``expand``."""
        pairs = parse_qsl(urlsplit(self.target).query, keep_blank_values=True)
        return tuple((name.removesuffix("[]"), value) for name, value in pairs)

    def one(self, name: str, default: str | None = None) -> str | None:
        """The value of a query word that may be there once."""
        values = self.every(name)
        if len(values) > 1:
            raise Refusal(refused(400, f"{name} is given more than once"))
        return values[0] if values else default

    def every(self, name: str) -> list[str]:
        """All values of a query word."""
        return [value for word, value in self.query if word == name]

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """The value of a query word that is a number."""
        text = self.one(name, str(default)) or ""
        if not text.isdecimal() or int(text) < least:
            raise Refusal(refused(400, f'"{name}" must be a number'))
        return int(text)

    def truth(self, name: str, *, default: bool = False) -> bool:
        """The value of a query word that is true or false, which the client also writes as 1 and True."""
        text = (self.one(name) or ("true" if default else "false")).lower()
        if text not in {"true", "false", "1", "0"}:
            raise Refusal(refused(400, f'"{name}" must be a boolean'))
        return text in {"true", "1"}

    def words(self, type_: type[Words]) -> Words:
        """The JSON body as a ``msgspec.Struct`` that forbids unknown fields.

        Raises:
            UnknownToEmulator: the body has a word that the struct does not.
            Refusal: it is not JSON, lacks a word, or has another type of value (400).
        """
        try:
            return msgspec.json.decode(self.body or b"{}", type=type_)
        except msgspec.DecodeError as error:
            if "unknown field" in str(error):
                raise UnknownToEmulator(f"in the body of {self.method} {self.path}: {error}") from None
            raise Refusal(refused(400, str(error))) from None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with: ``body``, or ``span`` (first byte, length) of ``file``."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (_JSON_TYPE,)
    file: Path | None = None
    span: tuple[int, int] = (0, 0)

    @property
    def length(self) -> int:
        """Bytes of the answer's body."""
        return len(self.body) if self.file is None else self.span[1]

    def with_headers(self, *headers: tuple[str, str]) -> Answer:
        """The same answer with more headers."""
        return Answer(self.status, self.body, (*self.headers, *headers), self.file, self.span)


def said(content: Any, *headers: tuple[str, str], status: int = 200) -> Answer:
    """An answer in JSON."""
    return Answer(status, json.dumps(content).encode(), (_JSON_TYPE, *headers))


def refused(status: int, message: str, code: str | None = None, *headers: tuple[str, str]) -> Answer:
    """A refusal with the headers that clients key on: ``X-Error-Code`` and ``X-Error-Message``."""
    in_header = " ".join(message.encode("ascii", "replace").decode().split())
    known = (("X-Error-Message", in_header), *((("X-Error-Code", code),) if code else ()))
    return said({"error": message}, *known, *headers, status=status)
