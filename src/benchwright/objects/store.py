"""The words of an object store: an object's facts, the calls every store answers, and a lost race."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Protocol

from benchwright.contract import Exit, Failure, Problem

PART_SIZE = 8 * 2**20
"""Bytes in one part of a large upload, and the most a store holds of an object in one piece of memory."""

Chunks = Iterable[bytes] | BinaryIO


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a store says of one object.

    ``size`` is in bytes. ``etag`` names this version of the object and serves ``if_match``; nothing else may be read
    from it. ``sha256`` is in hex, and None where the store does not say: in listings, and for objects that were put
    there by programs that record no digest. ``modified`` is when it was written, by the store's clock, where
    ``head`` or ``get`` says so.
    """

    key: str
    size: int
    etag: str
    sha256: str | None = None
    modified: datetime | None = field(default=None, compare=False)


class Conflict(Failure):
    """A conditional write that lost: someone else wrote or removed the object first (code ``conflict``, exit 5)."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        fix = "look at what is there now, then run this again"
        super().__init__(Problem("conflict", where, found, expected, fix), exit=Exit.REFUSED)
        self._said = (where, found, expected)

    @classmethod
    def between(cls, where: str, present: str | None, wanted: str | None) -> Conflict:
        """By the ``etag`` that is there and the one that was to be there, each None for no object."""
        found = "no object" if present is None else f"version {present}"
        return cls(where, found, "none under this key" if wanted is None else f"version {wanted}")

    def __reduce__(self) -> tuple[type[Conflict], tuple[str, str, str]]:
        """Survive the way back from a worker process whole."""
        return Conflict, self._said


class ObjectStore(Protocol):
    """Objects by key. Keys are relative paths with ``/`` (``benchwright.objects.keys`` says which are valid).

    Every call may raise ``Failure``: a key that is none (exit 2), credentials, permission or bucket missing (exit 3),
    a store that does not answer or keeps answering wrongly after all retries (exit 4). What fails on this side, a
    source that cannot be read or a target that cannot be written, stays an ``OSError``.
    """

    @property
    def url(self) -> str:
        """Where the store is, fit to be printed."""

    def head(self, key: str) -> ObjectInfo | None:
        """The object's facts as the store holds them now, or None if there is none. Never answered from a listing."""

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """The objects whose key starts with ``prefix``, page by page, in the store's own order.

        S3 and the folder order keys by their UTF-8 bytes; SeaweedFS goes folder by folder. A listing may lag behind
        writes; ``head`` decides.
        """

    def put(
        self,
        key: str,
        content: bytes | Path,
        *,
        sha256: str | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
    ) -> ObjectInfo:
        """Store bytes or a file's content under ``key``; see ``put_stream``."""
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as file:
            return self.put_stream(key, file, sha256=sha256, size=size, if_absent=if_absent, if_match=if_match)

    def put_stream(
        self,
        key: str,
        chunks: Chunks,
        *,
        sha256: str | None = None,
        size: int | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
    ) -> ObjectInfo:
        """Store what ``chunks`` yields (or what is left in an open binary file) under ``key``, in bounded memory.

        The object appears whole or not at all. ``if_absent`` writes only where no object is, ``if_match`` only over the
        version with that ``etag``. ``sha256`` is the content's digest where the caller knows it: another content is
        refused before the object appears. Without it, a stream that cannot be rewound is kept in a temporary file
        until its digest is known. ``size`` in bytes lets a large stream be cut into larger parts.

        Raises:
            Conflict: ``if_absent`` or ``if_match`` does not hold (exit 5).
            Failure: the content has another digest (code ``content-changed``, exit 1), and as above.
        """

    def get(self, key: str, path: Path, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """Bring an object to ``path``, which changes only once the content's size and digest are verified.

        The digest expected is ``sha256``, else the one the store records. The result holds the digest of what was
        read, recorded or not. No more than ``most`` bytes are taken, whatever the store sends.

        Raises:
            Failure: there is no such object (code ``no-object``, exit 1), what came is not what was stored (code
                ``digest-mismatch``, exit 1) or more than ``most`` bytes (code ``too-large``, exit 1), and as above.
        """

    def prove(self, key: str, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """Read an object back whole and verify it, as ``get`` does, and keep nothing."""

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Remove an object, with ``if_match`` only the version with that ``etag``; one that is not there is no error.

        The folder decides the condition under its lock, S3 by a look right before the removal.

        Raises:
            Conflict: another version is there (exit 5).
        """

    def discard_unfinished(self, prefix: str = "", *, older_than: timedelta = timedelta(days=1)) -> int:
        """Remove what killed uploads left behind, and say how many there were; younger ones may still be at work."""
