"""A hosted artifact: its objects' names, and the manifest that lists them and claims their place."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.objects import ObjectInfo, ObjectStore, survey
from benchwright.objects.keys import check_key
from benchwright.processing import layout

MANIFEST = "manifest.json"
PROCESSED_ZIP = f"{layout.PROCESSED}.zip"
RAW_ZIP = f"{layout.RAW}.zip"
ZIPS = {PROCESSED_ZIP: layout.PROCESSED, RAW_ZIP: layout.RAW}
"""The objects that are folders of the artifact, zipped."""
FORMAT = 1
"""Counted up when a field changes its meaning."""

_LARGEST = 2**20
"""Bytes. A manifest has some ten objects, and as many for each predecessor."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TABLE = re.compile(rf"{layout.RESULTS}/[A-Za-z0-9_-]+\.parquet")
_PARTS = {
    layout.METADATA: "metadata",
    layout.SIDECAR: "sidecar",
    layout.TRAJECTORIES: "hpo_trajectories",
    PROCESSED_ZIP: "processed",
    layout.HYPERPARAMETERS: "processed",
    RAW_ZIP: "raw",
}


def key_prefix(method: str, suite: str) -> str:
    """The start of the keys of a method's objects, without a ``/`` at its end.

    Raises:
        Failure: no object may have such a name (code ``bad-key``, exit 2).
    """
    for name in (method, suite):
        if "/" in check_key(name):
            problem = Problem("bad-key", repr(name), "a name with '/'", "one word", "take the '/' out of it")
            raise Failure(problem, exit=Exit.USAGE)
    return f"artifacts/{suite}/methods/{method}"


def part_of(name: str) -> str | None:
    """The part of an artifact that an object belongs to; None for an object that no artifact has."""
    return _PARTS.get(name) or ("results" if _TABLE.fullmatch(name) else None)


@dataclass(frozen=True, slots=True)
class HostedObject:
    """An object's size in bytes, and its SHA-256 in hex where it is known."""

    size: int
    sha256: str | None

    @classmethod
    def of(cls, info: ObjectInfo) -> HostedObject:
        """What a store says of an object."""
        return cls(info.size, info.sha256)

    def is_like(self, other: HostedObject) -> bool:
        """Whether nothing that is known of the two tells them apart."""
        return self.size == other.size and (self.sha256 == other.sha256 or None in (self.sha256, other.sha256))


@dataclass(frozen=True, slots=True)
class Predecessor:
    """What an artifact replaced: its objects by name, and its manifest's SHA-256 where it had one."""

    manifest: str | None
    objects: Mapping[str, HostedObject]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``manifest.json``: written before any other object, and so the claim of whoever wrote it to the place.

    It holds no time and no name of a machine: the same artifact gives the same bytes.
    """

    method: str
    suite: str
    objects: Mapping[str, HostedObject]
    predecessors: tuple[Predecessor, ...] = field(default=())

    def to_bytes(self) -> bytes:
        """The object's content: JSON, keys sorted, one to a line."""
        values = {
            "format": FORMAT,
            "method": self.method,
            "suite": self.suite,
            "objects": _plain(self.objects),
            "predecessors": [
                {"manifest": before.manifest, "objects": _plain(before.objects)} for before in self.predecessors
            ],
        }
        return (json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Manifest:
        """The manifest that an object holds; ``where`` names it in problems.

        Raises:
            Failure: it is none, of another format, or lists what no artifact has (code ``bad-manifest``).
        """
        try:
            values = json.loads(content)
            if values["format"] != FORMAT or not all(isinstance(values[name], str) for name in ("method", "suite")):
                raise ValueError(values["format"])
            predecessors = tuple(_predecessor(before) for before in values["predecessors"])
            objects = _objects(values["objects"])
            if any(facts.sha256 is None for facts in objects.values()) or layout.METADATA not in objects:
                raise ValueError(objects)
            return cls(values["method"], values["suite"], objects, predecessors)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            raise _bad_manifest(where, "other content") from None

    def replaced(self, name: str, found: HostedObject) -> bool:
        """Whether an object that is still there is one of those that this artifact replaces."""
        return any(name in before.objects and before.objects[name].is_like(found) for before in self.predecessors)


@dataclass(frozen=True, slots=True)
class HostedManifest:
    """A manifest as it lies in a store."""

    manifest: Manifest
    info: ObjectInfo

    @property
    def begun(self) -> str:
        """When its upload began, as an addition to a sentence; empty where the store does not say."""
        return f", begun {self.info.modified:%Y-%m-%d %H:%M} UTC" if self.info.modified else ""


def read_manifest(store: ObjectStore, method: str, suite: str) -> HostedManifest | None:
    """The manifest of a method's artifact; None where there is none.

    Raises:
        Failure: it is none, or another artifact's (code ``bad-manifest``, exit 1), and as the store does.
    """
    key = f"{key_prefix(method, suite)}/{MANIFEST}"
    where = f"{store.url}/{key}"
    info = store.head(key)
    if info is None:
        return None
    if info.size > _LARGEST:
        raise _bad_manifest(where, f"{info.size:,} bytes")
    content, read = read_object(store, key, _LARGEST)
    manifest = Manifest.from_bytes(content, where)
    if (manifest.method, manifest.suite) != (method, suite):
        raise _bad_manifest(where, f"that of {manifest.method}, suite {manifest.suite}")
    return HostedManifest(manifest, replace(read, modified=info.modified))


def read_object(store: ObjectStore, key: str, most: int) -> tuple[bytes, ObjectInfo]:
    """The content of a small object, of at most ``most`` bytes, and what the store says of it.

    Raises:
        Failure: as ``ObjectStore.get`` does.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "object"
        info = store.get(key, path, most=most)
        return path.read_bytes(), info


def no_manifest(url: str, said: str) -> Problem:
    """A remark on an artifact at ``url`` that no manifest lists; ``said`` is what follows from that."""
    fix = "the next scripts/run_upload_results.py --apply writes it"
    return Problem("no-manifest", f"{url}/{MANIFEST}", f"not there: {said}", fix=fix)


def objects_at(store: ObjectStore, prefix: str, names: Iterable[str]) -> dict[str, ObjectInfo]:
    """The objects below a prefix by name, sorted; ``names`` are asked for even where the store does not list them.

    Raises:
        Failure: as the store does.
    """
    seen = survey(store, [f"{prefix}/{name}" for name in names], prefix=f"{prefix}/")
    there = {info.key.removeprefix(f"{prefix}/"): info for info in (*seen.found.values(), *seen.unexpected)}
    return dict(sorted(there.items()))


def _bad_manifest(where: str, found: str) -> Failure:
    fix = "look at who wrote it; it must be removed by hand before anything can be uploaded here"
    return Failure(Problem("bad-manifest", where, found, f"this artifact's manifest, of format {FORMAT}", fix))


def _plain(objects: Mapping[str, HostedObject]) -> dict[str, Any]:
    return {name: {"size": facts.size, "sha256": facts.sha256} for name, facts in objects.items()}


def _predecessor(values: Any) -> Predecessor:
    return Predecessor(_digest(values["manifest"]), _objects(values["objects"]))


def _objects(values: Any) -> dict[str, HostedObject]:
    if any(part_of(name) is None for name in values):
        raise ValueError(values)
    return {name: HostedObject(_size(facts["size"]), _digest(facts["sha256"])) for name, facts in values.items()}


def _size(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(value)
    return value


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    if not _SHA256.fullmatch(value):
        raise ValueError(value)
    return str(value)
