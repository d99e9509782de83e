"""The validation protocol of a run, by everyone who says one: its arena, the method's declaration or its artifact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import some
from benchwright.processing.layout import SIDECAR
from benchwright.processing.sidecar import Sidecar, read_sidecar
from benchwright.publish.run_log.records import SetUp

_MOST_LINES = 3


def protocol_text(
    set_ups: Sequence[SetUp],
    metadata: MethodMetadata | None,
    reference: str,
    suite: str | None,
    cache_root: Path | None,
) -> str:
    """The protocol's key and who says so, several where they differ; "" where nobody does.

    The arena's key is what its records require of a result. The method's is the declared one, or else the one in the
    sidecar of its artifact of ``suite`` (None: the declared suite) in the cache. Where that has no one key, since the
    results record none, or several, it is told what the results show.

    Raises:
        Failure: the sidecar is damaged.
    """
    said: dict[str, dict[str, None]] = {}
    sidecar = _sidecar(metadata, suite, cache_root)
    for key, source in (*_required(set_ups), *_of_the_method(metadata, reference, sidecar)):
        said.setdefault(key, {})[source] = None
    if said or sidecar is None or not sidecar.protocols:
        return "; ".join(f"`{key}`, as {' and '.join(sources)}" for key, sources in said.items())
    shown = some((f"{line} ({count:,})" for line, count in sidecar.protocols.items()), _MOST_LINES)
    return f"no one key; by {_named(sidecar)} the results show {shown}"


def _required(set_ups: Sequence[SetUp]) -> Iterator[tuple[str, str]]:
    for one in set_ups:
        if one.protocol:
            yield one.protocol, f"the arena `{one.plan['arena']}` requires by the plan record"


def _of_the_method(
    metadata: MethodMetadata | None, reference: str, sidecar: Sidecar | None
) -> Iterator[tuple[str, str]]:
    if metadata is not None and metadata.validation_protocol:
        yield metadata.validation_protocol, f"`{reference}` declares"
    elif sidecar is not None and sidecar.validation_protocol:
        yield sidecar.validation_protocol, f"{_named(sidecar)} records"


def _sidecar(metadata: MethodMetadata | None, suite: str | None, cache_root: Path | None) -> Sidecar | None:
    """That of a method's artifact, where its declaration leaves the protocol open."""
    if metadata is None or metadata.validation_protocol:
        return None
    artifact = replace(metadata, suite=suite or metadata.suite, artifact_dir=None, cache_root=cache_root)
    return read_sidecar(artifact.path) if (artifact.path / SIDECAR).exists() else None


def _named(sidecar: Sidecar) -> str:
    return f"the `{SIDECAR}` of `{sidecar.method}` in the suite `{sidecar.suite}`"
