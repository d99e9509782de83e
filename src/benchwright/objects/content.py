"""Content on its way into a store: cut into parts, measured, in bounded memory."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from benchwright.contract import Exit, Failure, Problem
from benchwright.objects.store import Chunks

_MOST_PARTS = 10_000
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""
_MEBIBYTE = 2**20
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Content:
    """A stream that can be read once, with the digest it is expected to have and its size in bytes where known."""

    chunks: Chunks
    sha256: str
    size: int | None


@contextlib.contextmanager
def measured(chunks: Chunks, sha256: str | None, size: int | None, block: int) -> Iterator[Content]:
    """The content with its digest known before the first byte is sent.

    A stream without one is read twice where it can be rewound, else kept in a temporary file meanwhile.
    """
    if sha256 is not None:
        yield Content(chunks, sha256.lower(), size)
        return
    with contextlib.ExitStack() as stack:
        if not isinstance(chunks, Iterable) or not _rewinds(chunks):
            kept = stack.enter_context(tempfile.TemporaryFile())
            for piece in blocks(chunks, block):
                kept.write(piece)
            kept.seek(0)
            chunks = kept
        file: BinaryIO = chunks  # type: ignore[assignment]  # what rewinds is a file
        start, digest = file.tell(), hashlib.sha256()
        for piece in blocks(file, block):
            digest.update(piece)
        size = file.tell() - start
        file.seek(start)
        yield Content(file, digest.hexdigest(), size)


def part_size_for(size: int | None, part_size: int) -> int:
    """The size of a part in bytes: ``part_size``, or as much more (in whole MiB) as 10,000 parts ask for."""
    needed = -(-(size or 0) // _MOST_PARTS)
    return max(part_size, -(-needed // _MEBIBYTE) * _MEBIBYTE)


def blocks(chunks: Chunks, size: int) -> Iterator[bytes]:
    """The content in blocks of exactly ``size`` bytes, the last one shorter; nothing for empty content."""
    read = getattr(chunks, "read", None)
    if read is not None:
        pieces: Iterable[bytes] = iter(lambda: read(size), b"")
    else:
        pieces = chunks
    waiting = bytearray()
    for piece in pieces:
        if not waiting and len(piece) == size:
            yield bytes(piece)
            continue
        rest = memoryview(piece)
        while len(waiting) + len(rest) >= size:
            taken = size - len(waiting)
            waiting += rest[:taken]
            rest = rest[taken:]
            yield _taken(waiting)
        waiting += rest
    if waiting:
        yield _taken(waiting)


def _taken(waiting: bytearray) -> bytes:
    """What waits, which is not kept twice while the block is at work."""
    content = bytes(waiting)
    waiting.clear()
    return content


class Nowhere:
    """Takes what is read only to be measured."""

    def write(self, content: bytes) -> int:
        """Count it."""
        return len(content)

    def seek(self, offset: int) -> int:
        """There is only here."""
        return offset

    def truncate(self) -> int:
        """There is nothing to cut off."""
        return 0


class AtMost:
    """Passes on to ``target`` what is read of an object, up to ``most`` bytes; ``where`` names the object."""

    def __init__(self, target: BinaryIO | Nowhere, most: int, where: str) -> None:
        self._target = target
        self._most = most
        self._where = where
        self._written = 0

    def write(self, content: bytes) -> int:
        """Pass it on.

        Raises:
            Failure: that would be more than the object may have (code ``too-large``).
        """
        self._written += len(content)
        if self._written > self._most:
            fix = "look at what is there now; it is not what was announced"
            problem = Problem("too-large", self._where, f"more than {self._most:,} bytes", "no more than that", fix)
            raise Failure(problem)
        return self._target.write(content)

    def seek(self, offset: int) -> int:
        """Begin anew there."""
        self._written = offset
        return self._target.seek(offset)

    def truncate(self) -> int:
        """Cut off what is behind that."""
        return self._target.truncate()


def bounded(target: BinaryIO | Nowhere, most: int | None, where: str) -> BinaryIO | Nowhere | AtMost:
    """The target, which takes no more than ``most`` bytes where that is known."""
    return target if most is None else AtMost(target, most, where)


def sha256_of(content: bytes) -> str:
    """The SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def recorded_sha256(metadata: Mapping[str, Any] | None) -> str | None:
    """The digest that an object's metadata records, None where they have none in that form."""
    digest = str((metadata or {}).get("sha256", ""))
    return digest if _SHA256.fullmatch(digest) else None


def content_changed(where: str, found: str, expected: str) -> Failure:
    """The content that was sent is not the one that was announced."""
    return Failure(
        Problem(
            "content-changed",
            where,
            f"content with SHA-256 {found}",
            f"SHA-256 {expected}",
            "make sure that nothing writes to the source, then run this again",
        )
    )


def digest_mismatch(where: str, found: str, expected: str) -> Failure:
    """What came back is not what was stored."""
    return Failure(
        Problem(
            "digest-mismatch",
            where,
            f"read back SHA-256 {found}",
            f"SHA-256 {expected}",
            "run this again; if it stays so, the object is damaged and must be uploaded anew",
        )
    )


def no_object(where: str) -> Failure:
    """There is nothing under this key."""
    return Failure(Problem("no-object", where, "no such object", "an object that was uploaded", "list what is there"))


def object_changed(where: str) -> Failure:
    """What was read is not all of one version."""
    problem = Problem("object-changed", where, "replaced while it was read", "one version", "run this again")
    return Failure(problem, exit=Exit.REMOTE)


def upload_lost(where: str) -> Failure:
    """The store forgot a large upload before it was complete."""
    problem = Problem(
        "upload-lost",
        where,
        "the store no longer knows the upload",
        "it to be there until it is complete",
        "run this again",
    )
    return Failure(problem, exit=Exit.REMOTE)


def chained(begun: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    """What was read already, then the rest; nothing is kept once it is passed on."""
    while begun:
        yield begun.pop(0)
    yield from rest


def _rewinds(chunks: Chunks) -> bool:
    seekable = getattr(chunks, "seekable", None)
    return seekable is not None and bool(seekable())
