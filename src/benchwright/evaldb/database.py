"""The evaluation database as a whole: rows of every owner, with the names that their ids stand for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal
from uuid import UUID

from benchwright.evaldb.names import is_hash, is_run_name
from benchwright.evaldb.registry import Registry
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, JobRow, ModelRow
from benchwright.evaldb.source import Condition, Record, RowSource

_AT_ONCE = 100
"""Ids in one request: with more, the address of a PostgREST request grows past what proxies take."""

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


@dataclass(frozen=True, slots=True)
class Reference:
    """How many rows of a table point at a row through one column, by their owner, None where they have none.

    The owner is the user name of the job that a row is or belongs to, the creator of a model.
    """

    table: str
    column: str
    owner: str | None
    count: int


class EvalDatabase:
    """The read side of the evaluation database, the same over Postgres and Supabase.

    Names are read once, with the first call that needs one, and again where a job refers to one that is not among
    them. Rows come oldest first. Every call raises ``Failure`` as ``RowSource.select`` does, and then nothing is
    known: an empty answer is one that the database gave. Safe for use by several threads.
    """

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._registry: Registry | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> EvalDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._source.close()

    @property
    def place(self) -> str:
        """What the database is called in messages: ``postgres at HOST/NAME``, ``supabase at HOST``."""
        return self._source.place

    @property
    def sees_everything(self) -> bool:
        """Whether row-level security can hide no row from this connection."""
        return self._source.sees_everything

    def jobs(
        self,
        *,
        model: str | None = None,
        benchmark: str | None = None,
        job_name: str | None = None,
        run_id: str | None = None,
        since: datetime | None = None,
    ) -> tuple[JobRow, ...]:
        """The rows of jobs that meet everything given, of every owner.

        ``model`` and ``benchmark`` are names, and stand for all their rows (``Registry.model_family``), ``run_id`` is
        the row's id, ``since`` (an aware time) bounds its creation.
        """
        conditions = []
        families: list[tuple[str, list[str]]] = []
        if model is not None:
            families.append(("model_id", [row.id for row in self._names().model_family([model])]))
        if benchmark is not None:
            families.append(("benchmark_id", [row.id for row in self._names().benchmark_family([benchmark])]))
        if job_name is not None:
            conditions.append(Condition("job_name", "eq", job_name))
        if run_id is not None:
            if not _is_id(run_id):
                return ()
            conditions.append(Condition("id", "eq", run_id))
        if since is not None:
            conditions.append(Condition("created_at", "gte", since.astimezone(UTC).isoformat()))
        return self._rows(self._select_families("sandbox_jobs", families, conditions))

    def rows_of(self, run: RunNames) -> tuple[FoundRow, ...]:
        """Every row of any owner that may be a run's: a superset, whose members say why they are in it."""
        found: dict[str, tuple[JobRow, list[Reason]]] = {}

        def add(rows: Iterable[JobRow], reason: Reason) -> None:
            for row in rows:
                found.setdefault(row.id, (row, []))[1].append(reason)

        for run_id in dict.fromkeys(run.ids):
            add(self.jobs(run_id=run_id), "id")
        for job_name in dict.fromkeys(run.job_names):
            add(self.jobs(job_name=job_name), "job-name")
        models = [row.id for row in self._names().model_family(run.models)]
        benchmarks = {row.id for row in self._names().benchmark_family(run.benchmarks)}
        for row in self._rows(self._select_families("sandbox_jobs", [("model_id", models)], ())):
            if row.benchmark_id in benchmarks:
                add([row], "pair")
            elif row.benchmark and (
                is_hash(row.benchmark) or is_run_name(row.benchmark, models=run.models, run_names=run.job_names)
            ):
                add([row], "misnamed-benchmark")
        ordered = sorted(found.values(), key=lambda pair: _age(pair[0]))
        return tuple(FoundRow(row, tuple(reasons)) for row, reasons in ordered)

    def models(self) -> tuple[ModelRow, ...]:
        """Every row of ``models``."""
        return tuple(self._names().models.values())

    def benchmarks(self) -> tuple[BenchmarkRow, ...]:
        """Every row of ``benchmarks``."""
        return tuple(self._names().benchmarks.values())

    def agents(self) -> tuple[AgentRow, ...]:
        """Every row of ``agents``."""
        return tuple(self._names().agents.values())

    def models_named(self, name: str) -> tuple[ModelRow, ...]:
        """The rows of ``models`` with exactly this name; there may be several."""
        return tuple(row for row in self.models() if row.name == name)

    def siblings(self, *names: str) -> tuple[ModelRow, ...]:
        """The rows of ``models`` that are one of the models named under whatever name: see ``Registry.model_family``.

        A numeric id is a sibling of the model's name only where both are among ``names``.
        """
        return self._names().model_family(names)

    def records(
        self, table: str, column: str, values: Sequence[str], *, columns: tuple[str, ...] = ("*",)
    ) -> list[Record]:
        """The rows of a table, as they are stored, whose ``column`` is one of some values."""
        return self._select_families(table, [(column, list(dict.fromkeys(values)))], (), columns=columns)

    def references(self, table: Literal["models", "benchmarks"], id: str) -> tuple[Reference, ...]:
        """What points at a row, over all owners; none, and the row could go.

        For a model of many trials this asks once for every 100 of them.
        """
        if table == "models":
            counts = [
                *self._jobs_of("model_id", id),
                *self._usage_of(id),
                *self._models_of("base_model_id", id),
                *self._models_of("duplicate_of", id),
            ]
        else:
            duplicates = self._source.select("benchmarks", Condition("duplicate_of", "eq", id), columns=("id",))
            tasks = self._source.select(
                "sandbox_benchmark_tasks",
                Condition("benchmark_id", "eq", id),
                columns=("benchmark_id", "task_checksum"),
            )
            counts = [
                *self._jobs_of("benchmark_id", id),
                ("benchmarks", "duplicate_of", Counter[str | None]({None: len(duplicates)})),
                ("sandbox_benchmark_tasks", "benchmark_id", Counter[str | None]({None: len(tasks)})),
            ]
        return tuple(
            Reference(table_name, column, owner, count)
            for table_name, column, owners in counts
            for owner, count in sorted(owners.items(), key=lambda pair: (pair[0] is not None, pair[0] or ""))
            if count
        )

    def _jobs_of(self, column: str, id: str) -> Iterator[tuple[str, str, Counter[str | None]]]:
        records = self._source.select("sandbox_jobs", Condition(column, "eq", id), columns=("id", "username"))
        yield "sandbox_jobs", column, Counter(record["username"] for record in records)

    def _models_of(self, column: str, id: str) -> Iterator[tuple[str, str, Counter[str | None]]]:
        records = self._source.select("models", Condition(column, "eq", id), columns=("id", "created_by"))
        yield "models", column, Counter(record["created_by"] for record in records)

    def _usage_of(self, id: str) -> Iterator[tuple[str, str, Counter[str | None]]]:
        """The usage rows of a model, by the owner of the job that the row's trial is of."""
        table = "sandbox_trial_model_usage"
        columns = ("trial_id", "model_id", "model_provider")
        usage = self._source.select(table, Condition("model_id", "eq", id), columns=columns)
        trial_ids = sorted({record["trial_id"] for record in usage})
        trials = self._select_families("sandbox_trials", [("id", trial_ids)], (), columns=("id", "job_id"))
        job_of = {record["id"]: record["job_id"] for record in trials}
        job_ids = sorted({job for job in job_of.values() if job})
        jobs = self._select_families("sandbox_jobs", [("id", job_ids)], (), columns=("id", "username"))
        owner_of = {record["id"]: record["username"] for record in jobs}
        yield table, "model_id", Counter(owner_of.get(job_of.get(record["trial_id"])) for record in usage)

    def _select_families(
        self,
        table: str,
        families: list[tuple[str, list[str]]],
        conditions: Iterable[Condition],
        *,
        columns: tuple[str, ...] = ("*",),
    ) -> list[Record]:
        """The rows whose column is one of a family's ids, for each family; asked for in portions."""
        if not families:
            return self._source.select(table, *conditions, columns=columns)
        (column, ids), *others = families
        records = []
        for start in range(0, len(ids), _AT_ONCE):
            portion = Condition(column, "in", tuple(ids[start : start + _AT_ONCE]))
            records += self._select_families(table, others, [*conditions, portion], columns=columns)
        return records

    def _rows(self, records: list[Record]) -> tuple[JobRow, ...]:
        names = self._names()
        if any(
            record["model_id"] not in names.models
            or record["benchmark_id"] not in names.benchmarks
            or record["agent_id"] not in names.agents
            for record in records
        ):
            names = self._names(again=True)
        rows = (
            JobRow.of(
                record,
                agent=_name(names.agents.get(record["agent_id"])),
                model=_name(names.models.get(record["model_id"])),
                benchmark=_name(names.benchmarks.get(record["benchmark_id"])),
            )
            for record in records
        )
        return tuple(sorted(rows, key=_age))

    def _names(self, *, again: bool = False) -> Registry:
        with self._lock:
            if self._registry is None or again:
                self._registry = Registry.read(self._source)
            return self._registry


def _name(row: AgentRow | ModelRow | BenchmarkRow | None) -> str | None:
    return row.name if row else None


def _age(row: JobRow) -> tuple[bool, float, str]:
    """Oldest first; a row without a time of creation comes last."""
    return row.created_at is None, row.created_at.timestamp() if row.created_at else 0.0, row.id


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
