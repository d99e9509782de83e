"""What a hosted artifact says of itself, in its metadata and its sidecar, beside the objects that it consists of."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure, Problem
from benchwright.objects import ObjectStore
from benchwright.processing import layout
from benchwright.processing.sidecar import FileFacts, Sidecar, read_sidecar
from benchwright.publish.hosted import MANIFEST, PROCESSED_ZIP, RAW_ZIP, ZIPS, HostedObject, key_prefix
from benchwright.publish.proof import bring_object, kept

DESCRIPTIONS = (layout.METADATA, layout.SIDECAR)
"""The objects that describe the others."""
UPLOAD_AGAIN = "upload it again: scripts/run_upload_results.py --apply; what is damaged there takes --replace with it"


@dataclass(frozen=True)
class Description:
    """The metadata and the sidecar of the artifact at ``url``; None for what is not there, or is no such thing.

    ``problems`` say what is wrong with the two, that they are those of another artifact included.
    """

    url: str
    metadata: MethodMetadata | None
    sidecar: Sidecar | None
    problems: tuple[Problem, ...]

    @classmethod
    def bring(
        cls, store: ObjectStore, method: str, suite: str, objects: Mapping[str, HostedObject], folder: Path
    ) -> Description:
        """What of ``DESCRIPTIONS`` is among a hosted artifact's objects, brought to ``folder``.

        Raises:
            Failure: as the store does; what is wrong with an object is a problem of the result instead.
        """
        prefix = key_prefix(method, suite)
        problems: list[Problem] = []
        for name in DESCRIPTIONS:
            if name in objects:
                with kept(problems, UPLOAD_AGAIN):
                    bring_object(store, f"{prefix}/{name}", objects[name], folder / name)
        described = cls.read(folder, method, suite, f"{store.url}/{prefix}")
        return replace(described, problems=(*problems, *described.problems))

    @classmethod
    def read(cls, folder: Path, method: str, suite: str, url: str) -> Description:
        """What ``folder`` has of ``DESCRIPTIONS``, as they were hosted at ``url``, where that method should be."""
        problems: list[Problem] = []
        metadata, sidecar = None, None
        if (folder / layout.METADATA).exists():
            with _said_of(problems, f"{url}/{layout.METADATA}"):
                metadata = MethodMetadata.from_yaml(folder)
                problems += _of_another(f"{url}/{layout.METADATA}", metadata.key, (method, suite))
        if (folder / layout.SIDECAR).exists():
            with _said_of(problems, f"{url}/{layout.SIDECAR}"):
                sidecar = read_sidecar(folder)
                problems += _of_another(f"{url}/{layout.SIDECAR}", (sidecar.method, sidecar.suite), (method, suite))
        return cls(url, metadata, sidecar, tuple(problems))

    def absent(self, names: Collection[str]) -> list[str]:
        """The objects that a method with this metadata should have beside those of these names."""
        metadata = self.metadata
        if metadata is None:
            return []
        needed = list(layout.required_results(metadata)) if metadata.has_results else []
        needed += [layout.TRAJECTORIES] if layout.expects_trajectories(metadata) else []
        needed += [PROCESSED_ZIP, layout.HYPERPARAMETERS] if metadata.has_processed else []
        needed += [RAW_ZIP] if metadata.has_raw else []
        return [name for name in needed if name not in names]

    def not_listed(self, names: Collection[str]) -> list[Problem]:
        """What is wrong with a manifest that lists these objects alone."""
        return [missing(f"{self.url}/{name}", f"not listed in {MANIFEST}") for name in self.absent(names)]

    def files_of(self, name: str) -> Mapping[str, FileFacts] | None:
        """The files that a zip should hold, by their names in it; None where no sidecar tells."""
        if self.sidecar is None:
            return None
        below = f"{ZIPS[name]}/"
        files = self.sidecar.files.items()
        return {path.removeprefix(below): facts for path, facts in files if path.startswith(below)}

    def belongs(self, name: str) -> bool:
        """Whether an object is one of the artifact's as far as the sidecar tells."""
        if self.sidecar is None or name in DESCRIPTIONS:
            return True
        return bool(self.files_of(name)) if name in ZIPS else name in self.sidecar.files

    def contradictions(self, found: Mapping[str, HostedObject]) -> Iterator[Problem]:
        """The objects, zips left out, that are not those which the sidecar lists; ``found`` are all that there are."""
        if self.sidecar is None:
            return
        zipped = tuple(f"{below}/" for below in ZIPS.values())
        for name, facts in self.sidecar.files.items():
            if name not in found:
                if not name.startswith(zipped):
                    yield missing(f"{self.url}/{name}", f"no such object, which {layout.SIDECAR} lists")
            elif found[name] != HostedObject(facts.size, facts.sha256):
                said = f"{found[name].size:,} bytes, SHA-256 {found[name].sha256}"
                expected = f"{facts.size:,} bytes, SHA-256 {facts.sha256}, as {layout.SIDECAR} lists"
                yield Problem("sidecar-differs", f"{self.url}/{name}", said, expected, UPLOAD_AGAIN)
        for name in sorted(found.keys() - self.sidecar.files.keys() - ZIPS.keys() - {layout.SIDECAR}):
            said, expected = f"not listed in {layout.SIDECAR}", "the files of this artifact alone"
            yield Problem("sidecar-differs", f"{self.url}/{name}", said, expected, UPLOAD_AGAIN)


def missing(where: str, found: str = "no such object") -> Problem:
    """An object that should be hosted and is not."""
    return Problem("object-missing", where, found, "the object of this artifact", UPLOAD_AGAIN)


def _of_another(where: str, key: tuple[str, str], expected: tuple[str, str]) -> Iterator[Problem]:
    if key != expected:
        found = f"the artifact of {key[0]}, suite {key[1]}"
        yield Problem("bad-artifact", where, found, f"that of {expected[0]}, suite {expected[1]}", UPLOAD_AGAIN)


@contextlib.contextmanager
def _said_of(problems: list[Problem], where: str) -> Iterator[None]:
    """Keep the problems of a file as those of the object that it is a copy of."""
    try:
        yield
    except Failure as failure:
        problems += [replace(problem, where=where, fix=UPLOAD_AGAIN) for problem in failure.problems]
