"""Whether a declaration is that of a run in an arena's collection, which is loadable by it."""

from __future__ import annotations

import contextlib

from benchwright.contract import Failure
from benchwright.publish.registration.arenas import ARENAS, Arena
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.entries import entries_of
from benchwright.publish.registration.places import index_at
from benchwright.publish.scope import Scope
from benchwright.publish.targets import Target, find_target


def registered_in(target: Target) -> Arena | None:
    """The arena that has the declaration at ``target`` in its collection, in the same checkout.

    That is among its live or superseded methods, or in a list of an earlier suite. None where none has it, and where
    the collection is not there or cannot be read.
    """
    for arena in ARENAS.values():
        with contextlib.suppress(Failure):
            place = find_target(arena.collection, target.repository, to_write=False)
            file = CollectionFile.read(place, place.read())
            if index_at((*entries_of(file, file.live), *entries_of(file, file.superseded)), target) is not None:
                return arena
            if (target.module, target.attribute) in _imported_around(file.scope):
                return arena
    return None


def _imported_around(collection: Scope) -> set[tuple[str, str]]:
    """What the collection's module imports, and each module beside it that it imports from.

    Some lists of earlier suites are there, and only running them would tell what is in them.
    """
    own = _imports(collection)
    package = collection.target.module.rpartition(".")[0]
    beside = {module for module, _ in own if module.rpartition(".")[0] == package}
    return own.union(*(_imports(scope) for scope in map(collection.module, sorted(beside)) if scope is not None))


def _imports(scope: Scope) -> set[tuple[str, str]]:
    """The names that a module imports, and those that hand them on, each as module and name."""
    found: set[tuple[str, str]] = set()
    waiting = [binding.imported for bindings in scope.bindings.values() for binding in bindings]
    while waiting:
        place = waiting.pop()
        if place is None or place in found:
            continue
        found.add(place)
        module = scope.module(place[0])
        binding = module.only_binding(place[1]) if module else None
        waiting.append(binding.imported if binding else None)
    return found
