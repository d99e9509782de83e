"""The store behind the S3 protocol: Amazon S3, Cloudflare R2, and servers that speak it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from benchwright.contract import Exit, Failure, Problem
from benchwright.objects.attempts import Expected
from benchwright.objects.bucket import Bucket
from benchwright.objects.content import (
    Content,
    Nowhere,
    bounded,
    content_changed,
    part_size_for,
    recorded_sha256,
    sha256_of,
)
from benchwright.objects.keys import check_prefix
from benchwright.objects.multipart import upload_parts
from benchwright.objects.parted import PartedStore
from benchwright.objects.read_back import ReadBack, bare
from benchwright.objects.refusals import no_bucket
from benchwright.objects.s3_errors import is_absent, is_forbidden, is_lost_race, is_unknown_upload
from benchwright.objects.store import PART_SIZE, ObjectInfo


class S3Store(PartedStore):
    """Objects in a bucket behind the S3 protocol.

    The digest is stored as the object's metadata (``x-amz-meta-sha256``). An object of one part is sent with its
    SHA-256, a part with its MD5, and the server compares. Conditions are the server's own (``If-None-Match: *`` and
    ``If-Match``): Amazon S3, R2 and SeaweedFS know them, some other servers ignore them in silence.
    """

    def __init__(self, bucket: Bucket, prefix: str) -> None:
        super().__init__(bucket.url, prefix)
        self._bucket = bucket
        self._bucket_is_there = False

    def head(self, key: str) -> ObjectInfo | None:
        """See ``ObjectStore.head``. The digest is the one recorded with the object."""
        whole, needs = self._whole(key), ("ETag", "ContentLength")
        try:
            answer = self._bucket.send(
                whole,
                "head_object",
                Key=whole,
                expect=lambda error: is_absent(error) or is_forbidden(error),
                needs=needs,
            )
        except Expected as expected:
            if not is_forbidden(expected.error):
                self._ask_for_bucket()
                return None
            # The answer to a HEAD request has no body that could say why; that to a listing has.
            self._bucket.send(whole, "list_objects_v2", Prefix=whole, MaxKeys=1)
            answer = self._bucket.send(whole, "head_object", Key=whole, needs=needs)
        recorded = recorded_sha256(answer.get("Metadata"))
        size, etag = int(answer["ContentLength"]), bare(answer["ETag"])
        return ObjectInfo(key, size, etag, recorded, answer.get("LastModified"))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ``ObjectStore.list``. Markers of folders, whose key ends with ``/``, are no objects."""
        start = self._prefix + check_prefix(prefix)
        for page in self._pages("list_objects_v2", "IsTruncated", ("ContinuationToken",), Prefix=start):
            for entry in page.get("Contents", []):
                key = str(entry["Key"]).removeprefix(self._prefix)
                if key and not key.endswith("/"):
                    yield ObjectInfo(key, int(entry["Size"]), bare(entry["ETag"]))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """See ``ObjectStore.delete``. A conditional removal is no part of what all these servers know."""
        whole = self._whole(key)
        if if_match is not None:
            present = self.head(key)
            if present is None:
                return
            if present.etag != if_match:
                raise self._conflict(key, self._condition(False, if_match), present)
        try:
            self._bucket.send(whole, "delete_object", Key=whole, expect=is_absent)
        except Expected:
            return

    def discard_unfinished(self, prefix: str = "", *, older_than: timedelta = timedelta(days=1)) -> int:
        """See ``ObjectStore.discard_unfinished``: multipart uploads below the prefix that nobody completed."""
        start, before, count = self._prefix + check_prefix(prefix), datetime.now(UTC) - older_than, 0
        markers = ("KeyMarker", "UploadIdMarker")
        for page in self._pages("list_multipart_uploads", "IsTruncated", markers, Prefix=start):
            for upload in page.get("Uploads", []):
                if upload["Initiated"] <= before:
                    named = {"Key": upload["Key"], "UploadId": upload["UploadId"]}
                    self._bucket.send(upload["Key"], "abort_multipart_upload", **named)
                    count += 1
        return count

    def _part_size(self, size: int | None) -> int:
        return part_size_for(size, PART_SIZE)

    @staticmethod
    def _condition(if_absent: bool, if_match: str | None) -> dict[str, Any]:
        if if_match is not None:
            return {"IfMatch": f'"{if_match}"'}
        return {"IfNoneMatch": "*"} if if_absent else {}

    @staticmethod
    def _wanted(condition: Mapping[str, Any]) -> str | None:
        return bare(condition["IfMatch"]) if "IfMatch" in condition else None

    @staticmethod
    def _is_lost_upload(error: Exception) -> bool:
        return is_unknown_upload(error)

    def _read(self, key: str, target: BinaryIO | Nowhere, sha256: str | None, most: int | None) -> ObjectInfo:
        whole = self._whole(key)
        read_back = ReadBack(self._bucket, whole, bounded(target, most, self._where(key)))
        return read_back.run(key, sha256.lower() if sha256 else None)

    def _put_whole(self, key: str, content: bytes, sha256: str, condition: Mapping[str, Any]) -> ObjectInfo:
        whole, found = self._whole(key), sha256_of(content)
        if found != sha256:
            raise content_changed(self._where(key), found, sha256)
        try:
            answer = self._bucket.send(
                whole,
                "put_object",
                expect=lambda error: is_lost_race(error) or is_absent(error),
                needs=("ETag",),
                Key=whole,
                Body=content,
                ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode(),
                Metadata={"sha256": sha256},
                **condition,
            )
        except Expected as expected:
            return self._won_after_all(key, sha256, condition, expected)
        return ObjectInfo(key, len(content), bare(answer["ETag"]), sha256)

    def _put_parts(
        self, key: str, parts: Iterator[bytes], content: Content, condition: Mapping[str, Any]
    ) -> ObjectInfo:
        if condition:
            self._check_early(key, condition)
        sent = 0

        def counted() -> Iterator[bytes]:
            nonlocal sent
            for part in parts:
                sent += len(part)
                yield part

        try:
            etag = upload_parts(self._bucket, self._whole(key), counted(), content.sha256, condition)
        except Expected as expected:
            return self._won_after_all(key, content.sha256, condition, expected)
        return ObjectInfo(key, sent, bare(etag), content.sha256)

    def _ask_for_bucket(self) -> None:
        """Tell an absent object from an absent bucket, which a HEAD request cannot; asked once.

        Raises:
            Failure: there is no such bucket (code ``no-bucket``, exit 3).
        """
        if self._bucket_is_there:
            return
        try:
            self._bucket.send("", "head_bucket", expect=lambda error: is_absent(error) or is_forbidden(error))
        except Expected as expected:
            if is_absent(expected.error):
                raise no_bucket(self._bucket.url, "no such bucket") from None
        self._bucket_is_there = True

    def _pages(
        self, operation: str, more: str, markers: tuple[str, ...], **arguments: Any
    ) -> Iterator[Mapping[str, Any]]:
        """The pages of a listing, each asked for alone."""
        while True:
            page = self._bucket.send(arguments["Prefix"], operation, needs=(more,), **arguments)
            yield page
            if not page[more]:
                return
            following = {name: page.get(f"Next{name}") for name in markers}
            if None in following.values() or all(arguments.get(name) == value for name, value in following.items()):
                problem = Problem(
                    "strange-listing",
                    self._bucket.where(arguments["Prefix"]),
                    "a listing that does not go on",
                    "the next page",
                    "run this again later",
                )
                raise Failure(problem, exit=Exit.REMOTE)
            arguments |= following
