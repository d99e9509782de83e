"""What the stores behind a bucket have in common: keys below a prefix, and content that is sent in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from benchwright.files import atomic_writer
from benchwright.objects.content import Content, Nowhere, blocks, chained, measured, sha256_of
from benchwright.objects.keys import check_key
from benchwright.objects.store import PART_SIZE, Chunks, ObjectInfo


class PartedStore(ABC):
    """A store below a prefix that is no part of its keys. How one request is made is its subclasses' to say."""

    def __init__(self, bucket_url: str, prefix: str) -> None:
        self._prefix = f"{prefix}/" if prefix else ""
        self._bucket_url = bucket_url

    @property
    def url(self) -> str:
        """Where the store is."""
        return self._bucket_url + (f"/{self._prefix[:-1]}" if self._prefix else "")

    def put(
        self,
        key: str,
        content: bytes | Path,
        *,
        sha256: str | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
    ) -> ObjectInfo:
        """See ``ObjectStore.put``."""
        if isinstance(content, bytes):
            digest = sha256 or sha256_of(content)
            return self.put_stream(key, [content], sha256=digest, if_absent=if_absent, if_match=if_match)
        with open(content, "rb") as file:
            size = content.stat().st_size
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

    def _part_size(self, _size: int | None) -> int:
        """The bytes of a part of so much content, where its size is known."""
        return PART_SIZE

    @staticmethod
    @abstractmethod
    def _condition(if_absent: bool, if_match: str | None) -> dict[str, Any]:
        """The condition of a write in the words of the client; at most one of both is given."""

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
