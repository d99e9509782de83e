"""The names in the database: which rows of models, benchmarks and agents there are, and which of them are one thing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from benchwright.evaldb.names import model_key
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, ModelRow
from benchwright.evaldb.source import RowSource

_MODEL_COLUMNS = (
    "id",
    "name",
    "duplicate_of",
    "base_model_id",
    "created_by",
    "creation_time",
    "weights_location",
    "is_external",
)
"""Not the training parameters, which are most of such a row."""


class _Named(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def duplicate_of(self) -> str | None: ...


_Row = TypeVar("_Row", bound=_Named)


@dataclass(frozen=True, slots=True)
class Registry:
    """The rows of models, benchmarks and agents by their ids, as they were at one time."""

    models: Mapping[str, ModelRow]
    benchmarks: Mapping[str, BenchmarkRow]
    agents: Mapping[str, AgentRow]

    @classmethod
    def read(cls, source: RowSource) -> Registry:
        """Read all three tables.

        Raises:
            Failure: as for ``RowSource.select``.
        """
        models = (ModelRow.of(record) for record in source.select("models", columns=_MODEL_COLUMNS))
        benchmarks = (BenchmarkRow.of(record) for record in source.select("benchmarks"))
        agents = (AgentRow.of(record) for record in source.select("agents"))
        return cls(_by_id(models), _by_id(benchmarks), _by_id(agents))

    def model_family(self, names: Iterable[str]) -> tuple[ModelRow, ...]:
        """Every row that is one of the models named: the same name, the same behind a serving prefix, duplicates."""
        return _family(self.models.values(), names, model_key)

    def benchmark_family(self, names: Iterable[str]) -> tuple[BenchmarkRow, ...]:
        """Every row that is one of the benchmarks named: the same name, whatever its case, and duplicates."""
        return _family(self.benchmarks.values(), names, str.casefold)


def _by_id(rows: Iterable[_Row]) -> dict[str, _Row]:
    return {row.id: row for row in rows}


def _family(rows: Collection[_Row], names: Iterable[str], key: Callable[[str], str]) -> tuple[_Row, ...]:
    """The rows with one of the names, and those that are linked to one as duplicates, in either direction."""
    keys, ids = {key(name) for name in names}, set[str]()
    size = -1
    while size != len(keys) + len(ids):
        size = len(keys) + len(ids)
        for row in rows:
            if row.id in ids or key(row.name) in keys or row.duplicate_of in ids:
                ids |= {row.id} | ({row.duplicate_of} if row.duplicate_of else set())
                keys.add(key(row.name))
    return tuple(sorted((row for row in rows if row.id in ids), key=lambda row: (row.name, row.id)))
