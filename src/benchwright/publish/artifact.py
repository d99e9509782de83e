"""A processed artifact in the cache, as it is to be published: what is declared of it beside what it records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure, Problem
from benchwright.processing.layout import METADATA, RAW, SIDECAR
from benchwright.processing.sidecar import Sidecar, read_sidecar
from benchwright.publish.archive import odd_file
from benchwright.publish.artifact_checks import PROCESS, PROCESS_AGAIN
from benchwright.publish.changes import USED_BY_PROCESSING
from benchwright.publish.method_reference import load_declared

_PROTOCOL = "validation_protocol"


@dataclass(frozen=True)
class DeclaredArtifact:
    """The folder of a processed method.

    ``declared`` is what the source says of the method now, ``recorded`` what its ``metadata.yaml`` says, ``sidecar``
    what processing noted; None for artifacts that ``tabarena`` wrote, which has none.
    """

    folder: Path
    declared: MethodMetadata
    recorded: MethodMetadata
    sidecar: Sidecar | None

    @property
    def metadata(self) -> MethodMetadata:
        """What is published: the declaration, with what processing found out.

        That is the default config, where none is declared, and that raw results were not kept.
        """
        default = self.declared.config_default or self.recorded.config_default
        raw = self.declared.has_raw and self.recorded.has_raw
        return replace(self.declared, config_default=default, has_raw=raw, artifact_dir=None, cache_root=None)

    @property
    def kept_raw(self) -> bool:
        """Whether processing kept raw results, or some are there nevertheless."""
        return self.recorded.has_raw or os.path.lexists(self.folder / RAW)

    @property
    def changed_fields(self) -> dict[str, tuple[Any, Any]]:
        """The descriptive fields that were declared anew after processing, each with its old and new value."""
        return {name: change for name, change in self._changes() if name not in USED_BY_PROCESSING}

    def with_recorded_protocol(self) -> DeclaredArtifact:
        """The artifact as if its declaration named the validation protocol that processing recorded."""
        protocol = None if self.sidecar is None else self.sidecar.validation_protocol
        return replace(self, declared=replace(self.declared, validation_protocol=protocol))

    def contradictions(self) -> Iterator[Problem]:
        """Where the declaration and what was processed cannot both be right."""
        for name, (recorded, declared) in self._changes():
            if name in USED_BY_PROCESSING:
                expected = f"{recorded!r}, as it was processed"
                fix = "process again, or correct the declaration"
                yield Problem("metadata-changed", f"{self.declared.method}: {name}", repr(declared), expected, fix)
        if self.sidecar is not None:
            yield from self._protocol(self.sidecar.validation_protocol)
            if (of := (self.sidecar.method, self.sidecar.suite)) != self.recorded.key:
                found, expected = f"that of {of[0]}, suite {of[1]}", f"the one of the {METADATA} beside it"
                yield Problem("sidecar-differs", str(self.folder / SIDECAR), found, expected, PROCESS_AGAIN)

    def _changes(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        old, new = (metadata.to_dict(with_protocol=False) for metadata in (self.recorded, self.metadata))
        return ((name, (old[name], new[name])) for name in new if old[name] != new[name])

    def _protocol(self, recorded: str | None) -> Iterator[Problem]:
        declared, where = self.declared.validation_protocol, f"{self.declared.method}: {_PROTOCOL}"
        if declared == recorded:
            return
        if recorded is None:
            found, expected = f"declared as {declared!r} since processing", "one that was compared with the results"
            yield Problem("protocol-not-compared", where, found, expected, PROCESS_AGAIN)
            return
        code, found = "protocol-differs", f"declared as {declared!r}"
        if declared is None:
            code, found = "protocol-not-declared", "not declared"
        fix = f"process again if the run used another protocol, else declare this one: --set {_PROTOCOL}={recorded}"
        yield Problem(code, where, found, f"{recorded!r}, as the results show", fix)


def open_for_upload(
    named: str | tuple[str, str], *, repository: Path | None = None, cache_root: Path | None = None
) -> tuple[MethodMetadata, DeclaredArtifact | None]:
    """A method's metadata and its artifact in the cache; None, and where that would be, where there is none.

    ``named`` is the ``MODULE:ATTR`` of a declaration in ``repository``, or the name and suite of a method as the cache
    has it. A declaration that cannot name the validation protocol is taken to name the recorded one.

    Raises:
        Failure: as ``load_declared`` does, or the artifact's metadata or sidecar cannot be read.
    """
    if isinstance(named, str):
        declared, knows_protocol, _ = load_declared(named, repository)
    else:
        declared, knows_protocol = MethodMetadata(method=named[0], suite=named[1]), True
    place = replace(declared, artifact_dir=None, cache_root=cache_root)
    if not (place.path / METADATA).is_file():
        return place, None
    artifact = open_artifact(declared, cache_root) if isinstance(named, str) else open_recorded(*named, cache_root)
    if not knows_protocol:
        artifact = artifact.with_recorded_protocol()
    return artifact.metadata, artifact


def open_artifact(declared: MethodMetadata, cache_root: Path | None = None) -> DeclaredArtifact:
    """The artifact of a declared method in a cache, ``default_cache_root()`` where none is named.

    Raises:
        Failure: there is none (code ``no-artifact``, exit 1), or its metadata or sidecar cannot be read, or is a link
            or no regular file (code ``odd-file``, exit 1).
    """
    folder = replace(declared, artifact_dir=None, cache_root=cache_root).path
    if not (folder / METADATA).is_file():
        raise no_artifact(folder)
    if problems := [odd for name in (METADATA, SIDECAR) if (odd := odd_file(folder / name)) is not None]:
        raise Failure(problems)
    sidecar = read_sidecar(folder) if (folder / SIDECAR).exists() else None
    return DeclaredArtifact(folder, declared, MethodMetadata.from_yaml(folder), sidecar)


def open_recorded(method: str, suite: str, cache_root: Path | None = None) -> DeclaredArtifact:
    """The artifact of a cache by its own metadata; the protocol declared is the one it records.

    Raises:
        Failure: as ``open_artifact`` does.
    """
    artifact = open_artifact(MethodMetadata(method=method, suite=suite), cache_root)
    return replace(artifact, declared=artifact.recorded).with_recorded_protocol()


def no_artifact(folder: Path) -> Failure:
    """There is no artifact where one should be."""
    found = "no such artifact in the cache" if not folder.exists() else f"an artifact without {METADATA}"
    fix = f"process the results: {PROCESS}"
    return Failure(Problem("no-artifact", str(folder), found, "a processed method", fix))
