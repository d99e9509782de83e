"""The names in the database: which rows of models, benchmarks and agents there are, and which of them are one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from benchwright.evaldb.names import model_key
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, ModelRow, RegisteredRow
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


_Row = TypeVar("_Row", bound=RegisteredRow)


class _Families(Generic[_Row]):
    """Rows by what they are one thing with: an equal name (by ``key``), or a link as duplicates in either direction."""

    def __init__(self, rows: Iterable[_Row], key: Callable[[str], str]) -> None:
        self._key = key
        self._head: dict[tuple[str, str], tuple[str, str]] = {}
        rows = sorted(rows, key=lambda row: (row.name, row.id))
        for row in rows:
            self._join(("id", row.id), ("name", key(row.name)))
            if row.duplicate_of:
                self._join(("id", row.id), ("id", row.duplicate_of))
        self._rows: dict[tuple[str, str], list[_Row]] = defaultdict(list)
        for row in rows:
            self._rows[self._of(("id", row.id))].append(row)

    def named(self, names: Iterable[str]) -> tuple[_Row, ...]:
        """The rows that are one of the things named, by their names."""
        heads = dict.fromkeys(self._of(("name", self._key(name))) for name in names)
        found = [row for head in heads for row in self._rows.get(head, ())]
        return tuple(sorted(found, key=lambda row: (row.name, row.id)))

    def _of(self, node: tuple[str, str]) -> tuple[str, str]:
        """What stands for everything that an id or a name is one with."""
        head = node
        while (above := self._head.get(head, head)) != head:
            head = above
        while (above := self._head.get(node, node)) != head:  # next time the way is short
            self._head[node], node = head, above
        return head

    def _join(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        self._head[self._of(one)] = self._of(other)


@dataclass(frozen=True, slots=True)
class Registry:
    """The rows of models, benchmarks and agents by their ids, as they were at one time."""

    models: Mapping[str, ModelRow]
    benchmarks: Mapping[str, BenchmarkRow]
    agents: Mapping[str, AgentRow]
    _of_model: _Families[ModelRow]
    _of_benchmark: _Families[BenchmarkRow]

    @classmethod
    def read(cls, source: RowSource) -> Registry:
        """Read all three tables.

        Raises:
            Failure: as for ``RowSource.select``.
        """
        models = [ModelRow.of(record) for record in source.select("models", columns=_MODEL_COLUMNS)]
        benchmarks = [BenchmarkRow.of(record) for record in source.select("benchmarks")]
        agents = [AgentRow.of(record) for record in source.select("agents")]
        return cls(
            _by_id(models),
            _by_id(benchmarks),
            _by_id(agents),
            _Families(models, model_key),
            _Families(benchmarks, str.casefold),
        )

    def model_family(self, names: Iterable[str]) -> tuple[ModelRow, ...]:
        """Every row that is one of the models named: the same name, the same behind a serving prefix, duplicates."""
        return self._of_model.named(names)

    def benchmark_family(self, names: Iterable[str]) -> tuple[BenchmarkRow, ...]:
        """Every row that is one of the benchmarks named: the same name, whatever its case, and duplicates."""
        return self._of_benchmark.named(names)


def _by_id(rows: Iterable[_Row]) -> dict[str, _Row]:
    return {row.id: row for row in rows}
