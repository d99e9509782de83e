"""Who stands behind an entry of a collection: where it is declared, and what is declared there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure
from benchwright.publish.declarations import declaration_in
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.items import Items

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry by its name in the collection's module.

    ``places`` are the modules and names that lead from there to its declaration. ``metadata`` is None where only
    running the module would tell; ``unread`` then says why.
    """

    name: str
    places: tuple[tuple[str, str], ...]
    metadata: MethodMetadata | None
    unread: str = ""

    @property
    def reference(self) -> str:
        """Where it is declared, as ``MODULE:ATTR``."""
        return ":".join(self.places[-1])


def entries_of(file: CollectionFile, items: Items | None) -> tuple[Entry, ...]:
    """The entries of one of the collection's lists; none where there is no list."""
    return tuple(_entry(file, name) for name in items.names) if items else ()


def _entry(file: CollectionFile, name: str) -> Entry:
    scope, at = file.scope, name
    places = [(scope.target.module, name)]
    while len(places) < _DEEPEST:
        binding = scope.only_binding(at)
        if binding is None or binding.imported is None:
            break
        places.append(binding.imported)
        module = scope.module(binding.imported[0])
        if module is None:
            return Entry(name, tuple(places), None, f"no module {binding.imported[0]} in the checkout")
        scope, at = module, binding.imported[1]
    try:
        metadata = declaration_in(replace(scope, target=replace(scope.target, attribute=at))).metadata()
    except Failure as failure:
        return Entry(name, tuple(places), None, failure.problems[0].found)
    return Entry(name, tuple(places), metadata)
