"""A bucket as someone sees it who only looks: what is in a folder of it, and what an object holds. It cannot write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from benchwright.contract import Exit, Failure, usage_error
from benchwright.objects.credentials import credentials_for, missing_credentials, settings_from_environment
from benchwright.objects.location import StoreLocation
from benchwright.objects.patience import Patience
from benchwright.objects.prefixed import Prefixed


class Names(NamedTuple):
    """What is in a folder itself: the folders and the objects, by the last part of their names."""

    folders: tuple[str, ...]
    objects: tuple[str, ...]


class ObjectReader(Protocol):
    """Objects by key, as in ``ObjectStore``; a folder is what is before a ``/`` in a key. Threads may share it.

    Every call may raise ``Failure``: credentials, permission or bucket missing (exit 3), a store that does not answer
    (exit 4).
    """

    @property
    def url(self) -> str:
        """Where it is, fit to be printed."""

    def names(self, folder: str = "") -> Names:
        """What is in a folder; nothing where there is none, since a store knows no difference."""

    def read(self, key: str, most: int) -> bytes | None:
        """An object's first ``most`` bytes, or all where it has fewer; None where there is no such object."""


class BucketReader(Prefixed, ABC):
    """Objects in a bucket, below a prefix that is no part of their keys here."""

    def names(self, folder: str = "") -> Names:
        """See ``ObjectReader.names``."""
        start = self._prefix + (f"{folder}/" if folder else "")
        whole = self._folder(start)
        folders = (name[len(start) : -1] for name in whole.folders)
        objects = (name[len(start) :] for name in whole.objects)
        return Names(tuple(filter(None, folders)), tuple(filter(None, objects)))  # a folder's marker has no name in it

    @abstractmethod
    def _folder(self, start: str) -> Names:
        """The whole names of what is in a folder, which ``start`` names with the ``/`` at its end."""


def open_reader(
    location: str | StoreLocation, *, settings: Mapping[str, str] | None = None, patience: Patience | None = None
) -> ObjectReader:
    """The bucket at a location, as ``open_store`` opens it.

    Raises:
        Failure: the location is none, or no bucket (code ``bad-store``, exit 2); credentials are missing or malformed,
            or the kind's client is not installed (exit 3).
    """
    if isinstance(location, str):
        location = StoreLocation.parse(location, folders=False)
    if location.kind == "local":
        expected, fix = "gs://BUCKET, s3://BUCKET or r2://BUCKET", "name a bucket, or give the folder by its plain path"
        raise usage_error(str(location), "a folder", expected, fix, code="bad-store")
    settings = settings_from_environment() if settings is None else settings
    url, patience = f"{location.kind}://{location.place}", patience or Patience()
    if location.kind == "gs":
        if problems := missing_credentials(location.kind, settings):
            raise Failure(problems, exit=Exit.ENVIRONMENT)
        from benchwright.objects.gcs_reader import FolderedBucket, GCSReader

        return GCSReader(FolderedBucket(location.place, url, settings, patience), location.prefix)
    from benchwright.objects.bucket import Bucket
    from benchwright.objects.s3_reader import S3Reader

    credentials = credentials_for(location.kind, settings)
    return S3Reader(Bucket(location.place, location.kind, url, credentials, patience), location.prefix)
