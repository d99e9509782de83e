"""Proof of a hosted artifact: every object that should be there is read back whole and compared."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Outcome, Problem, Progress
from benchwright.objects import ObjectInfo, ObjectStore, survey
from benchwright.processing import layout
from benchwright.publish.artifact_checks import check_table
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.extract import check_zip
from benchwright.publish.hosted import (
    MANIFEST,
    PROCESSED_ZIP,
    RAW_ZIP,
    WRITES_NONE,
    ZIPS,
    HostedObject,
    Manifest,
    key_prefix,
    no_manifest,
    objects_at,
    part_of,
    read_manifest,
)
from benchwright.publish.upload_plan import UploadPlan

LOCAL_FILES = "the files of the local artifact"
"""The basis of a verification against what is here."""
_UPLOAD_AGAIN = (
    "upload it again: scripts/run_upload_results.py --apply; where the store's own record is wrong, --replace"
)


@dataclass(frozen=True, slots=True)
class Proof:
    """What reading an object back whole showed: its size in bytes, its SHA-256, and what they were compared with."""

    name: str
    size: int
    sha256: str
    shown: str

    def to_dict(self) -> dict[str, Any]:
        """The proof in the JSON envelope's form."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256, "proved": self.shown}


@dataclass(frozen=True)
class Verification:
    """What was proved of a hosted artifact, what is wrong with it (``problems``), and what is beside it (``remarks``).

    ``basis`` says what its objects were compared with.
    """

    url: str
    basis: str
    proofs: tuple[Proof, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether every expected object is there as it should be."""
        return not self.problems

    def outcome(
        self, what: str, data: Mapping[str, Any], *, remarks: Sequence[Problem] = (), next: Sequence[str] = ()
    ) -> Outcome:
        """The verification in a script's form; ``what`` was verified, ``remarks`` are others' beside its own."""
        state = f"{len(self.proofs)} objects proved" if self.ok else f"{len(self.problems)} problems"
        lines = [f"  {one.name}: {one.size:,} bytes, SHA-256 {one.sha256[:12]}..., {one.shown}" for one in self.proofs]
        return Outcome(
            f"{what}: {state} at {self.url}",
            {**data, "verification": self.to_dict()},
            [f"compared with {self.basis}", *lines],
            (*self.problems, *self.remarks, *remarks),
            next,
            exit=Exit.DONE if self.ok else Exit.NO,
        )

    def to_dict(self) -> dict[str, Any]:
        """The verification in the JSON envelope's form."""
        proofs = [proof.to_dict() for proof in self.proofs]
        return {"url": self.url, "basis": self.basis, "ok": self.ok, "objects": proofs}


def verify_objects(store: ObjectStore, expected: Manifest, *, basis: str, count: ByteCount) -> Verification:
    """Read back every object of an artifact; a listing that lags is settled by asking for each.

    ``basis`` says where the expectation comes from; ``count`` is told of the bytes of every object.

    Raises:
        Failure: as the store does; what is wrong with an object is a problem of the result instead.
    """
    prefix = key_prefix(expected.method, expected.suite)
    seen = survey(store, [f"{prefix}/{name}" for name in expected.objects], prefix=f"{prefix}/")
    proofs, problems = [], []
    for name, facts in sorted(expected.objects.items()):
        count.note = name
        info = seen.found.get(f"{prefix}/{name}")
        if info is None:
            problems.append(_missing(f"{store.url}/{prefix}/{name}", "no such object"))
        else:
            with _kept(problems):
                proofs.append(_proved(store, info, name, facts))
        count(facts.size)
    remarks = [_extra(store, info) for info in seen.unexpected if info.key != f"{prefix}/{MANIFEST}"]
    with _kept(problems):
        hosted = read_manifest(store, expected.method, expected.suite)
        if hosted is None:
            said = "the next upload writes it; who fetches the artifact cannot compare digests"
            remarks.append(no_manifest(f"{store.url}/{prefix}", said))
        elif hosted.manifest.objects != expected.objects:
            where, found = f"{store.url}/{prefix}/{MANIFEST}", "the manifest of another artifact"
            problems.append(Problem("manifest-differs", where, found, "the objects of this one", _UPLOAD_AGAIN))
    return Verification(f"{store.url}/{prefix}", basis, tuple(proofs), tuple(problems), tuple(remarks))


@contextlib.contextmanager
def _kept(problems: list[Problem]) -> Iterator[None]:
    """Keep what is wrong with one object, so that the others are looked at too."""
    try:
        yield
    except Failure as failure:
        if failure.exit != Exit.NO:
            raise
        problems += [replace(problem, fix=_UPLOAD_AGAIN) for problem in failure.problems]


def verify_plan(store: ObjectStore, plan: UploadPlan, *, progress: Progress | None = None) -> Verification:
    """Verify an artifact of which there is a local copy, planned as it was uploaded.

    Raises:
        Failure: as the store does.
    """
    return verify_objects(store, plan.manifest, basis=LOCAL_FILES, count=ByteCount(progress, plan.size))


def verify_hosted(store: ObjectStore, method: str, suite: str, *, progress: Progress | None = None) -> Verification:
    """Verify an artifact of which there is no local copy: against its manifest, else as far as it speaks for itself.

    Raises:
        Failure: nothing is hosted there (code ``not-hosted``, exit 1), and as the store does.
    """
    prefix = key_prefix(method, suite)
    hosted = read_manifest(store, method, suite)
    if hosted is not None:
        count = ByteCount(progress, sum(facts.size for facts in hosted.manifest.objects.values()))
        return verify_objects(store, hosted.manifest, basis=f"the digests in {MANIFEST}", count=count)
    return _verify_unlisted(store, prefix, progress)


def not_hosted(url: str, close: str = "") -> Failure:
    """There is no artifact at this place; ``close`` says what might have been meant."""
    fix = close or "compare method, suite and store with those it was uploaded with"
    return Failure(Problem("not-hosted", url, "no artifact there", "a hosted artifact", fix))


def _proved(store: ObjectStore, info: ObjectInfo, name: str, facts: HostedObject) -> Proof:
    read = store.prove(info.key, sha256=facts.sha256)
    if read.size != facts.size:
        where, found = f"{store.url}/{info.key}", f"{read.size:,} bytes"
        raise Failure(Problem("size-mismatch", where, found, f"{facts.size:,} bytes"))
    return Proof(name, read.size, str(read.sha256), "read back: size and digest as expected")


def _verify_unlisted(store: ObjectStore, prefix: str, progress: Progress | None) -> Verification:
    """Read back what a program without manifests uploaded: whole and readable is all that can be shown."""
    url = f"{store.url}/{prefix}"
    there = objects_at(store, prefix, [layout.METADATA])
    objects = {name: info for name, info in there.items() if part_of(name)}
    if not objects:
        raise not_hosted(url)
    count = ByteCount(progress, sum(info.size for info in objects.values()))
    proofs: list[Proof] = []
    problems: list[Problem] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, info in objects.items():
            count.note = name
            path = Path(folder) / name
            with _kept(problems):
                read = store.get(info.key, path)
                _check_readable(Path(folder), name, f"{url}/{name}")
                proofs.append(Proof(name, read.size, str(read.sha256), _shown(name)))
            if name == layout.METADATA and path.exists():
                problems += _incomplete(path, url, objects)
            if name != layout.METADATA:
                path.unlink(missing_ok=True)
            count(info.size)
    if layout.METADATA not in objects:
        problems.append(_missing(f"{url}/{layout.METADATA}", "no such object: an upload that did not end"))
    remarks = [_extra(store, info) for name, info in there.items() if not part_of(name)]
    said = "its digests could not be compared; sizes, checksums inside the zips and tables were"
    remarks.append(no_manifest(url, said, WRITES_NONE))
    return Verification(url, f"nothing: there is no {MANIFEST}", tuple(proofs), tuple(problems), tuple(remarks))


def _check_readable(folder: Path, name: str, where: str) -> None:
    if name in ZIPS:
        check_zip(folder / name, where)
    elif name.endswith(".parquet"):
        problems = [replace(problem, where=where) for problem in check_table(folder, name)]
        if problems:
            raise Failure(problems)


def _incomplete(path: Path, url: str, there: Mapping[str, ObjectInfo]) -> list[Problem]:
    """What a method with this metadata should have beside the objects that are there."""
    try:
        metadata = MethodMetadata.from_yaml(path)
    except Failure as failure:
        return [replace(problem, where=f"{url}/{layout.METADATA}") for problem in failure.problems]
    return [_missing(f"{url}/{absent}", "no such object") for absent in _needed(metadata, there)]


def _shown(name: str) -> str:
    if name in ZIPS:
        return "read back: the checksum of every file in it holds"
    return "read back whole" + (": every row can be read" if name.endswith(".parquet") else "")


def _needed(metadata: MethodMetadata, there: Mapping[str, ObjectInfo]) -> list[str]:
    """The objects that a method of this kind should have and that are not there."""
    names = list(layout.required_results(metadata)) if metadata.has_results else []
    names += [layout.TRAJECTORIES] if layout.expects_trajectories(metadata) else []
    names += [PROCESSED_ZIP, layout.HYPERPARAMETERS] if metadata.has_processed else []
    names += [RAW_ZIP] if metadata.has_raw else []
    return [name for name in names if name not in there]


def _missing(where: str, found: str) -> Problem:
    return Problem("object-missing", where, found, "the object of this artifact", _UPLOAD_AGAIN)


def _extra(store: ObjectStore, info: ObjectInfo) -> Problem:
    return Problem("extra-object", f"{store.url}/{info.key}", f"{info.size:,} bytes that are no part of this artifact")
