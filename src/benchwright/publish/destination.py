"""Where a method's artifact is published: the store that is named, or the one that its metadata declares."""

from __future__ import annotations

from benchwright.arena import MethodMetadata
from benchwright.contract import usage_error
from benchwright.objects import StoreLocation


def destination_of(metadata: MethodMetadata, store: str | None) -> StoreLocation:
    """The store that is named, else the one that the method's metadata declares.

    Raises:
        Failure: there is none, or it is no store (exit 2).
    """
    if store is not None:
        return StoreLocation.parse(store)
    if metadata.cache_type == "local":
        fix = (
            "declare one: scripts/set_method_info.py MODULE:ATTR --set cache_type=r2 "
            """--set 'cache_kwargs={"bucket": "BUCKET", "prefix": "PREFIX"}', or name one with --store LOCATION"""
        )
        where = f"{metadata.method}: cache_type"
        raise usage_error(where, "'local', which names no store", "r2 or s3", fix, code="no-store")
    location = metadata.cache_kwargs
    return StoreLocation(metadata.cache_type, location["bucket"], location["prefix"].strip("/"))
