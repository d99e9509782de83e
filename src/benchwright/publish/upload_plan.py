"""The plan of an upload: every object with its content's size and digest, proved to be complete before any is sent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import DRY_RUN, Exit, Failure, Outcome, Problem, Progress, counted
from benchwright.objects import StoreLocation, credentials_note
from benchwright.processing import layout
from benchwright.processing.sidecar import FileFacts, Sidecar
from benchwright.publish import artifact_checks as checks
from benchwright.publish import upload_remarks
from benchwright.publish.archive import Archive, measure, odd_file, survey_folder, zip_chunks
from benchwright.publish.artifact import DeclaredArtifact, no_artifact
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.destination import check_apart, destination_of
from benchwright.publish.hosted import (
    PROCESSED_ZIP,
    RAW_ZIP,
    ZIPS,
    HostedObject,
    Manifest,
    key_prefix,
    part_of,
)
from benchwright.publish.suite import suite_is_method

_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object to be: its key below the artifact's prefix, where its content comes from, and what that must be.

    ``size`` is in bytes, ``sha256`` in hex.
    """

    name: str
    source: Path | Archive | bytes
    size: int
    sha256: str

    @property
    def part(self) -> str:
        """The part of the artifact that it belongs to."""
        return part_of(self.name) or self.name

    @property
    def facts(self) -> HostedObject:
        """What a store will say of it."""
        return HostedObject(self.size, self.sha256)

    def chunks(self) -> Iterator[bytes]:
        """The content, in pieces of about a mebibyte.

        Raises:
            Failure: files of an archive changed (code ``content-changed``).
            OSError: the source cannot be read.
        """
        if isinstance(self.source, bytes):
            yield self.source
        elif isinstance(self.source, Archive):
            yield from zip_chunks(self.source)
        else:
            with open(self.source, "rb") as file:
                yield from iter(lambda: file.read(_PIECE), b"")


@dataclass(frozen=True)
class UploadPlan:
    """What an upload puts below ``prefix`` in the store at ``destination``; the marker, ``metadata.yaml``, is last.

    ``remarks`` are worth knowing and stop nothing.
    """

    method: str
    suite: str
    destination: StoreLocation
    prefix: str
    objects: tuple[PlannedObject, ...]
    remarks: tuple[Problem, ...]

    @property
    def url(self) -> str:
        """Where the artifact will be."""
        return f"{self.destination}/{self.prefix}"

    @property
    def label(self) -> str:
        """The method as people name it."""
        return f"{self.method}, suite {self.suite}"

    @property
    def lines(self) -> list[str]:
        """The objects for people."""
        return [f"  {one.name}: {one.size:,} bytes, SHA-256 {one.sha256[:12]}..." for one in self.objects]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the artifact, in the order they are sent."""
        return tuple(dict.fromkeys(planned.part for planned in self.objects))

    @property
    def size(self) -> int:
        """The bytes of all objects."""
        return sum(planned.size for planned in self.objects)

    @property
    def manifest(self) -> Manifest:
        """The manifest of an upload that replaces nothing."""
        return Manifest(self.method, self.suite, {planned.name: planned.facts for planned in self.objects})

    def outcome(self, command: str) -> Outcome:
        """The dry run in a script's form; ``command`` is the one that uploads."""
        missing = credentials_note(self.destination.kind)
        size = f"{counted(len(self.objects), 'object')}, {self.size:,} bytes, complete"
        return Outcome(
            f"{DRY_RUN}; {self.label}: {size}, for {self.url}",
            self.to_dict() | {"applied": False, "credentials": missing},
            [f"parts: {', '.join(self.parts)}", *self.lines, *missing],
            self.remarks,
            next=(command,),
            closing=(DRY_RUN,),
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan in the JSON envelope's form."""
        return {
            "method": self.method,
            "suite": self.suite,
            "destination": self.url,
            "parts": list(self.parts),
            "size": self.size,
            "objects": [
                {"key": f"{self.prefix}/{one.name}", "part": one.part, "size": one.size, "sha256": one.sha256}
                for one in self.objects
            ],
        }


def plan_upload(
    artifact: DeclaredArtifact, destination: StoreLocation, *, upload_raw: bool = True, progress: Progress | None = None
) -> UploadPlan:
    """Check an artifact and measure every object of it; nothing is sent and no store is asked.

    Raises:
        Failure: the artifact is incomplete, was changed since it was processed, or contradicts its declaration; every
            problem at once (exit 1, or 2 where the declaration itself cannot be).
    """
    prefix = key_prefix(*artifact.declared.key)
    check_apart(destination, prefix, artifact.folder)
    planning = _Planning(artifact, upload_raw, progress)
    objects = planning.objects()
    declared = artifact.declared
    if planning.problems:
        raise Failure(planning.problems, exit=planning.exit)
    remarks = upload_remarks.remarks(artifact, destination, [planned.name for planned in objects], upload_raw)
    return UploadPlan(declared.method, declared.suite, destination, prefix, tuple(objects), tuple(remarks))


def destination_for(
    metadata: MethodMetadata,
    artifact: DeclaredArtifact | None,
    store: str | None,
    *,
    upload_raw: bool = True,
    progress: Progress | None = None,
) -> StoreLocation:
    """Where an upload goes: to the store that is named, else to the one that the metadata declares.

    Raises:
        Failure: it is no store (exit 2); or there is none, and then all else that ``plan_upload`` would refuse the
            artifact for is told with it.
    """
    try:
        return destination_of(metadata, store)
    except Failure as failure:
        if store is not None:
            raise
        problems: Iterable[Problem]
        if artifact is None:
            problems = no_artifact(metadata.path).problems
        else:
            planning = _Planning(artifact, upload_raw, progress)
            planning.objects()
            problems = planning.problems
        raise Failure([*failure.problems, *problems], exit=failure.exit) from None


class _Planning:
    """The artifact under examination, the problems so far, and every file of it by its path and digest."""

    def __init__(self, artifact: DeclaredArtifact, upload_raw: bool, progress: Progress | None) -> None:
        self.problems: list[Problem] = []
        self.exit = Exit.NO
        self._artifact = artifact
        self._upload_raw = upload_raw
        self._progress = progress
        self._files: dict[str, FileFacts] = {}

    def objects(self) -> list[PlannedObject]:
        """The objects in the order they are sent; fewer where there are problems."""
        artifact, folder = self._artifact, self._artifact.folder
        self._check_names()
        self.problems += artifact.contradictions()
        single = [name for name in (*self._tables(), layout.HYPERPARAMETERS) if (folder / name).is_file()]
        archives = self._archives()
        sizes = [(folder / name).stat().st_size for name in single]
        count = ByteCount(self._progress, sum(sizes) + sum(archive.size for archive in archives.values()))
        hosted = replace(artifact.metadata, has_raw=RAW_ZIP in archives)
        metadata = _planned(layout.METADATA, hosted.to_yaml().encode())
        objects = []
        if artifact.sidecar is not None:
            objects.append(_planned(layout.SIDECAR, self._published(artifact.sidecar, metadata)))
        objects += [self._file(name, count) for name in single]
        objects += [self._zip(name, archive, count) for name, archive in archives.items()]
        self._check_digests()
        return [*objects, metadata]

    @property
    def _wants_raw(self) -> bool:
        """Whether the raw results are published: declared, and not left out by whoever uploads."""
        return self._upload_raw and self._artifact.declared.has_raw

    def _check_names(self) -> None:
        declared = self._artifact.declared
        if declared.method == declared.suite:
            fix = "declare the dated run: scripts/set_method_info.py MODULE:ATTR --set suite=SUITE, then process again"
            self.problems.append(suite_is_method(f"{declared.method}: suite", repr(declared.suite), fix))
            self.exit = Exit.USAGE

    def _tables(self) -> list[str]:
        """The result tables, those that must be there first; each is read to its end."""
        declared, folder = self._artifact.metadata, self._artifact.folder
        names = list(layout.required_results(declared)) if declared.has_results else []
        if layout.expects_trajectories(declared) or os.path.lexists(folder / layout.TRAJECTORIES):
            names.append(layout.TRAJECTORIES)
        if (odd := odd_file(folder / layout.RESULTS)) is not None:
            self.problems.append(odd)
            return []
        for name in names:
            odd = odd_file(folder / name)
            self.problems += checks.check_table(folder, name) if odd is None else [odd]
        return names

    def _archives(self) -> dict[str, Archive]:
        """The folders that become zips, by the zip's name."""
        declared, folder = self._artifact.metadata, self._artifact.folder
        wanted = {
            PROCESSED_ZIP: declared.has_processed or os.path.lexists(folder / layout.PROCESSED),
            RAW_ZIP: self._wants_raw,
        }
        archives = {}
        for name, below in ZIPS.items():
            if not wanted[name]:
                continue
            try:
                archives[name] = survey_folder(folder / below)
            except Failure as failure:
                self.problems += failure.problems
            except (FileNotFoundError, NotADirectoryError):
                self.problems.append(self._no_folder(below))
        if PROCESSED_ZIP in archives:
            is_config = declared.method_type == "config"
            self.problems += checks.check_processed(archives[PROCESSED_ZIP], has_configs=is_config)
        if RAW_ZIP in archives:
            self.problems += checks.check_raw(archives[RAW_ZIP], folder)
        return archives

    def _no_folder(self, name: str) -> Problem:
        fix = checks.PROCESS_AGAIN
        if name == layout.RAW:
            fix += "; or leave the raw results out: --no-upload-raw"
        where = str(self._artifact.folder / name)
        return Problem("artifact-incomplete", where, "not there", f"the {name} results", fix)

    def _published(self, sidecar: Sidecar, metadata: PlannedObject) -> bytes:
        """The sidecar with the digest of the metadata that is published: it may be declared anew since processing."""
        facts = FileFacts(metadata.size, metadata.sha256)
        if sidecar.files.get(layout.METADATA) == facts:
            return (self._artifact.folder / layout.SIDECAR).read_bytes()
        return replace(sidecar, files={**sidecar.files, layout.METADATA: facts}).to_json().encode()

    def _file(self, name: str, count: ByteCount) -> PlannedObject:
        count.note = name
        path, digest, size = self._artifact.folder / name, hashlib.sha256(), 0
        with open(path, "rb") as file:
            for piece in iter(lambda: file.read(_PIECE), b""):
                digest.update(piece)
                size += len(piece)
                count(len(piece))
        self._files[name] = FileFacts(size, digest.hexdigest())
        return PlannedObject(name, path, size, digest.hexdigest())

    def _zip(self, name: str, archive: Archive, count: ByteCount) -> PlannedObject:
        count.note = name
        try:
            measured = measure(archive, count)
        except Failure as failure:
            self.problems += failure.problems
            return PlannedObject(name, archive, 0, "")
        for member in archive.members:
            facts = FileFacts(member.size, measured.files[member.name])
            self._files[f"{ZIPS[name]}/{member.name}"] = facts
        return PlannedObject(name, archive, measured.size, measured.sha256)

    def _check_digests(self) -> None:
        """Compare every file with what processing wrote; the raw ones only where they are published."""
        sidecar = self._artifact.sidecar
        if sidecar is None:
            return
        self.problems += checks.check_findings(sidecar)
        left_out = () if self._wants_raw else (f"{layout.RAW}/",)
        recorded = {name: facts for name, facts in sidecar.files.items() if not name.startswith(left_out)}
        content = (self._artifact.folder / layout.METADATA).read_bytes()
        metadata = FileFacts(len(content), hashlib.sha256(content).hexdigest())
        found = self._files | {layout.METADATA: metadata}
        self.problems += checks.check_files(self._artifact.folder, recorded, found)


def _planned(name: str, content: bytes) -> PlannedObject:
    return PlannedObject(name, content, len(content), hashlib.sha256(content).hexdigest())
