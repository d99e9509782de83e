"""Which keys are keys: relative, one spelling each, the same on every store, and never out of a folder."""

from __future__ import annotations

import unicodedata

from benchwright.contract import Failure, usage_error

RESERVED = ".benchwright"
"""The folder store's own folder, at its root."""
_LONGEST_KEY = 1024
"""Bytes in UTF-8, the limit of S3 (https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html)."""
_LONGEST_PART = 255
"""Bytes in UTF-8, the limit of the usual file systems."""


def check_key(key: str) -> str:
    """The key itself, if it is one.

    Raises:
        Failure: it is none (code ``bad-key``, exit 2).
    """
    if (reason := _wrong_with(key)) is not None:
        raise _bad_key(key, reason)
    return key


def check_prefix(prefix: str) -> str:
    """The start of a key: one that ends anywhere, or nothing.

    Raises:
        Failure: no key starts like this (code ``bad-key``, exit 2).
    """
    if prefix and (reason := _wrong_with(prefix + "x" if prefix.endswith("/") else prefix)) is not None:
        raise _bad_key(prefix, reason)
    return prefix


def is_key(key: str) -> bool:
    """Whether this text is a key."""
    return _wrong_with(key) is None


def _wrong_with(key: str) -> str | None:
    try:
        encoded = key.encode()
    except UnicodeEncodeError:
        return "not UTF-8"
    if not key:
        return "empty"
    if len(encoded) > _LONGEST_KEY:
        return f"{len(encoded):,} bytes long"
    if any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in key):
        return "a control character"
    if "\\" in key:
        return "a backslash"
    return _wrong_with_parts(key.split("/"))


def _wrong_with_parts(parts: list[str]) -> str | None:
    if "" in parts:
        return "an empty part"
    if "." in parts or ".." in parts:
        return "a part that is '.' or '..'"
    if parts[0] == RESERVED:
        return f"the reserved name {RESERVED}"
    if max(len(part.encode()) for part in parts) > _LONGEST_PART:
        return f"a part of more than {_LONGEST_PART} bytes"
    return None


def _bad_key(key: str, reason: str) -> Failure:
    expected, fix = "a relative path with '/' between its parts", "correct it where it is named"
    return usage_error(f"{key!a}", reason, expected, fix, code="bad-key")
