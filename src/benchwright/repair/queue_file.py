"""Queue files: one address a line and nothing else, since a program takes them line by line."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_bytes, write_bytes

_ENTRY = re.compile(r"(?![-*+>])[^\s|`\[\]()<>#*\\]*/[^\s|`\[\]()<>#*\\]*")
"""An address or a path: it has a slash, and nothing that a table, a heading, a list or a link is made of."""
_FORM = "one address or path a line, and nothing else"
_MOST_BYTES = 2**26


@dataclass(frozen=True, slots=True)
class Appended:
    """What was added to a queue, or is to be, and what is in it already; each in the order that it was named in."""

    path: Path
    added: tuple[str, ...]
    known: tuple[str, ...]
    length: int
    """Entries before."""


def append_to_queue(path: Path, entries: Sequence[str], *, apply: bool) -> Appended:
    """Add entries to the end of a queue, those that it does not have; with ``apply`` write it, whole or not at all.

    The entries that are there stay as they are, to the byte. A link to a queue stays a link.

    Raises:
        Failure: an entry is none (exit 2); what is there is no flat queue, every line of it that is none (code
            ``not-flat``, exit 1); another process adds to it (exit 5).
    """
    wrong = [
        Problem("not-flat", entry, "no address or path", _FORM, "leave it out, or write the whole address")
        for entry in entries
        if not _is_entry(entry)
    ]
    if wrong:
        raise Failure(wrong, exit=Exit.USAGE)
    path = path.resolve()
    if not path.parent.is_dir():
        raise usage_error(
            str(path),
            "no such folder",
            "a queue, or a name for a new one in a folder that is there",
            "make the folder, or correct the path",
        )
    with _held(path) if apply else contextlib.nullcontext():
        content = read_bytes(path, limit=_MOST_BYTES) if path.exists() else b""
        there = _entries(path, content)
        known = {_folded(entry) for entry in there}
        once = {_folded(entry): entry for entry in reversed(entries)}
        added = tuple(entry for entry in entries if once.pop(_folded(entry), None) and _folded(entry) not in known)
        if apply and added:
            end = b"\r\n" if b"\r\n" in content else b"\n"
            gap = end if content and not content.endswith(b"\n") else b""
            write_bytes(path, content + gap + b"".join(entry.encode() + end for entry in added))
    skipped = tuple(entry for entry in dict.fromkeys(entries) if entry not in added)
    return Appended(path, added, skipped, len(there))


def _entries(path: Path, content: bytes) -> list[str]:
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise Failure(
            Problem("not-flat", str(path), "no text in UTF-8", _FORM, "save it in UTF-8"), exit=Exit.NO
        ) from None
    wrong = [
        Problem("not-flat", f"{path}:{number}", f"{line:.60}", _FORM, "notes belong into a file of their own")
        for number, line in enumerate(lines, start=1)
        if line.strip() and not _is_entry(line.strip())
    ]
    if wrong:
        raise Failure(wrong, exit=Exit.NO)
    return [line.strip() for line in lines if line.strip()]


def _is_entry(text: str) -> bool:
    return _ENTRY.fullmatch(text) is not None and text.isprintable()


def _folded(entry: str) -> str:
    return entry.rstrip("/")


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Keep others of us from adding meanwhile: what each read would lack what the other wrote.

    A new queue is there from then on, empty.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NONBLOCK, 0o666)  # a pipe has nobody wait for it
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(handle), path.stat()):  # it was written between the two
            raise BlockingIOError
        yield
    except BlockingIOError:
        problem = Problem("locked", str(path), "another process adds to it", "one at a time", "run this again")
        raise Failure(problem, exit=Exit.REFUSED) from None
    finally:
        os.close(handle)
