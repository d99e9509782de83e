"""Reading an object whole: resumed where a connection broke, and compared with what should be there."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, BinaryIO

from benchwright.objects.attempts import Expected, StrangeAnswer
from benchwright.objects.bucket import Bucket
from benchwright.objects.content import AtMost, Nowhere, digest_mismatch, no_object, object_changed, recorded_sha256
from benchwright.objects.s3_errors import is_absent, is_lost_race
from benchwright.objects.store import ObjectInfo

_PIECE = 2**20


class ReadBack:
    """One object on its way from the store to ``target``; ``key`` is the whole key in the bucket."""

    def __init__(self, bucket: Bucket, key: str, target: BinaryIO | Nowhere | AtMost) -> None:
        self._bucket = bucket
        self._key = key
        self._target = target
        self._digest = hashlib.sha256()
        self._offset = 0
        self._size = 0
        self._etag: str | None = None
        self._recorded: str | None = None
        self._modified: datetime | None = None

    def run(self, key: str, expected: str | None) -> ObjectInfo:
        """The facts of what was read, which has the digest ``expected``, else the one on record; ``key`` names it.

        Raises:
            Failure: no such object, or another content than was stored (exit 1); it was replaced meanwhile, or the
                store does not answer (exit 4).
        """
        where = self._bucket.where(self._key)
        try:
            self._bucket.repeat(self._key, self._attempt, expect=lambda e: is_absent(e) or is_lost_race(e))
        except Expected as expectation:
            if is_absent(expectation.error):
                raise no_object(where) from None
            raise object_changed(where) from None
        found, expected = self._digest.hexdigest(), expected or self._recorded
        if expected is not None and found != expected:
            raise digest_mismatch(where, found, expected)
        return ObjectInfo(key, self._size, bare(self._etag), found, self._modified)

    def _attempt(self) -> None:
        arguments = {}
        if self._offset and self._etag is not None:
            arguments = {"Range": f"bytes={self._offset}-", "IfMatch": self._etag}
        answer = self._bucket.call("get_object", Key=self._key, **arguments)
        with contextlib.closing(answer["Body"]) as body:
            self._begin(answer)
            for piece in body.iter_chunks(_PIECE):
                self._target.write(piece)
                self._digest.update(piece)
                self._offset += len(piece)
        if self._offset != self._size:
            raise StrangeAnswer(f"{self._offset:,} of {self._size:,} bytes")

    def _begin(self, answer: Mapping[str, Any]) -> None:
        """Take up where the last attempt broke, or from the start where the server sends all of it."""
        if "ETag" not in answer or "ContentLength" not in answer:
            raise StrangeAnswer("an object without ETag or length")
        if self._offset and "ContentRange" in answer:
            if answer["ContentRange"] != f"bytes {self._offset}-{self._size - 1}/{self._size}":
                raise StrangeAnswer(f"another range than asked for: {answer['ContentRange']}")
            return
        self._target.seek(0)
        self._target.truncate()
        self._digest, self._offset = hashlib.sha256(), 0
        self._size, self._etag = int(answer["ContentLength"]), str(answer["ETag"])
        self._recorded = recorded_sha256(answer.get("Metadata"))
        self._modified = answer.get("LastModified")


def bare(etag: object) -> str:
    """An ETag without its quotes."""
    return str(etag).removeprefix('"').removesuffix('"')
