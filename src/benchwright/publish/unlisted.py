"""A hosted artifact that no manifest lists: what it says of itself is all that it can be compared with."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from benchwright.contract import Failure, Problem, Progress
from benchwright.objects import ObjectStore
from benchwright.processing import layout
from benchwright.publish.artifact_checks import check_table
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.description import DESCRIPTIONS, UPLOAD_AGAIN, Description, missing
from benchwright.publish.extract import check_zip
from benchwright.publish.hosted import (
    MANIFEST,
    ZIPS,
    HostedObject,
    key_prefix,
    no_manifest,
    objects_at,
    part_of,
)
from benchwright.publish.proof import Proof, Verification, bring_object, kept, not_hosted, stray


def verify_unlisted(store: ObjectStore, method: str, suite: str, progress: Progress | None = None) -> Verification:
    """Read back what a program without manifests uploaded, as far as that proves anything.

    Raises:
        Failure: nothing is hosted there (code ``not-hosted``, exit 1), and as the store does.
    """
    prefix = key_prefix(method, suite)
    url = f"{store.url}/{prefix}"
    there = objects_at(store, prefix, DESCRIPTIONS)
    objects = {name: HostedObject.of(info) for name, info in there.items() if part_of(name)}
    if not objects:
        raise not_hosted(url)
    count = ByteCount(progress, sum(facts.size for facts in objects.values()))
    proofs: list[Proof] = []
    with tempfile.TemporaryDirectory() as folder:
        described = Description.bring(store, method, suite, objects, Path(folder))
    problems = list(described.problems)
    strays = [name for name in there if name not in objects or not described.belongs(name)]
    for name, facts in objects.items():
        count.note = name
        if name not in strays:
            with kept(problems, UPLOAD_AGAIN):
                proofs.append(_proved(store, f"{prefix}/{name}", name, facts, described))
        count(facts.size)
    problems += described.contradictions({proof.name: HostedObject(proof.size, proof.sha256) for proof in proofs})
    problems += [missing(f"{url}/{absent}") for absent in described.absent(objects)]
    if layout.METADATA not in objects:
        problems.append(missing(f"{url}/{layout.METADATA}", "no such object: an upload that did not end"))
    remarks = [*(stray(store, there[name]) for name in strays), no_digests(described)]
    basis = "nothing" if described.sidecar is None else f"the digests in {layout.SIDECAR}"
    basis += f": there is no {MANIFEST}"
    return Verification(url, basis, tuple(proofs), tuple(dict.fromkeys(problems)), tuple(remarks))


def no_digests(described: Description) -> Problem:
    """The remark on an artifact without a manifest: what its objects could be compared with."""
    said = "its digests could not be compared; sizes, checksums inside the zips and tables were"
    if described.sidecar is not None:
        said = f"its files were compared with the digests in {layout.SIDECAR}, for which nothing else speaks"
    return no_manifest(described.url, f"uploaded by a program that writes none; {said}")


def check_readable(folder: Path, name: str, where: str) -> None:
    """Read a result table to its end; ``where`` names it in problems.

    Raises:
        Failure: it cannot be read, or is empty (exit 1).
    """
    if problems := [replace(problem, where=where, fix=UPLOAD_AGAIN) for problem in check_table(folder, name)]:
        raise Failure(problems)


def _proved(store: ObjectStore, key: str, name: str, facts: HostedObject, described: Description) -> Proof:
    """An object read back, whose content is what such an object should have."""
    where = f"{store.url}/{key}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        read = bring_object(store, key, facts, path)
        if name in ZIPS:
            check_zip(path, where, listed=described.files_of(name))
        elif name.endswith(".parquet"):
            check_readable(Path(folder), name, where)
    return Proof(name, read.size, str(read.sha256), _shown(name, described))


def _shown(name: str, described: Description) -> str:
    if name != layout.SIDECAR and described.sidecar is not None:
        said = "the files in it are those" if name in ZIPS else "size and digest are those"
        return f"read back: {said} that {layout.SIDECAR} lists"
    if name in ZIPS:
        return "read back: the checksum of every file in it holds"
    return "read back whole" + (": every row can be read" if name.endswith(".parquet") else "")
