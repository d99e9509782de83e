"""A large upload: parts sent side by side, each sent again alone, the object made of them at the end or not at all."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from benchwright.contract import Failure
from benchwright.objects.attempts import Expected
from benchwright.objects.bucket import Bucket
from benchwright.objects.content import content_changed
from benchwright.objects.s3_errors import is_absent, is_lost_race, is_unknown_upload

_AT_ONCE = 3
"""Parts under way together; with the one being read, memory holds four."""


def upload_parts(bucket: Bucket, key: str, parts: Iterator[bytes], sha256: str, condition: Mapping[str, Any]) -> str:
    """Upload an object in parts and return its ETag. ``key`` is the whole key in the bucket.

    The digest goes into the object's metadata before the first part, and is checked before the last request: content
    that turns out to be another never becomes an object. Whatever goes wrong, the unfinished upload is removed.

    Raises:
        Expected: ``condition`` does not hold, or the store no longer knows the upload.
        Failure: the content has another digest (exit 1), or a request fails (exit 3 or 4).
    """
    answer = bucket.send(key, "create_multipart_upload", Key=key, Metadata={"sha256": sha256}, needs=("UploadId",))
    upload: dict[str, Any] = {"Key": key, "UploadId": answer["UploadId"]}
    try:
        tags, found = _send_all(bucket, key, upload, parts)
        if found != sha256:
            raise content_changed(bucket.where(key), found, sha256)
        listed = [{"PartNumber": number, "ETag": tags[number]} for number in sorted(tags)]
        done = bucket.send(
            key,
            "complete_multipart_upload",
            expect=lambda error: is_lost_race(error) or is_absent(error) or is_unknown_upload(error),
            needs=("ETag",),
            MultipartUpload={"Parts": listed},
            **upload,
            **condition,
        )
    except BaseException as error:
        _abort(bucket, key, upload, error)
        raise
    return str(done["ETag"])


def md5(block: bytes) -> str:
    """The ``Content-MD5`` header's value, which every S3 server knows (RFC 1864)."""
    return base64.b64encode(hashlib.md5(block, usedforsecurity=False).digest()).decode()


def _send_all(
    bucket: Bucket, key: str, upload: Mapping[str, Any], parts: Iterator[bytes]
) -> tuple[dict[int, str], str]:
    """The ETag of every part by number, and the digest of all that was sent."""
    digest, tags = hashlib.sha256(), {}
    under_way: dict[Future[Mapping[str, Any]], int] = {}

    def collect(finished: set[Future[Mapping[str, Any]]]) -> None:
        for future in finished:
            tags[under_way.pop(future)] = str(future.result()["ETag"])

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="part") as pool:
        for number, block in enumerate(parts, start=1):
            digest.update(block)
            if len(under_way) == _AT_ONCE:
                collect(wait(under_way, return_when=FIRST_COMPLETED).done)
            under_way[pool.submit(_send_part, bucket, key, upload, number, block)] = number
            del block  # else it stays in memory while the next one is read
        collect(wait(under_way).done)
    return tags, digest.hexdigest()


def _send_part(bucket: Bucket, key: str, upload: Mapping[str, Any], number: int, block: bytes) -> Mapping[str, Any]:
    return bucket.send(
        key, "upload_part", PartNumber=number, Body=block, ContentMD5=md5(block), needs=("ETag",), **upload
    )


def _abort(bucket: Bucket, key: str, upload: Mapping[str, Any], error: BaseException) -> None:
    try:
        bucket.send(key, "abort_multipart_upload", expect=is_unknown_upload, **upload)
    except Expected:
        return
    except Failure as failure:  # the first error matters more; what is left over is found by discard_unfinished
        error.add_note(f"the unfinished upload could not be removed: {failure}")
