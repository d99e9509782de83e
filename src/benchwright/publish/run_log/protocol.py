"""The validation protocol of a run, by everyone who says one: its arena, the method's declaration or its artifact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.processing import read_sidecar
from benchwright.processing.layout import SIDECAR
from benchwright.publish.run_log.records import SetUp


def protocol_text(
    set_ups: Sequence[SetUp],
    metadata: MethodMetadata | None,
    reference: str,
    suite: str | None,
    cache_root: Path | None,
) -> str:
    """The protocol's key and who says so, several where they differ; "" where nobody does.

    The arena's key is what its records require of a result. The method's is the declared one, or else the one in the
    sidecar of its artifact of ``suite`` (None: the declared suite) in the cache.

    Raises:
        Failure: the sidecar is damaged.
    """
    said: dict[str, dict[str, None]] = {}
    for key, source in (*_required(set_ups), *_of_the_method(metadata, reference, suite, cache_root)):
        said.setdefault(key, {})[source] = None
    return "; ".join(f"`{key}`, as {' and '.join(sources)}" for key, sources in said.items())


def _required(set_ups: Sequence[SetUp]) -> Iterator[tuple[str, str]]:
    for one in set_ups:
        if one.protocol:
            yield one.protocol, f"the arena `{one.plan['arena']}` requires by the plan record"


def _of_the_method(
    metadata: MethodMetadata | None, reference: str, suite: str | None, cache_root: Path | None
) -> Iterator[tuple[str, str]]:
    if metadata is None:
        return
    if metadata.validation_protocol:
        yield metadata.validation_protocol, f"`{reference}` declares"
        return
    artifact = replace(metadata, suite=suite or metadata.suite, artifact_dir=None, cache_root=cache_root)
    if (artifact.path / SIDECAR).exists() and (key := read_sidecar(artifact.path).validation_protocol):
        yield key, f"the `{SIDECAR}` of `{artifact.method}` in the suite `{artifact.suite}` records"
