"""What a registration's command names: the collection, the method, the one it replaces; found and read, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Failures
from benchwright.publish.declarations import Declaration, read_declaration
from benchwright.publish.registration.arenas import Arena
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.entries import Entry, entries_of
from benchwright.publish.suite import suite_is_method
from benchwright.publish.targets import Target, find_target


@dataclass(frozen=True)
class Places:
    """The collection's module with the entries of its two lists, and the method with the place of what it replaces."""

    file: CollectionFile
    live: tuple[Entry, ...]
    superseded: tuple[Entry, ...]
    declaration: Declaration
    metadata: MethodMetadata
    replaced: Target | None

    @property
    def method(self) -> Target:
        """Where the method is declared."""
        return self.declaration.target

    @property
    def unread(self) -> tuple[str, ...]:
        """The entries that only running the module would tell of, each with the reason."""
        entries = (*self.live, *self.superseded)
        return tuple(f"{entry.name}: {entry.unread}" for entry in entries if entry.metadata is None)


def find_places(arena: Arena, method: str, replaces: str | None, repository: Path | None) -> Places:
    """Everything that the command names.

    Raises:
        Failure: one of it is not there or cannot be read, or the method is not ready to be registered; each said, with
            the gravest exit code.
    """
    failures = Failures()
    replaced: Target | None = None
    with failures.collected():
        collection = find_target(arena.collection, repository)
        repository = collection.repository
        file = CollectionFile.read(collection, collection.read())
        live, superseded = entries_of(file, file.live), entries_of(file, file.superseded)
    with failures.collected():
        declaration, metadata = _declared(find_target(method, repository, to_write=False))
    with failures.collected():
        replaced = None if replaces is None else find_target(replaces, repository, to_write=False)
    failures.settle()
    return Places(file, live, superseded, declaration, metadata, replaced)


def index_at(entries: Sequence[Entry], target: Target | None) -> int | None:
    """The number of the entry that is declared, or handed on, at ``target``; None when there is none."""
    if target is None:
        return None
    found = (index for index, entry in enumerate(entries) if (target.module, target.attribute) in entry.places)
    return next(found, None)


def _declared(target: Target) -> tuple[Declaration, MethodMetadata]:
    declaration = read_declaration(target)
    metadata = declaration.metadata()
    if metadata.suite == metadata.method:
        found = repr(metadata.suite) if declaration.declares("suite") else "not set"
        fix = f"scripts/set_method_info.py {target} --set suite=NAME-OF-THE-RUN --apply"
        raise Failure(suite_is_method(f"{target}: suite", found, fix), exit=Exit.USAGE)
    return declaration, metadata
