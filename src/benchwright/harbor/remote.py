"""A job's folder in a bucket."""

from __future__ import annotations

from benchwright.harbor.tree import ABSENT, MOST_BYTES, Content, Listing, Odd
from benchwright.objects.reader import ObjectReader


class RemoteFolder:
    """A job's folder below a bucket, at ``path``. Nothing of it is remembered between looks: it has no stamps.

    A folder that is not there is an empty one: object stores know no difference.
    """

    def __init__(self, reader: ObjectReader, path: str) -> None:
        self._reader = reader
        self._path = path

    @property
    def where(self) -> str:
        """See ``Tree.where``."""
        return f"{self._reader.url}/{self._path}"

    def listing(self) -> Listing:
        """See ``Tree.listing``."""
        found = self._reader.names(self._path)
        folders = sorted(name for name in found.folders if not name.startswith("."))
        return Listing(tuple(folders), frozenset(name for name in found.objects if not name.startswith(".")))

    def read(self, path: str, most: int = MOST_BYTES) -> Content | None:
        """See ``Tree.read``."""
        data = self._reader.read(f"{self._path}/{path}", most + 1)
        if data is None:
            return None
        if len(data) > MOST_BYTES:
            raise Odd("more than 1 GiB")
        return Content(data if len(data) <= most else None, ABSENT)

    def exists(self, path: str) -> bool:
        """See ``Tree.exists``."""
        key = f"{self._path}/{path}"
        return any(self._reader.names(key)) or self._reader.read(key, 1) is not None
