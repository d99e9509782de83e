"""Object stores behind one small interface: a folder, Google Cloud Storage, S3 and Cloudflare R2."""

from benchwright.objects.credentials import (
    credentials_help,
    credentials_note,
    missing_credentials,
    settings_from_environment,
)
from benchwright.objects.location import StoreLocation, open_store
from benchwright.objects.patience import Patience
from benchwright.objects.presence import Survey, survey
from benchwright.objects.reader import ObjectReader, open_reader
from benchwright.objects.store import PART_SIZE, Conflict, ObjectInfo, ObjectStore

__all__ = [
    "PART_SIZE",
    "Conflict",
    "ObjectInfo",
    "ObjectReader",
    "ObjectStore",
    "Patience",
    "StoreLocation",
    "Survey",
    "credentials_help",
    "credentials_note",
    "missing_credentials",
    "open_reader",
    "open_store",
    "settings_from_environment",
    "survey",
]
