"""What the stores behind a bucket have in common: keys below a prefix, and content that is sent in parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from benchwright.files import atomic_writer
from benchwright.objects.attempts import Expected
from benchwright.objects.content import Content, Nowhere, blocks, chained, measured, upload_lost
from benchwright.objects.keys import check_key
from benchwright.objects.prefixed import Prefixed
from benchwright.objects.store import PART_SIZE, Chunks, Conflict, ObjectInfo, ObjectStore


class PartedStore(Prefixed, ObjectStore):
    """A store below a prefix that is no part of its keys. How one request is made is its subclasses' to say."""

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
        """See ``ObjectStore.put_stream``. More than one part's worth of content is sent in parts."""
        self._whole(key)
        if if_absent and if_match is not None:
            raise ValueError("if_absent and if_match exclude each other")
        condition = self._condition(if_absent, if_match)
        with measured(chunks, sha256, size, PART_SIZE) as content:
            pieces = blocks(content.chunks, self._part_size(content.size))
            begun = list(islice(pieces, 2))
            if len(begun) < 2:
                return self._put_whole(key, begun[0] if begun else b"", content.sha256, condition)
            return self._put_parts(key, chained(begun, pieces), content, condition)

    def get(self, key: str, path: Path, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """See ``ObjectStore.get``. A broken connection is taken up where it broke."""
        with atomic_writer(path) as target:
            return self._read(key, target, sha256, most)

    def prove(self, key: str, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """See ``ObjectStore.prove``."""
        return self._read(key, Nowhere(), sha256, most)

    def _whole(self, key: str) -> str:
        """The key in the bucket."""
        return check_key(self._prefix + check_key(key))

    def _where(self, key: str) -> str:
        """The object as problems name it."""
        return f"{self._bucket_url}/{self._whole(key)}"

    def _check_early(self, key: str, condition: Mapping[str, Any]) -> None:
        """Lose before gigabytes are sent, where the race is lost already; the last request decides."""
        present = self.head(key)
        if (present.etag if present else None) != self._wanted(condition):
            raise self._conflict(key, condition, present)

    def _won_after_all(self, key: str, sha256: str, condition: Mapping[str, Any], expected: Expected) -> ObjectInfo:
        """The object that an earlier attempt made although its answer was lost; else the race is lost.

        Whoever sends a conditional write twice may be refused because of the first one. Then the object that is there
        has the digest that was sent.

        Raises:
            Conflict: someone else's object is there, or none.
            Failure: the store forgot a large upload before it was complete (code ``upload-lost``, exit 4).
        """
        present = self.head(key)
        if expected.attempts > 1 and present is not None and present.sha256 == sha256:
            return present
        if condition and not self._is_lost_upload(expected.error):
            raise self._conflict(key, condition, present)
        raise upload_lost(self._where(key))

    def _conflict(self, key: str, condition: Mapping[str, Any], present: ObjectInfo | None) -> Conflict:
        return Conflict.between(self._where(key), present.etag if present else None, self._wanted(condition))

    def _part_size(self, _size: int | None) -> int:
        """The bytes of a part of so much content, where its size is known."""
        return PART_SIZE

    @staticmethod
    @abstractmethod
    def _condition(if_absent: bool, if_match: str | None) -> dict[str, Any]:
        """The condition of a write in the words of the client; at most one of both is given."""

    @staticmethod
    @abstractmethod
    def _wanted(condition: Mapping[str, Any]) -> str | None:
        """The ``etag`` that a condition names; None for one that no object is there."""

    @staticmethod
    @abstractmethod
    def _is_lost_upload(error: Exception) -> bool:
        """Whether the store forgot a large upload, and did not refuse the condition."""

    @abstractmethod
    def _put_whole(self, key: str, content: bytes, sha256: str, condition: Mapping[str, Any]) -> ObjectInfo:
        """Write an object in one request."""

    @abstractmethod
    def _put_parts(
        self, key: str, parts: Iterator[bytes], content: Content, condition: Mapping[str, Any]
    ) -> ObjectInfo:
        """Write an object in several."""

    @abstractmethod
    def _read(self, key: str, target: BinaryIO | Nowhere, sha256: str | None, most: int | None) -> ObjectInfo:
        """Bring an object to ``target``, no more than ``most`` bytes, and compare its digest."""
