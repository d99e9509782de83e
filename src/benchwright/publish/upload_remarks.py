"""What a maintainer should know of an upload although it stops nothing."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure, Problem
from benchwright.objects import StoreLocation
from benchwright.processing import layout
from benchwright.processing.findings import DECLARED
from benchwright.publish.artifact import DeclaredArtifact
from benchwright.publish.artifact_checks import machine_path
from benchwright.publish.destination import destination_of
from benchwright.publish.hosted import PROCESSED_ZIP, RAW_ZIP, ZIPS

_TOLD = ("protocol-disputed", DECLARED)
"""The findings that are repeated word for word: what the results do not bear out of what is said of them."""


def remarks(
    artifact: DeclaredArtifact, destination: StoreLocation, names: Sequence[str], upload_raw: bool
) -> Iterator[Problem]:
    """Everything worth saying of an artifact that is complete; ``names`` are the objects it is published as."""
    yield from _on_declaration(artifact, destination)
    yield from _on_processing(artifact)
    yield from _on_parts(artifact, names, upload_raw)


def _on_declaration(artifact: DeclaredArtifact, destination: StoreLocation) -> Iterator[Problem]:
    metadata = artifact.metadata
    if changed := artifact.changed_fields:
        said = ", ".join(f"{name} {new!r} (was {old!r})" for name, (old, new) in changed.items())
        fix = "where one is wrong: scripts/set_method_info.py MODULE:ATTR --set FIELD=VALUE, before --apply"
        yield Problem("metadata-updated", layout.METADATA, f"published as declared now: {said}", fix=fix)
    if metadata.date is None:
        fix = "scripts/set_method_info.py MODULE:ATTR --set date=YYYY-MM-DD"
        yield Problem("no-date", f"{metadata.method}: date", "not declared", "the day of the run", fix)
    if metadata.verified:
        fix = "unless they are: scripts/set_method_info.py MODULE:ATTR --set verified=false"
        yield Problem("verified", f"{metadata.method}: verified", "true", "results that someone signed off", fix)
    if (declared := _declared_location(metadata)) != destination:
        found = f"the metadata names {declared or 'no store'}, the upload goes to {destination}"
        words = shlex.join([metadata.method, metadata.suite, "--store", str(destination)])
        fix = f"colleagues need: scripts/fetch_method.py {words}"
        yield Problem("other-store", f"{metadata.method}: cache_kwargs", found, "one place", fix)
    if metadata.cache_kwargs.get("upload_as_public"):
        where, found = f"{metadata.method}: upload_as_public", "no object is made public by this program"
        yield Problem("not-public", where, found, "", "let the bucket's policy grant reading")


def _declared_location(metadata: MethodMetadata) -> StoreLocation | None:
    try:
        return destination_of(metadata, None)
    except Failure:
        return None


def _on_processing(artifact: DeclaredArtifact) -> Iterator[Problem]:
    sidecar = artifact.sidecar
    if sidecar is None:
        found = "not there: neither the validation protocol nor the files' digests could be compared"
        fix = "process again with scripts/run_process_method.py, which records them"
        yield Problem("no-sidecar", layout.SIDECAR, found, "an artifact that this program processed", fix)
    if sidecar is not None and (severe := [one.severity for one in sidecar.findings if one.severity != "context"]):
        counts = sorted(Counter(severe).items())
        # An error that nobody accepted has refused the upload before.
        said = ", ".join(f"{count} of severity {name}{' (accepted)' * (name == 'error')}" for name, count in counts)
        yield Problem("quality-findings", layout.SIDECAR, f"processing noted {said}", "", f"read {layout.SIDECAR}")
        yield from (one.problem() for one in sidecar.findings if one.code in _TOLD)
    if (named := machine_path(artifact.folder / layout.CONTEXT)) is not None:
        yield named


def _on_parts(artifact: DeclaredArtifact, names: Sequence[str], upload_raw: bool) -> Iterator[Problem]:
    metadata, folder = artifact.metadata, artifact.folder
    if metadata.method_type == "config" and layout.TRAJECTORIES not in names:
        found = "not there, so not published: one config was run"
        yield Problem("no-trajectories", layout.TRAJECTORIES, found, fix="nothing to do: only more configs make some")
    if PROCESSED_ZIP not in names:
        found = "not published: the metadata declares has_processed false"
        fix = "if it should be: scripts/set_method_info.py MODULE:ATTR --set has_processed=true, and process again"
        yield Problem("no-processed", PROCESSED_ZIP, found, fix=fix)
    if RAW_ZIP not in names and upload_raw:
        found = "not published: the metadata declares has_raw false"
        fix = "if it should be: declare has_raw true, and process again without --no-cache-raw"
        yield Problem("no-raw", RAW_ZIP, found, fix=fix)
    elif RAW_ZIP not in names:
        yield Problem("no-raw", RAW_ZIP, "not published: --no-upload-raw", fix="if it should be: leave that option out")
    known = {*names, layout.METADATA, *ZIPS.values()}
    top = [entry.name for entry in folder.iterdir() if entry.name not in (*known, layout.RESULTS)]
    results = folder / layout.RESULTS
    tables = [f"{layout.RESULTS}/{entry.name}" for entry in results.iterdir()] if results.is_dir() else []
    left_out = sorted([*top, *(name for name in tables if name not in known)])
    if left_out:
        found, fix = f"not published: {', '.join(left_out)}", "keep elsewhere what is still of use, and remove the rest"
        yield Problem("left-out", str(folder), found, "the files of an artifact", fix)
