"""Reading a bucket of Google Cloud Storage, folder by folder."""

from __future__ import annotations

import functools
from typing import Any

from benchwright.objects.attempts import Expected
from benchwright.objects.gcs_bucket import GCSBucket
from benchwright.objects.gcs_errors import is_absent, status_of
from benchwright.objects.reader import BucketReader, Names

_LISTED = "items(name),prefixes,nextPageToken"
_NO_SUCH_RANGE = 416


class FolderedBucket(GCSBucket):
    """A bucket that is listed folder by folder."""

    def folder(self, start: str) -> Names:
        """The whole names of what is in a folder, which ``start`` names with the ``/`` at its end."""
        folders: list[str] = []
        objects: list[str] = []
        token = None
        while True:
            page, prefixes, token = self.repeat(start, functools.partial(self._folder_page, start, token))
            folders += prefixes
            objects += page
            if token is None:
                return Names(tuple(folders), tuple(objects))

    def _folder_page(self, start: str, token: str | None) -> tuple[list[str], list[str], str | None]:
        listed: Any = self._client.list_blobs(
            self._bucket, prefix=start, delimiter="/", page_token=token, fields=_LISTED, **self.once
        )
        names = [str(blob.name) for blob in next(listed.pages, ())]
        return names, sorted(listed.prefixes), listed.next_page_token


class GCSReader(BucketReader):
    """Objects in a bucket of Google Cloud Storage."""

    def __init__(self, bucket: FolderedBucket, prefix: str) -> None:
        super().__init__(bucket.url, prefix)
        self._bucket = bucket

    def read(self, key: str, most: int) -> bytes | None:
        """See ``ObjectReader.read``."""
        whole = self._prefix + key

        def once() -> bytes:
            content: bytes = self._bucket.blob(whole).download_as_bytes(
                start=0, end=most - 1, raw_download=True, checksum=None, **self._bucket.once
            )
            return content

        try:
            return self._bucket.repeat(
                whole, once, expect=lambda error: is_absent(error) or status_of(error) == _NO_SUCH_RANGE
            )
        except Expected as expected:
            return None if is_absent(expected.error) else b""  # of an empty object there is no first byte

    def _folder(self, start: str) -> Names:
        return self._bucket.folder(start)
