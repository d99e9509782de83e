"""Where a method's artifact is published: the store that is named, or the one that a declaration names."""

from __future__ import annotations

from collections.abc import Iterable

from benchwright.arena import MethodMetadata
from benchwright.contract import some, usage_error
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


def declared_location(method: str, suite: str, declared: Iterable[MethodMetadata]) -> StoreLocation:
    """The store of the first of ``declared`` that is this run of the method and names one; the others are not read.

    Raises:
        Failure: none of them is, or those that are name no store (code ``no-store``, exit 2).
    """
    suites, known = set(), False
    for metadata in declared:
        if metadata.method == method:
            suites.add(metadata.suite)
        if metadata.key == (method, suite):
            known = True
            if metadata.cache_type != "local":
                return destination_of(metadata, None)
    found = "declared without a store" if known else "not among the declared methods"
    if suites and not known:
        found += f", where {method} has suite {some(sorted(suites), 5)}"
    fix = "name the store with --store LOCATION, or the declaration with --method-metadata MODULE:ATTR [--repo DIR]"
    raise usage_error(f"{method}, suite {suite}", found, "a declaration that names a store", fix, code="no-store")
