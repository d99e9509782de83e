"""JSON as Harbor's versions wrote it: decoded into the fields that are asked for, the rest skipped unread."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

_T = TypeVar("_T")
_MENDABLE = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]")
_STRING_OR_CONSTANT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|NaN|Infinity|-Infinity', re.DOTALL)
"""A string, also one that is cut off: otherwise each quote in it would be tried as the beginning of another."""
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""A surrogate pair, half of one (the group), or any other escape, from left to right so that none is cut in two."""


class NotJson(ValueError):
    """What a file holds is not the JSON that was expected; the text says why."""


def decode(data: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    """The wanted fields of a JSON text.

    What a strict reader refuses and Python writes all the same is read: NaN and infinities come as the texts ``"NaN"``,
    ``"Infinity"`` and ``"-Infinity"``, half a surrogate pair as U+FFFD. Memory is that of the text, up to three times
    that where it has such things in it. Time grows as its length does, whatever is in it.

    Raises:
        NotJson: the text is empty, cut off or damaged, or a wanted field is of another kind.
    """
    if not data.strip():
        raise NotJson("empty")
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        if not _MENDABLE.search(data):
            raise NotJson(_reason(error)) from None
    try:
        return decoder.decode(_mended(data))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotJson(_reason(error)) from None


def _mended(data: bytes) -> bytearray:
    return _replaced(_STRING_OR_CONSTANT, data, _as_json)


def _as_json(match: re.Match[bytes]) -> bytes | bytearray | None:
    found = match[0]
    if not found.startswith(b'"'):
        return b'"' + found + b'"'
    return _replaced(_ESCAPE, found, lambda escape: rb"\ufffd" if escape[1] else None) if rb"\u" in found else None


def _replaced(
    pattern: re.Pattern[bytes], data: bytes, by: Callable[[re.Match[bytes]], bytes | bytearray | None]
) -> bytearray:
    """What ``re.sub`` makes of it, which would hold every match at once; None leaves one as it is."""
    whole, made, done = memoryview(data), bytearray(), 0
    for match in pattern.finditer(data):
        if (new := by(match)) is not None:
            made += whole[done : match.start()]
            made += new
            done = match.end()
    made += whole[done:]
    return made


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    text = str(error)
    return "cut off" if text == "Input data was truncated" else text.removeprefix("JSON is malformed: ")
