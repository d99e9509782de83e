"""Reading a bucket behind the S3 protocol, folder by folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.objects.attempts import Expected, StrangeAnswer
from benchwright.objects.bucket import Bucket
from benchwright.objects.reader import BucketReader, Names
from benchwright.objects.s3_errors import is_absent


class S3Reader(BucketReader):
    """Objects in a bucket behind the S3 protocol."""

    def __init__(self, bucket: Bucket, prefix: str) -> None:
        super().__init__(bucket.url, prefix)
        self._bucket = bucket

    def read(self, key: str, most: int) -> bytes | None:
        """See ``ObjectReader.read``."""
        whole = self._prefix + key

        def once() -> bytes:
            answer = self._bucket.call("get_object", Key=whole)
            with contextlib.closing(answer["Body"]) as body:
                if "ContentLength" not in answer:
                    raise StrangeAnswer("an object without length")
                wanted = min(int(answer["ContentLength"]), most)
                content: bytes = body.read(wanted)
            if len(content) != wanted:
                raise StrangeAnswer(f"{len(content):,} of {wanted:,} bytes")
            return content

        try:
            return self._bucket.repeat(whole, once, expect=is_absent)
        except Expected:
            return None

    def _folder(self, start: str) -> Names:
        folders: list[str] = []
        objects: list[str] = []
        for page in self._pages(start):
            folders += [entry["Prefix"] for entry in page.get("CommonPrefixes", [])]
            objects += [entry["Key"] for entry in page.get("Contents", [])]
        return Names(tuple(folders), tuple(objects))

    def _pages(self, start: str) -> Iterator[Mapping[str, Any]]:
        """The pages of a folder's listing, each asked for alone."""
        arguments: dict[str, Any] = {"Prefix": start, "Delimiter": "/"}
        while True:
            page = self._bucket.send(start, "list_objects_v2", needs=("IsTruncated",), **arguments)
            yield page
            if not page["IsTruncated"]:
                return
            arguments["ContinuationToken"] = page["NextContinuationToken"]
