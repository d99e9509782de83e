"""The store at Google Cloud Storage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, BinaryIO

from benchwright.objects.attempts import Expected, StrangeAnswer
from benchwright.objects.content import (
    Content,
    Nowhere,
    bounded,
    content_changed,
    digest_mismatch,
    no_object,
    object_changed,
    recorded_sha256,
    sha256_of,
)
from benchwright.objects.gcs_bucket import GCSBucket
from benchwright.objects.gcs_errors import is_absent, is_lost_race
from benchwright.objects.keys import check_prefix
from benchwright.objects.parted import PartedStore
from benchwright.objects.store import PART_SIZE, ObjectInfo

_TYPE = "application/octet-stream"


class GCSStore(PartedStore):
    """Objects in a bucket of Google Cloud Storage.

    An ``etag`` is the object's generation, and conditions are the server's own on it (``ifGenerationMatch``). The
    digest is stored as the object's metadata; what is sent goes with a checksum that the server compares.
    """

    def __init__(self, bucket: GCSBucket, prefix: str) -> None:
        super().__init__(bucket.url, prefix)
        self._bucket = bucket
        self._bucket_is_there = False

    def head(self, key: str) -> ObjectInfo | None:
        """See ``ObjectStore.head``. The digest is the one recorded with the object."""
        whole = self._whole(key)
        blob = self._bucket.repeat(whole, lambda: _complete(self._bucket.look(whole)))
        if blob is None:
            self._ask_for_bucket()
            return None
        return _facts(key, blob)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ``ObjectStore.list``. Markers of folders, whose key ends with ``/``, are no objects."""
        start = self._prefix + check_prefix(prefix)
        for page in self._bucket.pages(start):
            for blob in page:
                key = str(blob.name).removeprefix(self._prefix)
                if key and not key.endswith("/"):
                    yield ObjectInfo(key, int(blob.size), str(blob.generation))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """See ``ObjectStore.delete``."""
        whole, condition = self._whole(key), self._condition(False, if_match)
        if if_match is not None:
            present = self.head(key)
            if present is None:
                return
            if present.etag != if_match:
                raise self._conflict(key, condition, present)
        try:
            self._bucket.repeat(
                whole,
                lambda: self._bucket.blob(whole).delete(**condition, **self._bucket.once),
                expect=lambda error: is_absent(error) or is_lost_race(error),
            )
        except Expected as expected:
            if is_lost_race(expected.error):
                raise self._conflict(key, condition, self.head(key)) from None

    def discard_unfinished(self, prefix: str = "", *, older_than: timedelta = timedelta(days=1)) -> int:
        """See ``ObjectStore.discard_unfinished``: nothing, since the server forgets such uploads after a week."""
        check_prefix(prefix)
        return 0

    @staticmethod
    def _condition(if_absent: bool, if_match: str | None) -> dict[str, Any]:
        if if_match is not None:
            return {"if_generation_match": int(if_match)}
        return {"if_generation_match": 0} if if_absent else {}

    @staticmethod
    def _wanted(condition: Mapping[str, int]) -> str | None:
        return str(condition["if_generation_match"]) if condition["if_generation_match"] else None

    @staticmethod
    def _is_lost_upload(error: Exception) -> bool:
        return not is_lost_race(error)

    def _read(self, key: str, target: BinaryIO | Nowhere, sha256: str | None, most: int | None) -> ObjectInfo:
        present = self.head(key)
        where = self._where(key)
        if present is None:
            raise no_object(where)
        digest, kept = hashlib.sha256(), bounded(target, most, where)
        for start in range(0, present.size, PART_SIZE):
            piece = self._piece(self._whole(key), present, start)
            digest.update(piece)
            kept.write(piece)
        found, expected = digest.hexdigest(), sha256.lower() if sha256 else present.sha256
        if expected is not None and found != expected:
            raise digest_mismatch(where, found, expected)
        return replace(present, sha256=found)

    def _piece(self, whole: str, present: ObjectInfo, start: int) -> bytes:
        end = min(start + PART_SIZE, present.size)

        def once() -> bytes:
            piece: bytes = self._bucket.blob(whole, generation=int(present.etag)).download_as_bytes(
                start=start,
                end=end - 1,
                raw_download=True,
                checksum=None,
                **self._bucket.once,
            )
            if len(piece) != end - start:
                raise StrangeAnswer(f"{len(piece):,} of {end - start:,} bytes")
            return piece

        try:
            return self._bucket.repeat(whole, once, expect=is_absent)
        except Expected:
            raise object_changed(self._bucket.where(whole)) from None

    def _put_whole(self, key: str, content: bytes, sha256: str, condition: Mapping[str, int]) -> ObjectInfo:
        whole, found = self._whole(key), sha256_of(content)
        if found != sha256:
            raise content_changed(self._where(key), found, sha256)

        def once() -> Any:
            blob = self._bucket.blob(whole)
            blob.metadata = {"sha256": sha256}
            blob.upload_from_string(content, content_type=_TYPE, checksum="auto", **condition, **self._bucket.once)
            return _complete(blob)

        try:
            blob = self._bucket.repeat(whole, once, expect=is_lost_race)
        except Expected as expected:
            return self._won_after_all(key, sha256, condition, expected)
        return ObjectInfo(key, len(content), str(blob.generation), sha256)

    def _put_parts(
        self, key: str, parts: Iterator[bytes], content: Content, condition: Mapping[str, int]
    ) -> ObjectInfo:
        if condition:
            self._check_early(key, condition)
        whole = self._whole(key)
        passing: list[BaseException] = []
        source = _Source(parts, content.sha256, self._where(key))
        blob = self._bucket.blob(whole, chunk_size=PART_SIZE)
        blob.metadata = {"sha256": content.sha256}
        options = self._bucket.once | {"retry": self._bucket.retry(source.tell, passing.append)}

        def send() -> Any:
            blob.upload_from_file(source, content_type=_TYPE, checksum="auto", **condition, **options)
            return _complete(blob)

        try:
            # The source cannot be read twice: what may pass has been waited out by the client.
            self._bucket.repeat(whole, send, expect=lambda error: is_lost_race(error) or is_absent(error), most=1)
        except Expected as expected:
            return self._won_after_all(key, content.sha256, condition, Expected(expected.error, 1 + len(passing)))
        return ObjectInfo(key, source.tell(), str(blob.generation), content.sha256)

    def _ask_for_bucket(self) -> None:
        """Tell an absent object from an absent bucket, which look alike; asked once.

        Raises:
            Failure: there is no such bucket (code ``no-bucket``, exit 3).
        """
        if not self._bucket_is_there:
            next(self._bucket.pages(self._prefix, most=1))
            self._bucket_is_there = True


class _Source:
    """The content of a large upload as the client reads it: the last piece only if the digest is the one announced."""

    def __init__(self, pieces: Iterator[bytes], sha256: str, where: str) -> None:
        self._pieces = pieces
        self._next = next(pieces, b"")
        self._sha256 = sha256
        self._where = where
        self._digest = hashlib.sha256()
        self._offset = 0

    def tell(self) -> int:
        """How much has been read."""
        return self._offset

    def read(self, size: int) -> bytes:
        """The next piece, which is a part.

        Raises:
            Failure: it would be the last one, and the content is another than announced (exit 1).
        """
        piece, self._next = self._next, next(self._pieces, b"") if self._next else b""
        self._digest.update(piece)
        self._offset += len(piece)
        if not self._next and self._digest.hexdigest() != self._sha256:
            raise content_changed(self._where, self._digest.hexdigest(), self._sha256)
        assert len(piece) <= size
        return piece


def _complete(blob: Any) -> Any:
    """The client's object itself, if the server said what every object has."""
    if blob is not None and (blob.generation is None or blob.size is None):
        raise StrangeAnswer("an object without generation or size")
    return blob


def _facts(key: str, blob: Any) -> ObjectInfo:
    return ObjectInfo(key, int(blob.size), str(blob.generation), recorded_sha256(blob.metadata), blob.updated)
