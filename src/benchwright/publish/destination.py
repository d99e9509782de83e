"""Where a method's artifact is published: the store that is named, or the one that a declaration names; no cache."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchwright.arena import MethodMetadata, default_cache_root
from benchwright.contract import some, usage_error
from benchwright.objects import StoreLocation
from benchwright.processing import layout
from benchwright.processing.staging import HIDDEN

_CACHE_FOLDERS = tuple(f"{HIDDEN}/{name}" for name in ("locks", "staging", "fetch"))
"""What building and fetching leave in a cache, and no store has."""


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


def check_apart(location: StoreLocation, prefix: str, folder: Path) -> None:
    """Refuse a cache as a store: its objects would be files of local artifacts, those of ``folder`` or others.

    Raises:
        Failure: it is one (code ``store-is-cache``, exit 2).
    """
    if location.kind != "local":
        return
    place = Path(location.place).expanduser().resolve()
    hosted, own = place / prefix, folder.resolve()
    found = None
    if hosted.is_relative_to(own) or own.is_relative_to(hosted):
        found = "the folder of the local artifact itself"
    elif _is_cache(place):
        found = "a cache, where artifacts lie unpacked"
    if found is not None:
        expected, fix = "a folder of its own for the store", "name another with --store local:FOLDER"
        raise usage_error(str(location), found, expected, fix, code="store-is-cache")


def _is_cache(place: Path) -> bool:
    """Whether programs look for artifacts here, have built some here, or have put some here unpacked."""
    if place == default_cache_root().resolve() or any((place / name).exists() for name in _CACHE_FOLDERS):
        return True
    artifacts = place.glob("artifacts/*/methods/*")
    return any((artifact / name).exists() for artifact in artifacts for name in (layout.CONTEXT, layout.RAW))
