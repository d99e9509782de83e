"""The rows that a run's agent, model and benchmark mean: the one that is there, or the one to be made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from benchwright.contract import Exit, Failure, Problem, near_names, some, usage_error
from benchwright.evaldb import AgentRow, BenchmarkRow, ModelRow, Record
from benchwright.harbor.benchmarks import Benchmarks

NOBODY = str(UUID(int=0))
"""The agent that a model was trained with, for one that was not trained here; the column refers to no table."""
NO_TRAINING = "1970-01-01T00:00:00+00:00"
"""When such a model's training began."""
BENCHMARKS_FILE = "a file of the form of benchmarks.yaml: --benchmarks FILE"
_SNAPSHOT = re.compile(r"[0-9a-f]{40}")


_Row = TypeVar("_Row", AgentRow, BenchmarkRow, ModelRow)


@dataclass(frozen=True, slots=True)
class NamedRow:
    """What a name means: the id of the row, and the row to make where there is none."""

    id: str
    name: str
    record: Record | None = None


def row_called(rows: Sequence[_Row], table: str, name: str) -> _Row | None:
    """The row with a name, whatever its case where none has it to the letter; that of a duplicate's original.

    Raises:
        Failure: several rows have the name, and none is marked as a duplicate (code ``several-rows``, exit 5).
    """
    exact = [row for row in rows if row.name == name]
    found = exact or [row for row in rows if row.name.casefold() == name.casefold()]
    by_id = {row.id: row for row in rows}
    originals = {original.id: original for row in found for original in [_original(row, by_id)]}
    if len(originals) > 1:
        said = some(sorted(originals))
        fix = f"mark all but one as duplicates (duplicate_of) in {table}"
        problem = Problem("several-rows", name, f"rows {said} of {table} are all called that", "one row", fix)
        raise Failure(problem, exit=Exit.REFUSED)
    return next(iter(originals.values()), None)


def original_id(rows: Sequence[_Row], id: str) -> str:
    """The id of what a row is a duplicate of, its own where it is none."""
    by_id = {row.id: row for row in rows}
    return _original(by_id[id], by_id).id if id in by_id else id


def agent_row(rows: Sequence[AgentRow], name: str) -> NamedRow:
    """The agent's row."""
    return _meant(rows, "agents", name, {})


def model_row(rows: Sequence[ModelRow], name: str, creator: str) -> NamedRow:
    """The model's row. One to be made is a model from elsewhere, of whose training nothing is known."""
    location = f"https://huggingface.co/{name}" if "/" in name else name
    made: Record = {
        "created_by": creator,
        "creation_location": "external",
        "is_external": True,
        "weights_location": location,
        "training_start": NO_TRAINING,
        "training_parameters": {},
        "agent_id": NOBODY,
    }
    return _meant(rows, "models", name, made)


def benchmark_row(rows: Sequence[BenchmarkRow], name: str, version: str) -> NamedRow:
    """The benchmark's row; ``version`` is the hash of one to be made."""
    return _meant(rows, "benchmarks", name, {"benchmark_version_hash": version})


def benchmark_links(benchmark: NamedRow, version: str, checksums: Iterable[str]) -> list[Record]:
    """The rows that name the tasks of a benchmark that is made."""
    return [
        {
            "benchmark_id": benchmark.id,
            "benchmark_name": benchmark.name,
            "benchmark_version_hash": version,
            "task_checksum": checksum,
        }
        for checksum in sorted(set(checksums))
    ]


def version_hash(name: str, datasets: Iterable[str]) -> str:
    """The version hash of a benchmark: SHA-256 of its dataset's snapshot, or of its name where none is known."""
    parts = [part for dataset in datasets for part in dataset.split("/")]
    snapshots = {part for part in parts if _SNAPSHOT.fullmatch(part)}
    return hashlib.sha256((snapshots.pop() if len(snapshots) == 1 else name).encode()).hexdigest()


def check_known(name: str, rows: Iterable[BenchmarkRow], known: Benchmarks) -> None:
    """Whether a benchmark may be made under a name: one that is ``known``, since others may be misspelt.

    Raises:
        Failure: it is not (code ``benchmark-unknown``, exit 2).
    """
    if known.resolve(name) is None:
        ways = [near_names(name, {*known.names, *(row.name for row in rows)}), f"describe it in {BENCHMARKS_FILE}"]
        found = f"{name!a}, which neither the database has nor a file of benchmarks"
        fix = "; or ".join(filter(None, ways))
        raise usage_error("--benchmark-name", found, "a benchmark that is known", fix, code="benchmark-unknown")


def made_id(table: str, name: str) -> str:
    """The id of a row that is made here for a name: always the same, so that two who make it at once make one."""
    return str(uuid5(NAMESPACE_URL, f"benchwright:{table}:{name}"))


def _meant(rows: Sequence[_Row], table: str, name: str, made: Record) -> NamedRow:
    row = row_called(rows, table, name)
    if row is not None:
        return NamedRow(row.id, row.name)
    id = made_id(table, name)
    return NamedRow(id, name, {"id": id, "name": name} | made)


def _original(row: _Row, by_id: dict[str, _Row]) -> _Row:
    """What a duplicate is of in the end; a chain that leads back to itself, or nowhere, ends where it does so."""
    seen = {row.id}
    while row.duplicate_of is not None and row.duplicate_of in by_id and row.duplicate_of not in seen:
        row = by_id[row.duplicate_of]
        seen.add(row.id)
    return row
