"""Reads that are bounded, and paths that cannot leave their folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem

_JSON_LIMIT = 256 * 2**20


def open_regular(path: Path | str) -> BufferedReader:
    """A file opened to be read; a named pipe or a device, which could be waited for or read for ever, is not opened.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "no regular file", str(path))


def read_bytes(path: Path | str, *, limit: int) -> bytes:
    """The content of a file of at most ``limit`` bytes.

    Raises:
        Failure: the file is larger (code ``too-large``).
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        found, fix = f"more than {limit:,} bytes", "make it smaller, or name another"
        raise Failure(Problem("too-large", str(path), found, "a file within that limit", fix))
    return content


def read_json(path: Path | str, *, limit: int = _JSON_LIMIT) -> Any:
    """A JSON file's content.

    Raises:
        Failure: it is too large, not UTF-8, or not JSON (code ``not-json``).
        OSError: it cannot be read.
    """
    try:
        return json.loads(read_bytes(path, limit=limit))
    except (ValueError, RecursionError) as error:
        fix = "have it written anew, or name another"
        raise Failure(Problem("not-json", str(path), f"not JSON: {error}", "a complete JSON file", fix)) from error


def digest(path: Path | str) -> str:
    """The SHA-256 of a file's content, in hex, read in pieces. Raises ``OSError`` as ``open_regular`` does."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inside(root: Path | str, member: str) -> Path:
    """The path of ``member`` below ``root``.

    Raises:
        Failure: it would leave the folder, by ``..``, an absolute path or a link (code ``path-escape``).
    """
    root = Path(root).resolve()
    path = (root / member).resolve()
    if not path.is_relative_to(root) or path == root:
        fix = "name it without '..', a '/' at its start and links that lead away"
        raise Failure(Problem("path-escape", member, f"leaves {root}", "a path inside that folder", fix))
    return path
