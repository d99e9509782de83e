"""The rows that may be a run's, for many runs at once: what is asked for, and which of what came is whose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchwright.evaldb.names import is_hash, is_run_name
from benchwright.evaldb.registry import Registry
from benchwright.evaldb.rows import JobRow

Reason = Literal["id", "job-name", "pair", "misnamed-benchmark"]


@dataclass(frozen=True, slots=True)
class RunNames:
    """What a run is called: by its ``models`` and ``benchmarks`` (all their names), its folders, its rows' ids."""

    models: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    job_names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row that may be a run's, and why it was found.

    ``id`` and ``job-name``: the row says so itself. ``pair``: it is of the same model and benchmark.
    ``misnamed-benchmark``: of the same model, and of a benchmark whose name is a hash or a run's.
    """

    row: JobRow
    by: tuple[Reason, ...]


class RunRows:
    """Rows of jobs, each once and oldest first, and which of them may be which run's."""

    def __init__(self, rows: Sequence[JobRow], names: Registry) -> None:
        self._rows, self._names = rows, names
        self._by_id: dict[str, list[int]] = defaultdict(list)
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_model: dict[str, list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            self._by_id[row.id].append(place)
            self._by_name[row.job_name].append(place)
            self._by_model[row.model_id].append(place)
        self._found: dict[tuple[int, tuple[Reason, ...]], FoundRow] = {}

    def of(self, run: RunNames) -> tuple[FoundRow, ...]:
        """Every row that may be a run's, oldest first. What several runs find for the same reasons is one object."""
        reasons: dict[int, tuple[Reason, ...]] = {}
        for by, index, keys in (
            ("id", self._by_id, (id.lower() for id in run.ids)),
            ("job-name", self._by_name, run.job_names),
        ):
            for place in _places(index, keys):
                reasons[place] = (*reasons.get(place, ()), by)  # type: ignore[arg-type]
        benchmarks = {row.id for row in self._names.benchmark_family(run.benchmarks)}
        misnamed: dict[str | None, bool] = {None: False}
        for place in _places(self._by_model, (row.id for row in self._names.model_family(run.models))):
            row = self._rows[place]
            if row.benchmark_id in benchmarks:
                reasons[place] = (*reasons.get(place, ()), "pair")
                continue
            if row.benchmark not in misnamed:
                misnamed[row.benchmark] = _is_misnamed(row.benchmark or "", run)
            if misnamed[row.benchmark]:
                reasons[place] = (*reasons.get(place, ()), "misnamed-benchmark")
        return tuple(self._one(place, reasons[place]) for place in sorted(reasons))

    def _one(self, place: int, by: tuple[Reason, ...]) -> FoundRow:
        key = (place, by)
        if key not in self._found:
            self._found[key] = FoundRow(self._rows[place], by)
        return self._found[key]


def _places(index: Mapping[str, list[int]], keys: Iterable[str]) -> Iterable[int]:
    return (place for key in dict.fromkeys(keys) for place in index.get(key, ()))


def _is_misnamed(benchmark: str, run: RunNames) -> bool:
    return is_hash(benchmark) or is_run_name(benchmark, models=run.models, run_names=run.job_names)
