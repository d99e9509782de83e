"""The evaluation database as a whole: rows of every owner, with the names that their ids stand for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from benchwright.contract import Failure
from benchwright.evaldb.registry import Registry
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, JobRow, ModelRow, RegisteredRow
from benchwright.evaldb.run_rows import FoundRow, RunNames, RunRows
from benchwright.evaldb.source import Condition, Record, RowSource, too_long


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

    def __exit__(self, *_: object) -> None:
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
        if model is not None:
            conditions.append(_one_of("model_id", (row.id for row in self._names().model_family([model]))))
        if benchmark is not None:
            conditions.append(_one_of("benchmark_id", (row.id for row in self._names().benchmark_family([benchmark]))))
        if job_name is not None:
            conditions.append(Condition("job_name", "eq", job_name))
        if run_id is not None:
            if not _is_id(run_id):
                return ()
            conditions.append(Condition("id", "eq", run_id))
        if since is not None:
            conditions.append(Condition("created_at", "gte", since.astimezone(UTC).isoformat()))
        return self._rows(self._source.select("sandbox_jobs", *conditions))

    def rows_of(self, runs: Sequence[RunNames]) -> list[tuple[FoundRow, ...] | Failure]:
        """For each run every row of any owner that may be its: a superset, whose members say why they are in it.

        All runs are asked for together, each row once. A run whose names are too long to be asked for has a failure in
        the place of its rows: whether there is one is not known.
        """
        long = [next((name for name in run.job_names if not self._source.takes(name)), None) for run in runs]
        asked = [run for run, name in zip(runs, long, strict=True) if name is None]
        names = self._names()
        found: dict[str, Record] = {}
        for column, values in (
            ("id", (id for run in asked for id in run.ids if _is_id(id))),
            ("job_name", (name for run in asked for name in run.job_names)),
            ("model_id", (row.id for row in names.model_family(name for run in asked for name in run.models))),
        ):
            records = self._source.select("sandbox_jobs", _one_of(column, values))
            found |= {record["id"]: record for record in records}
        rows = RunRows(self._rows(list(found.values())), self._names())
        return [
            rows.of(run) if name is None else too_long(self.place, "a job's name", name)
            for run, name in zip(runs, long, strict=True)
        ]

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
        return self._source.select(table, _one_of(column, values), columns=columns)

    def references(self, table: Literal["models", "benchmarks"], id: str) -> tuple[Reference, ...]:
        """What points at a row, over all owners; none, and the row could go."""
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
        trials = self.records("sandbox_trials", "id", trial_ids, columns=("id", "job_id"))
        job_of = {record["id"]: record["job_id"] for record in trials}
        job_ids = sorted({job for job in job_of.values() if job})
        jobs = self.records("sandbox_jobs", "id", job_ids, columns=("id", "username"))
        owner_of = {record["id"]: record["username"] for record in jobs}
        yield table, "model_id", Counter(owner_of.get(job_of.get(record["trial_id"])) for record in usage)

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


def _one_of(column: str, values: Iterable[str]) -> Condition:
    return Condition(column, "in", tuple(dict.fromkeys(values)))


def _name(row: RegisteredRow | None) -> str | None:
    return row.name if row else None


def _age(row: JobRow) -> tuple[bool, float, str]:
    """Oldest first; a row without a time of creation comes last."""
    return row.created_at is None, row.created_at.timestamp() if row.created_at else 0.0, row.id


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
