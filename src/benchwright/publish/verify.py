"""Proof of a hosted artifact: every object that should be there is read back whole and compared."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from benchwright.contract import Problem, Progress
from benchwright.objects import ObjectStore, survey
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.description import UPLOAD_AGAIN, Description, missing
from benchwright.publish.hosted import MANIFEST, Manifest, key_prefix, no_manifest, read_manifest
from benchwright.publish.proof import Proof, Verification, kept, prove_object, stray
from benchwright.publish.unlisted import verify_unlisted
from benchwright.publish.upload_plan import UploadPlan

LOCAL_FILES = "the files of the local artifact"
"""The basis of a verification against what is here."""


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
            problems.append(missing(f"{store.url}/{prefix}/{name}"))
        else:
            with kept(problems, UPLOAD_AGAIN):
                read = prove_object(store, info.key, facts)
                proofs.append(Proof(name, read.size, str(read.sha256), "read back: size and digest as expected"))
        count(facts.size)
    remarks = [stray(store, info) for info in seen.unexpected if info.key != f"{prefix}/{MANIFEST}"]
    with kept(problems):
        hosted = read_manifest(store, expected.method, expected.suite)
        if hosted is None:
            said = "who fetches the artifact cannot compare digests"
            remarks.append(no_manifest(f"{store.url}/{prefix}", said))
        elif hosted.manifest.objects != expected.objects:
            where, found = f"{store.url}/{prefix}/{MANIFEST}", "the manifest of another artifact"
            problems.append(Problem("manifest-differs", where, found, "the objects of this one", UPLOAD_AGAIN))
    return Verification(f"{store.url}/{prefix}", basis, tuple(proofs), tuple(problems), tuple(remarks))


def verify_plan(store: ObjectStore, plan: UploadPlan, *, progress: Progress | None = None) -> Verification:
    """Verify an artifact of which there is a local copy, planned as it was uploaded.

    Raises:
        Failure: as the store does.
    """
    return verify_objects(store, plan.manifest, basis=LOCAL_FILES, count=ByteCount(progress, plan.size))


def verify_hosted(store: ObjectStore, method: str, suite: str, *, progress: Progress | None = None) -> Verification:
    """Verify an artifact of which there is no local copy: against its manifest, else as far as it speaks for itself.

    Beside that, what it says of itself has to agree with the objects that there are.

    Raises:
        Failure: nothing is hosted there (code ``not-hosted``, exit 1), and as the store does.
    """
    hosted = read_manifest(store, method, suite)
    if hosted is None:
        return verify_unlisted(store, method, suite, progress)
    objects = hosted.manifest.objects
    count = ByteCount(progress, sum(facts.size for facts in objects.values()))
    proved = verify_objects(store, hosted.manifest, basis=f"the digests in {MANIFEST}", count=count)
    whole = {proof.name: objects[proof.name] for proof in proved.proofs}
    with tempfile.TemporaryDirectory() as folder:
        described = Description.bring(store, method, suite, whole, Path(folder))
    problems = [*proved.problems, *described.problems, *described.contradictions(objects)]
    problems += described.not_listed(objects)
    return replace(proved, problems=tuple(problems))
