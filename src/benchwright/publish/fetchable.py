"""What of a hosted artifact there is to fetch: judged by what the store says of its objects, before any is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from benchwright.arena import did_you_mean
from benchwright.contract import Exit, Failure, Problem, some
from benchwright.objects import ObjectInfo, ObjectStore
from benchwright.processing import layout
from benchwright.publish.description import DESCRIPTIONS, Description, missing
from benchwright.publish.hosted import (
    MANIFEST,
    HostedManifest,
    HostedObject,
    key_prefix,
    objects_at,
    part_of,
    read_manifest,
)
from benchwright.publish.proof import READ_AGAIN, not_hosted, stray


@dataclass(frozen=True)
class Fetchable:
    """A hosted artifact's objects, those that describe the others first; digests are known where a manifest lists them.

    ``there`` are all objects that lie there, by name.
    """

    store: ObjectStore
    method: str
    suite: str
    manifest: HostedManifest | None
    objects: Mapping[str, HostedObject]
    there: Mapping[str, ObjectInfo]

    @property
    def prefix(self) -> str:
        """The start of the objects' keys."""
        return key_prefix(self.method, self.suite)

    @property
    def url(self) -> str:
        """Where the artifact is."""
        return f"{self.store.url}/{self.prefix}"

    @property
    def changed(self) -> bool:
        """Whether the manifest is no longer the one that was read: someone replaces the artifact."""
        now = self.store.head(f"{self.prefix}/{MANIFEST}")
        return (now and now.etag) != (self.manifest and self.manifest.info.etag)

    @property
    def remarks(self) -> list[Problem]:
        """What lies there beside the artifact."""
        return [stray(self.store, info) for name, info in self.there.items() if name not in self.objects]

    def narrowed(self, described: Description) -> Fetchable:
        """The artifact without the objects of which its own sidecar does not know."""
        return replace(self, objects={name: one for name, one in self.objects.items() if described.belongs(name)})


def look_up(store: ObjectStore, method: str, suite: str, *, left_out: Collection[str] = ()) -> Fetchable:
    """The artifact of a method; objects that are ``left_out`` by whoever fetches it may be damaged.

    Raises:
        Failure: there is none, or no complete one (codes ``not-hosted``, ``upload-unfinished``, exit 1); objects that
            its manifest lists are not there or others (each a problem, exit 1); as the store does.
    """
    manifest = read_manifest(store, method, suite)
    prefix = key_prefix(method, suite)
    listed = {} if manifest is None else manifest.manifest.objects
    there = objects_at(store, prefix, (*listed, *DESCRIPTIONS))
    there.pop(MANIFEST, None)
    if manifest is None:
        if layout.METADATA not in there:
            raise not_hosted(f"{store.url}/{prefix}", _unmarked(there) or _close_names(store, prefix))
        objects = {name: HostedObject.of(info) for name, info in there.items() if part_of(name)}
    else:
        objects = dict(listed)
        wanted = {name: facts for name, facts in objects.items() if name not in left_out}
        _check_listed(f"{store.url}/{prefix}", manifest, wanted, there)
    names = sorted(objects, key=lambda name: (name not in DESCRIPTIONS, name))
    return Fetchable(store, method, suite, manifest, {name: objects[name] for name in names}, there)


def _check_listed(
    url: str, hosted: HostedManifest, wanted: Mapping[str, HostedObject], there: Mapping[str, ObjectInfo]
) -> None:
    """Refuse an artifact whose objects are not those that its manifest lists."""
    manifest = hosted.manifest
    found = {name: HostedObject.of(there[name]) for name in wanted if name in there}
    absent = [name for name in wanted if name not in found]
    other = [name for name, facts in found.items() if not wanted[name].is_like(facts)]
    # Right after the claim to replace an artifact its marker is still there, and so are its objects.
    begun = any(manifest.replaced(name, found[name]) for name in other) if other else absent and manifest.predecessors
    if layout.METADATA in absent or begun:
        said = f"an upload that has not ended{hosted.begun}"
        fix = "fetch it when the upload has ended; if it was stopped, whoever began it must run it again"
        raise Failure(Problem("upload-unfinished", url, said, "an artifact", fix))
    problems = [missing(f"{url}/{name}") for name in absent]
    problems += [problem for name in other for problem in _unlike(f"{url}/{name}", found[name], wanted[name])]
    if problems:
        raise Failure(problems)


def _unlike(where: str, found: HostedObject, listed: HostedObject) -> Iterator[Problem]:
    if found.size != listed.size:
        yield Problem("size-mismatch", where, f"{found.size:,} bytes", f"{listed.size:,} bytes", READ_AGAIN)
    else:
        said, expected = f"SHA-256 {found.sha256}", f"SHA-256 {listed.sha256}"
        yield Problem("digest-mismatch", where, said, expected, READ_AGAIN)


def _unmarked(there: Collection[str]) -> str:
    """What to do about objects that lie at the very place without the marker of an artifact."""
    if not there:
        return ""
    return f"only {some(there)} without {layout.METADATA}: whoever uploaded it must run that upload again to its end"


def _close_names(store: ObjectStore, prefix: str) -> str:
    """What might have been meant, among the methods of the suite."""
    methods, _, method = prefix.rpartition("/")
    names = {info.key.removeprefix(f"{methods}/").partition("/")[0] for info in store.list(f"{methods}/")}
    return did_you_mean(method, names) if names else ""


def replaced_meanwhile(url: str) -> Failure:
    """Someone replaced the artifact while it was fetched (code ``object-changed``, exit 4)."""
    problem = Problem("object-changed", url, "replaced while it was fetched", "one artifact", "run this again")
    return Failure(problem, exit=Exit.REMOTE)
