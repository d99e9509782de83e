"""Where a store is: ``local:FOLDER``, ``gs://BUCKET/PREFIX``, ``s3://BUCKET/PREFIX`` or ``r2://BUCKET/PREFIX``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchwright.contract import HIDDEN, Exit, Failure, usage_error
from benchwright.objects.credentials import credentials_for, missing_credentials, settings_from_environment
from benchwright.objects.folder import FolderStore
from benchwright.objects.keys import check_key
from benchwright.objects.patience import Patience
from benchwright.objects.store import ObjectStore

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""
_KINDS = ("local", "gs", "s3", "r2")
_BUCKETS = "gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX"
_FORMS = f"local:FOLDER, {_BUCKETS}"


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """A store's address. ``kind`` is ``local``, ``gs``, ``s3`` or ``r2``; ``place`` the folder or the bucket.

    ``prefix`` goes before every key, with a ``/`` between, and is empty for a folder. There is no default for any.

    Raises:
        Failure: the kind is unknown, the place or the prefix is no such name (code ``bad-store``, exit 2).
    """

    kind: str
    place: str
    prefix: str = ""

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise _bad_store(self.kind, "an unknown kind of store", _FORMS)
        if self.kind == "local":
            if not self.place or "\0" in self.place or self.prefix:
                raise _bad_store(str(self), "no folder", "local:FOLDER")
            return
        if not _BUCKET.fullmatch(self.place):
            shown = "with a user or a password" if "@" in str(self) else ascii(self.place)
            raise _bad_store(str(self), f"no bucket: {shown}", f"{self.kind}://BUCKET/PREFIX")
        if self.prefix:
            check_key(self.prefix)

    @classmethod
    def parse(cls, text: str, *, folders: bool = True) -> StoreLocation:
        """The location that a text names. Without ``folders`` a message of what is expected speaks of buckets alone.

        Raises:
            Failure: it names none (code ``bad-store`` or ``bad-key``, exit 2).
        """
        kind, colon, rest = text.partition(":")
        if not colon or kind not in _KINDS or (kind != "local" and not rest.startswith("//")):
            raise _bad_store(text, "no store", _FORMS if folders else _BUCKETS)
        if kind == "local":
            return cls(kind, rest)
        bucket, _, prefix = rest.removeprefix("//").partition("/")
        return cls(kind, bucket, prefix.removesuffix("/"))

    def below(self, folder: Path) -> StoreLocation:
        """The same store for whoever is in another folder than ``folder``, which a local one may be relative to."""
        if self.kind != "local":
            return self
        return replace(self, place=str(folder / Path(self.place).expanduser()))

    def __str__(self) -> str:
        if self.kind == "local":
            return f"local:{self.place}"
        return f"{self.kind}://{self.place}" + (f"/{self.prefix}" if self.prefix else "")


def open_store(
    location: str | StoreLocation, *, settings: Mapping[str, str] | None = None, patience: Patience | None = None
) -> ObjectStore:
    """The store at a location; nothing is contacted or made until it is used.

    ``settings`` are what ``settings_from_environment`` gives, and by default just that.

    Raises:
        Failure: the location is none (exit 2); credentials are missing or malformed, or the kind's
            client is not installed (exit 3).
    """
    if isinstance(location, str):
        location = StoreLocation.parse(location)
    if location.kind == "local":
        return FolderStore(Path(location.place))
    settings = settings_from_environment() if settings is None else settings
    url = f"{location.kind}://{location.place}"
    if location.kind == "gs":
        return _at_google(location, url, settings, patience or Patience())
    from benchwright.objects.bucket import Bucket
    from benchwright.objects.s3 import S3Store

    credentials = credentials_for(location.kind, settings)
    bucket = Bucket(location.place, location.kind, url, credentials, patience or Patience())
    return S3Store(bucket, location.prefix)


def _at_google(location: StoreLocation, url: str, settings: Mapping[str, str], patience: Patience) -> ObjectStore:
    if problems := missing_credentials(location.kind, settings):
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    from benchwright.objects.gcs import GCSStore
    from benchwright.objects.gcs_bucket import GCSBucket

    return GCSStore(GCSBucket(location.place, url, settings, patience), location.prefix)


def _bad_store(where: str, found: str, expected: str) -> Failure:
    fix = "correct it where the store is named, an option, the environment or the metadata"
    return usage_error(_without_user(where), found, expected, fix, code="bad-store")


def _without_user(text: str) -> str:
    """The text of an address without the user and the password that some give in it."""
    return re.sub(r"(?<=:)(/*).*@", rf"\1{HIDDEN}@", text)
