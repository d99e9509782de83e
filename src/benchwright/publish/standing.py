"""What lies at the place of an upload: whose it is, how much of it is there, and whether the upload may go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem
from benchwright.objects import ObjectInfo, ObjectStore
from benchwright.processing import layout
from benchwright.publish.hosted import (
    HostedManifest,
    HostedObject,
    Manifest,
    Predecessor,
    objects_at,
    part_of,
    read_manifest,
    read_object,
)
from benchwright.publish.upload_plan import PlannedObject, UploadPlan

_LARGEST_METADATA = 2**20
"""Bytes. A method's metadata has some thirty lines."""
_LARGEST_SIDECAR = 256 * 2**20
"""Bytes. A sidecar has some 150 for each file of the artifact."""


class MetadataDiffers(Failure):
    """What is hosted is the planned artifact but for its ``metadata.yaml``, and the digest of that in its sidecar."""


@dataclass(frozen=True)
class Standing:
    """An upload's plan beside what a store holds below its prefix.

    ``found`` has the objects of an artifact that are there, planned or not, by name; ``equal`` are the names of those
    with the planned content. ``only_metadata`` says that nothing else differs than what ``metadata.yaml`` says and the
    sidecar says of it; ``hosted`` is then what the ``metadata.yaml`` that is there says, None where it is unreadable.
    """

    plan: UploadPlan
    manifest: HostedManifest | None
    found: Mapping[str, ObjectInfo]
    equal: frozenset[str]
    only_metadata: bool = False
    hosted: MethodMetadata | None = None

    @property
    def ours(self) -> bool:
        """Whether the manifest there claims the place for the very content of the plan."""
        return self.manifest is not None and self.manifest.manifest.objects == self.plan.manifest.objects

    @property
    def marked(self) -> bool:
        """Whether the marker of a complete artifact is there."""
        return layout.METADATA in self.found

    @property
    def outstanding(self) -> tuple[PlannedObject, ...]:
        """What is not there yet as it should be, in the order of the plan."""
        return tuple(planned for planned in self.plan.objects if planned.name not in self.equal)

    @property
    def obsolete(self) -> tuple[ObjectInfo, ...]:
        """Objects of a predecessor under names that the plan does not have."""
        planned = self.plan.manifest.objects
        return tuple(info for name, info in self.found.items() if name not in planned and self._is_replaced(name))

    @property
    def strangers(self) -> dict[str, HostedObject]:
        """Objects with another content than planned that no manifest accounts for."""
        return {
            name: HostedObject.of(info)
            for name, info in self.found.items()
            if name not in self.equal and not self._is_replaced(name)
        }

    def refusal(self) -> Failure | None:
        """Why nothing may be written here without ``--replace`` (exit 5); None where the upload may go on."""
        differing = sorted(self.found.keys() - self.equal)
        if (self.ours and not self.strangers) or (self.manifest is None and not differing):
            return None
        if self.only_metadata:
            return self._metadata_differs()
        return Failure(self._another(), exit=Exit.REFUSED)

    def successor(self) -> Manifest:
        """The manifest of the plan over what is there: what it replaces is listed."""
        before = () if self.manifest is None else self.manifest.manifest.predecessors
        if self.manifest is not None and not self.ours:
            before = (*before, Predecessor(self.manifest.info.sha256, self.manifest.manifest.objects))
        strangers = self.strangers
        if strangers and self.manifest is None:
            strangers = {name: HostedObject.of(info) for name, info in self.found.items()}
        if strangers:
            before = (*before, Predecessor(None, strangers))
        plan = self.plan.manifest
        return Manifest(plan.method, plan.suite, plan.objects, before)

    def _is_replaced(self, name: str) -> bool:
        if self.manifest is None:
            return False
        manifest, found = self.manifest.manifest, HostedObject.of(self.found[name])
        theirs = not self.ours and name in manifest.objects and manifest.objects[name].is_like(found)
        return theirs or manifest.replaced(name, found)

    def _metadata_differs(self) -> MetadataDiffers:
        found = f"another artifact: only {layout.METADATA} differs: {self._changes()}"
        sent = " and ".join(planned.name for planned in self.outstanding)
        fix = f"--replace sends {sent}, keeps the others, and lists what is there as the predecessor"
        problem = Problem("hosted-differs", self.plan.url, found, "nothing, or this very artifact", fix)
        return MetadataDiffers(problem, exit=Exit.REFUSED)

    def _changes(self) -> str:
        """The fields that the hosted metadata and the planned one do not agree on, with both values."""
        if self.hosted is None:
            return "what is hosted cannot be read"
        old = self.hosted.to_dict()
        new = MethodMetadata.from_yaml(_planned_content(self.plan, layout.METADATA)).to_dict()
        names = [name for name in {**new, **old} if new.get(name) != old.get(name)]
        return ", ".join(f"{name} {old.get(name)!r} -> {new.get(name)!r}" for name in names) or "the way it is written"

    def _another(self) -> Problem:
        where, expected = self.plan.url, "nothing, or this very artifact"
        fix = "look at what is there; --replace puts this one in its place and lists the other as its predecessor"
        if self.ours and self.strangers.keys() <= self.plan.manifest.objects.keys():
            found = f"damaged, or written over since this artifact was uploaded: {', '.join(sorted(self.strangers))}"
            fix = "look at what is there; --replace sends what this artifact's manifest lists, from the files here"
            return Problem("hosted-damaged", where, found, "the objects that its manifest lists", fix)
        if self.manifest is None or self.ours:
            what = "an artifact" if self.marked else "objects"
            found = f"{what} of another program: {', '.join(sorted(self.strangers))}"
            return Problem("hosted-differs", where, found, expected, fix)
        if self.marked:
            found = f"another artifact: {self._differences(self.manifest.manifest)}"
            return Problem("hosted-differs", where, found, expected, fix)
        theirs = self.manifest
        found = f"an unfinished upload of another artifact{theirs.begun}: {self._differences(theirs.manifest)}"
        return Problem("upload-unfinished", where, found, expected, f"let it be run again to its end; {fix}")

    def _differences(self, theirs: Manifest) -> str:
        planned = self.plan.manifest.objects
        changed = sorted(
            name for name in planned.keys() & theirs.objects.keys() if planned[name] != theirs.objects[name]
        )
        added, lacking = sorted(planned.keys() - theirs.objects.keys()), sorted(theirs.objects.keys() - planned.keys())
        said = [("differs in", changed), ("lacks", added), ("has", lacking)]
        return "; ".join(f"it {verb} {', '.join(names)}" for verb, names in said if names)


def look(plan: UploadPlan, store: ObjectStore, *, trust: bool = True) -> Standing:
    """What a store holds at the place of an upload; nothing is written.

    An object counts as equal when it has the size and the digest that the store records with it; where none is
    recorded, and everywhere without ``trust``, it is read back whole.

    Raises:
        Failure: as the store does.
    """
    manifest = read_manifest(store, plan.method, plan.suite)
    planned_by_name = {planned.name: planned for planned in plan.objects}
    there = objects_at(store, plan.prefix, planned_by_name)
    found = {name: info for name, info in there.items() if part_of(name)}
    equal = {
        name
        for name, info in found.items()
        if name in planned_by_name and is_equal(planned_by_name[name], info, store, trust=trust)
    }
    standing = Standing(plan, manifest, found, frozenset(equal))
    if not _only_metadata(standing, store):
        return standing
    return replace(standing, only_metadata=True, hosted=_hosted_metadata(found[layout.METADATA], store))


def _only_metadata(standing: Standing, store: ObjectStore) -> bool:
    """Whether everything is there, and as planned but for what ``metadata.yaml`` says and the sidecar says of it."""
    differing = standing.found.keys() - standing.equal
    if standing.found.keys() != standing.plan.manifest.objects.keys() or layout.METADATA not in differing:
        return False
    if differing == {layout.METADATA}:
        return True
    if differing != {layout.METADATA, layout.SIDECAR}:
        return False
    hosted = _content(standing.found[layout.SIDECAR], store, _LARGEST_SIDECAR)
    planned = _planned_content(standing.plan, layout.SIDECAR)
    return hosted is not None and _without_metadata(hosted) == _without_metadata(planned) is not None


def _without_metadata(sidecar: bytes) -> Any:
    """What a sidecar says but of ``metadata.yaml``; None for what is none."""
    try:
        values = json.loads(sidecar)
        del values["files"][layout.METADATA]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return values


def _hosted_metadata(info: ObjectInfo, store: ObjectStore) -> MethodMetadata | None:
    """What a hosted ``metadata.yaml`` says; None where it is too large for one, is none, or was removed meanwhile."""
    content = _content(info, store, _LARGEST_METADATA)
    try:
        return None if content is None else MethodMetadata.from_yaml(content)
    except Failure:
        return None


def _content(info: ObjectInfo, store: ObjectStore, most: int) -> bytes | None:
    """An object of at most ``most`` bytes; None where it is larger, damaged, or was removed meanwhile."""
    try:
        return read_object(store, info.key, most)[0]
    except Failure as failure:
        if failure.exit != Exit.NO:
            raise
        return None


def _planned_content(plan: UploadPlan, name: str) -> bytes:
    planned = next(one for one in plan.objects if one.name == name)
    return b"".join(planned.chunks())


def is_equal(planned: PlannedObject, info: ObjectInfo, store: ObjectStore, *, trust: bool = True) -> bool:
    """Whether an object has the planned content; see ``look``."""
    if info.size != planned.size or info.sha256 not in (None, planned.sha256):
        return False
    if trust and info.sha256 is not None:
        return True
    try:
        store.prove(info.key, sha256=planned.sha256, most=planned.size)
    except Failure as failure:
        if failure.exit != Exit.NO:
            raise
        return False
    return True
