"""Reads that are bounded, and paths that cannot leave their folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem

_JSON_LIMIT = 256 * 2**20


def read_bytes(path: Path | str, *, limit: int) -> bytes:
    """The content of a file of at most ``limit`` bytes.

    Raises:
        Failure: the file is larger (code ``too-large``).
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise Failure(Problem("too-large", str(path), f"more than {limit:,} bytes", "a file within that limit"))
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
        raise Failure(Problem("not-json", str(path), f"not JSON: {error}", "a complete JSON file")) from error


def digest(path: Path | str) -> str:
    """The SHA-256 of a file's content, in hex, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inside(root: Path | str, member: str) -> Path:
    """The path of ``member`` below ``root``.

    Raises:
        Failure: it would leave the folder, by ``..``, an absolute path or a link (code ``path-escape``).
    """
    root = Path(root).resolve()
    path = (root / member).resolve()
    if not path.is_relative_to(root) or path == root:
        raise Failure(Problem("path-escape", member, f"leaves {root}", "a path inside that folder"))
    return path
