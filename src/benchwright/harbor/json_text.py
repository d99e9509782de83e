"""JSON as Harbor's versions wrote it: decoded into the fields that are asked for, the rest skipped unread."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

_T = TypeVar("_T")
_STRING_OR_CONSTANT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?(?:NaN|Infinity)')
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""A surrogate pair, half of one (the group), or any other escape, from left to right so that none is cut in two."""


class NotJson(ValueError):
    """What a file holds is not the JSON that was expected; the text says why."""


def decode(data: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    """The wanted fields of a JSON text.

    What a strict reader refuses and Python writes all the same is read: NaN and infinities come as the texts ``"NaN"``,
    ``"Infinity"`` and ``"-Infinity"``, half a surrogate pair as U+FFFD. Memory is that of the text, three times that
    where it has such things in it.

    Raises:
        NotJson: the text is empty, cut off or damaged, or a wanted field is of another kind.
    """
    if not data.strip():
        raise NotJson("empty")
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return decoder.decode(_STRING_OR_CONSTANT.sub(_mended, data))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotJson(_reason(error)) from None


def _mended(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if not found.startswith(b'"'):
        return b'"' + found + b'"'
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], found)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    text = str(error)
    return "cut off" if text == "Input data was truncated" else text.removeprefix("JSON is malformed: ")
