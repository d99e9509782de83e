"""What an artifact holds besides the files of its splits: tables, the store's documents, sidecar, completion marker."""

from __future__ import annotations

import hashlib
import io
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from benchwright import __version__
from benchwright.processing.artifact_split import SplitPart, SplitPlan
from benchwright.processing.assembly import Assembly
from benchwright.processing.findings import Finding
from benchwright.processing.hiding import published
from benchwright.processing.layout import (
    HPO_RESULTS,
    METADATA,
    MODEL_RESULTS,
    SIDECAR,
    TASK_METADATA,
    TRAJECTORIES,
)
from benchwright.processing.recorded_folder import RecordedFolder
from benchwright.processing.sidecar import FileFacts, Inputs, Sidecar, digest_of
from benchwright.processing.store_tables import store_documents, stored_tables
from benchwright.processing.task_metadata import TaskTable, task_metadata
from benchwright.processing.trajectories import SplitTrajectory, hpo_trajectories
from benchwright.raw.protocol import Protocol
from benchwright.raw.protocols import Protocols

if TYPE_CHECKING:
    import pyarrow as pa

_COMPUTED_WITH = ("numpy", "pyarrow", "numba")


def write_results(folder: RecordedFolder, whole: Assembly, parts: Sequence[SplitPart], plan: SplitPlan) -> None:
    """Write ``results/*.parquet``; trajectories where the passes were run."""
    _write_table(folder, MODEL_RESULTS, whole.model_results)
    if whole.hpo_results is not None:
        _write_table(folder, HPO_RESULTS, whole.hpo_results)
    trajectories = [trajectory for part in parts if (trajectory := _trajectory(part)) is not None]
    if trajectories and whole.config_type is not None:
        configs = len({row.framework for row in whole.rows})
        _write_table(folder, TRAJECTORIES, hpo_trajectories(trajectories, configs, plan.metadata, whole.config_type))


def write_store(
    folder: RecordedFolder, whole: Assembly, parts: Sequence[SplitPart], plan: SplitPlan, tasks: TaskTable
) -> None:
    """Write the tables and documents of ``processed/``; the splits' predictions are there already."""
    for path, table in stored_tables(whole.rows, plan.metadata).items():
        _write_table(folder, path, table)
    facts = [part.facts for part in parts if part.facts is not None]
    _write_table(folder, TASK_METADATA, task_metadata(tasks, facts, plan.redact), compression="snappy")
    hyperparameters: dict[str, str] = {}
    for part in parts:  # the first split that has a config speaks for it
        hyperparameters = {**part.hyperparameters, **hyperparameters}
    stored = sorted((each.facts.dataset, each.facts.split) for each in parts if each.facts and each.hyperparameters)
    for path, text in store_documents(whole.rows, stored, hyperparameters).items():
        folder.write(path, text.encode())


def write_record(
    folder: RecordedFolder, whole: Assembly, parts: Sequence[SplitPart], plan: SplitPlan, findings: Sequence[Finding]
) -> Mapping[str, int]:
    """Write the sidecar and, last, ``metadata.yaml``; the counts of the sidecar."""
    metadata = plan.metadata
    text = metadata.to_yaml().encode()
    shown = protocols_of(parts)
    protocol = _protocol(shown, metadata.validation_protocol)
    counts = {
        "results": len(whole.rows),
        "configs": len({row.framework for row in whole.rows}),
        "datasets": len({row.dataset for row in whole.rows}),
        "splits": len({(row.dataset, row.split) for row in whole.rows}),
    }
    sidecar = Sidecar(
        method=metadata.method,
        suite=metadata.suite,
        validation_protocol=None if protocol is None else published(protocol, plan.redact),
        protocols={published(line, plan.redact): count for line, _, count in shown.histogram()},
        counts=counts,
        versions=_versions(),
        inputs=_inputs(parts),
        files={**folder.files, METADATA: FileFacts(len(text), hashlib.sha256(text).hexdigest())},
        findings=tuple(findings),
    )
    folder.write(SIDECAR, sidecar.to_json().encode())
    folder.write(METADATA, text)
    return counts


def protocols_of(parts: Sequence[SplitPart]) -> Protocols:
    """The validation protocols of all results."""
    protocols: Counter[Protocol] = Counter()
    for part in parts:
        protocols.update(part.protocols)
    return Protocols(protocols)


def _write_table(folder: RecordedFolder, path: str, table: pa.Table, compression: str = "gzip") -> None:
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table, content, compression=compression)
    folder.write(path, content.getvalue())


def _trajectory(part: SplitPart) -> SplitTrajectory | None:
    if part.outcome.trajectory is None:
        return None
    row = part.outcome.rows[0]
    return SplitTrajectory(row.dataset, row.split, row.problem_type, row.metric, part.outcome.trajectory)


def _protocol(protocols: Protocols, declared: str | None) -> str | None:
    """The declared key, if the results agree with it; else the one that is true of those that record any."""
    if declared is not None and not protocols.contradicting(declared):
        return declared
    return protocols.key if protocols.recorded else None


def _versions() -> dict[str, str]:
    versions = {"benchwright": __version__, "python": platform.python_version()}
    for package in _COMPUTED_WITH:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _inputs(parts: Sequence[SplitPart]) -> Inputs:
    digests = {part.place: part.inputs.sha256 for part in parts if part.inputs.files}
    files, size = (sum(getattr(part.inputs, name) for part in parts) for name in ("files", "size"))
    return Inputs(files, size, digest_of(digests))
