"""What a registration's command names: the collection, the method, the one it replaces; found and read, all at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.declarations import Declaration, read_declaration
from benchwright.publish.registration.arenas import Arena
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.entries import Entry, entries_of
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
    failures: list[Failure] = []
    replaced: Target | None = None
    with _gathered(failures):
        collection = find_target(arena.collection, repository)
        repository = collection.repository
        file = CollectionFile.read(collection, collection.read())
        live, superseded = entries_of(file, file.live), entries_of(file, file.superseded)
    with _gathered(failures):
        declaration, metadata = _declared(find_target(method, repository, to_write=False))
    with _gathered(failures):
        replaced = None if replaces is None else find_target(replaces, repository, to_write=False)
    if failures:
        problems = [problem for failure in failures for problem in failure.problems]
        raise Failure(problems, exit=max(failure.exit for failure in failures))
    return Places(file, live, superseded, declaration, metadata, replaced)


def index_at(entries: Sequence[Entry], target: Target | None) -> int | None:
    """The number of the entry that is declared, or handed on, at ``target``; None when there is none."""
    if target is None:
        return None
    found = (index for index, entry in enumerate(entries) if (target.module, target.attribute) in entry.places)
    return next(found, None)


@contextlib.contextmanager
def _gathered(failures: list[Failure]) -> Iterator[None]:
    try:
        yield
    except Failure as failure:
        failures.append(failure)


def _declared(target: Target) -> tuple[Declaration, MethodMetadata]:
    declaration = read_declaration(target)
    metadata = declaration.metadata()
    if metadata.suite == metadata.method:
        found = repr(metadata.suite) if declaration.declares("suite") else "not set"
        expected = "another name than the method's, for (method, suite) to tell runs apart"
        fix = f"scripts/set_method_info.py {target} --set suite=NAME-OF-THE-RUN --apply"
        raise Failure(Problem("suite-equals-method", f"{target}: suite", found, expected, fix), exit=Exit.USAGE)
    return declaration, metadata
