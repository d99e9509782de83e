"""Whether a declaration is that of a run in an arena's collection, which is loadable by it."""

from __future__ import annotations

import contextlib

from benchwright.contract import Failure
from benchwright.publish.registration.arenas import ARENAS, Arena
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.entries import entries_of
from benchwright.publish.registration.places import index_at
from benchwright.publish.targets import Target, find_target


def registered_in(target: Target) -> Arena | None:
    """The arena that has the declaration at ``target`` among its live or superseded methods, in the same checkout.

    None where none has it, and where the collection is not there or cannot be read.
    """
    for arena in ARENAS.values():
        with contextlib.suppress(Failure):
            place = find_target(arena.collection, target.repository, to_write=False)
            file = CollectionFile.read(place, place.read())
            if index_at((*entries_of(file, file.live), *entries_of(file, file.superseded)), target) is not None:
                return arena
    return None
