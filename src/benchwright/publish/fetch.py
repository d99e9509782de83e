"""A hosted artifact brought into the cache: verified, unpacked beside its place, and put there whole."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.contract import Exit, Failure, Problem, Progress, some
from benchwright.files import digest, swap_in
from benchwright.objects import ObjectStore, StoreLocation
from benchwright.processing import layout
from benchwright.processing.staging import artifact_lock, check_file_system, kept_folder
from benchwright.publish.archive import survey_folder
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.extract import extract_zip
from benchwright.publish.hosted import (
    RAW_ZIP,
    WRITES_NONE,
    ZIPS,
    HostedManifest,
    HostedObject,
    check_apart,
    key_prefix,
    no_manifest,
    objects_at,
    part_of,
    read_manifest,
)
from benchwright.publish.local_copy import differing
from benchwright.publish.verify import not_hosted


@dataclass(frozen=True)
class FetchReport:
    """What became of a fetch: ``written`` says whether ``folder`` changed.

    ``objects`` are the hosted ones it consists of, ``reused`` those that an earlier fetch had brought already.
    """

    folder: Path
    written: bool
    objects: Mapping[str, HostedObject]
    reused: tuple[str, ...]
    remarks: tuple[Problem, ...]

    @property
    def size(self) -> int:
        """The bytes of all objects."""
        return _size(self.objects)

    def to_dict(self) -> dict[str, Any]:
        """The report in the JSON envelope's form."""
        return {
            "folder": str(self.folder),
            "written": self.written,
            "reused": list(self.reused),
            "objects": [
                {"name": name, "size": facts.size, "sha256": facts.sha256} for name, facts in self.objects.items()
            ],
        }


def fetch(
    store: ObjectStore,
    source: StoreLocation,
    method: str,
    suite: str,
    *,
    cache_root: Path | None = None,
    raw: bool = True,
    replace: bool = False,
    progress: Progress | None = None,
) -> FetchReport:
    """Bring a method's artifact from ``store``, which is at ``source``, into a cache.

    Every object is compared with the manifest's digest; of an artifact without one only the sizes and the checksums
    inside the zips can be, which is said. A local artifact that is the same already is left alone. May be killed and
    run again: what was brought whole is not brought again.

    Raises:
        Failure: there is no complete artifact (codes ``not-hosted``, ``upload-unfinished``, exit 1), it is another
            method's, damaged or refused (exit 1); a different local artifact is in its place and ``replace`` is not
            set (``local-differs``), or its raw results would be lost (``raw-would-be-lost``; both exit 5); it is being
            processed or fetched already (``locked``, exit 5); the cache has its artifacts on another file system
            (``other-file-system``, exit 3); as the store does.
    """
    prefix = key_prefix(method, suite)
    place = MethodMetadata(method=method, suite=suite, cache_root=cache_root)
    check_apart(source, prefix, place.path)
    manifest = read_manifest(store, method, suite)
    objects = _expected(store, prefix, manifest, raw=raw)
    staging = kept_folder(place, "fetch")
    with artifact_lock(place, "a fetch"):
        count = ByteCount(progress, 2 * _size(objects))
        work = _Fetch(store, place, objects, staging, count)
        written = work.run(compare_first=manifest is not None, replace=replace)
    return FetchReport(place.path, written, objects, tuple(work.reused), _remarks(manifest, f"{store.url}/{prefix}"))


@dataclass
class _Fetch:
    """One artifact on its way: objects as they were hosted, then the folder that they make, both in ``staging``."""

    store: ObjectStore
    place: MethodMetadata
    objects: Mapping[str, HostedObject]
    staging: Path
    count: ByteCount
    reused: list[str] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The start of the objects' keys."""
        return key_prefix(*self.place.key)

    @property
    def target(self) -> Path:
        """Where the artifact belongs."""
        return self.place.path

    @property
    def downloads(self) -> Path:
        """Where the objects are kept until the artifact is in its place."""
        return self.staging / "objects"

    @property
    def folder(self) -> Path:
        """The artifact to be."""
        return self.staging / "artifact"

    def run(self, *, compare_first: bool, replace: bool) -> bool:
        """Whether the artifact in the cache was written; it is not where it is the same already."""
        there = self.target.exists()
        if there and compare_first:
            names = differing(self.target, self.objects)
            if not names:
                self._clear()
                return False
            if not replace:
                raise self._refused(names)
        self._download()
        self._assemble()
        if there and not compare_first:
            names = _different_files(self.folder, self.target, self.objects)
            if not names:
                self._clear()
                return False
            if not replace:
                raise self._refused(names)
        self._refuse_to_lose_raw()
        swap_in(self.folder, self.target)
        self._clear()
        return True

    def _download(self) -> None:
        self.downloads.mkdir(parents=True, exist_ok=True)
        check_file_system(self.downloads, self.place)
        held = sum(path.stat().st_size for path in self.downloads.rglob("*") if path.is_file())
        needed, free = _size(self.objects) - held, shutil.disk_usage(self.downloads).free
        if needed > free:
            where, found = str(self.downloads), f"{free:,} bytes free"
            problem = Problem("disk-full", where, found, f"{needed:,} bytes", "free some space, then run this again")
            raise Failure(problem, exit=Exit.ENVIRONMENT)
        for name, facts in self.objects.items():
            self.count.note = name
            path = self.downloads / name
            if facts.sha256 is not None and path.is_file() and digest(path) == facts.sha256:
                self.reused.append(name)
            else:
                self.store.get(f"{self.prefix}/{name}", path, sha256=facts.sha256)
            self.count(facts.size)

    def _assemble(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name, below in ZIPS.items():
            if name in self.objects:
                self.count.note = f"unpacking {name}"
                extract_zip(self.downloads / name, self.folder / below, self._where(name), self.count)
        for name in self.objects.keys() - ZIPS.keys():
            path = self.folder / name
            if path.exists() and not filecmp.cmp(path, self.downloads / name, shallow=False):
                problem = Problem("bad-artifact", self._where(name), "another file than the one in the zip", "one file")
                raise Failure(problem)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.downloads / name, path)
            self.count(self.objects[name].size)
        self._check_names()

    def _check_names(self) -> None:
        """Refuse an artifact that says of itself that it is another one."""
        metadata = MethodMetadata.from_yaml(self.folder)
        if key_prefix(*metadata.key) != self.prefix:
            found = f"the artifact of {metadata.method}, suite {metadata.suite}"
            raise Failure(Problem("bad-artifact", self._where(layout.METADATA), found, f"that of {self.prefix}"))

    def _refuse_to_lose_raw(self) -> None:
        """Refuse to replace a folder that has raw results by one without: they may be the only ones."""
        present = self.target / layout.RAW
        if RAW_ZIP not in self.objects and present.exists():
            found, expected = "raw results, which the fetched artifact does not have", "raw results in both, or in none"
            fix = "fetch it without --no-raw, or move that folder away first"
            raise Failure(Problem("raw-would-be-lost", str(present), found, expected, fix), exit=Exit.REFUSED)

    def _refused(self, names: list[str]) -> Failure:
        found = f"a local artifact that differs in {some(names, 5)}"
        fix = "--replace puts the hosted one in its place"
        problem = Problem("local-differs", str(self.target), found, "none, or the hosted one", fix)
        return Failure(problem, exit=Exit.REFUSED)

    def _where(self, name: str) -> str:
        return f"{self.store.url}/{self.prefix}/{name}"

    def _clear(self) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)


def _expected(
    store: ObjectStore, prefix: str, manifest: HostedManifest | None, *, raw: bool
) -> dict[str, HostedObject]:
    """The objects to bring, the marker last; digests are known where there is a manifest."""
    url = f"{store.url}/{prefix}"
    if manifest is None:
        there = objects_at(store, prefix, [layout.METADATA])
        if layout.METADATA not in there:
            raise not_hosted(url, _close_names(store, prefix))
        objects = {name: HostedObject.of(info) for name, info in there.items() if part_of(name)}
    else:
        if store.head(f"{prefix}/{layout.METADATA}") is None:
            found = f"an upload that has not ended{manifest.begun}"
            fix = "fetch it when the upload has ended; if it was stopped, whoever began it must run it again"
            raise Failure(Problem("upload-unfinished", url, found, "an artifact", fix))
        objects = dict(manifest.manifest.objects)
    names = sorted(objects, key=lambda name: (name == layout.METADATA, name))
    return {name: objects[name] for name in names if raw or name != RAW_ZIP}


def _close_names(store: ObjectStore, prefix: str) -> str:
    """What might have been meant, among the methods of the suite."""
    methods, _, method = prefix.rpartition("/")
    names = {info.key.removeprefix(f"{methods}/").partition("/")[0] for info in store.list(f"{methods}/")}
    return did_you_mean(method, names) if names else ""


def _remarks(manifest: HostedManifest | None, url: str) -> tuple[Problem, ...]:
    if manifest is not None:
        return ()
    said = "its digests could not be compared; sizes and the checksums inside the zips were"
    return (no_manifest(url, said, WRITES_NONE),)


def _different_files(new: Path, old: Path, objects: Mapping[str, HostedObject]) -> list[str]:
    """The files that two artifact folders do not have in common; raw results count where they were fetched."""
    left_out = () if RAW_ZIP in objects else (f"{layout.RAW}/",)
    sizes = [
        {member.name: member.size for member in survey_folder(folder).members if not member.name.startswith(left_out)}
        for folder in (new, old)
    ]
    names = sorted(sizes[0].keys() | sizes[1].keys())
    return [
        name
        for name in names
        if sizes[0].get(name) != sizes[1].get(name) or not filecmp.cmp(new / name, old / name, shallow=False)
    ]


def _size(objects: Mapping[str, HostedObject]) -> int:
    return sum(facts.size for facts in objects.values())
