"""Names put right: a row points at the right model or benchmark, and the wrong one goes if nothing else needs it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar
from uuid import UUID

from benchwright.audit.model_names import plain_model
from benchwright.contract import Exit, Failure, Problem, counted, near_names, some, usage_error
from benchwright.evaldb import (
    BenchmarkRow,
    Call,
    EvalDatabase,
    Insert,
    JobRow,
    ModelRow,
    Record,
    Reference,
    Update,
    Write,
    is_hash,
    is_numeric_model,
    is_run_name,
    model_key,
)
from benchwright.harbor.benchmarks import Benchmarks
from benchwright.repair.own_row import OwnRow
from benchwright.repair.push.identity import Asked
from benchwright.repair.push.names import (
    BENCHMARKS_FILE,
    NamedRow,
    benchmark_links,
    benchmark_row,
    model_row,
    version_hash,
)
from benchwright.repair.registration.undo_file import Repair

_Row = TypeVar("_Row", ModelRow, BenchmarkRow)
_COUNTS = ("n_input_tokens", "n_output_tokens")


@dataclass(slots=True)
class _Steps:
    """A repair of a row while it is planned."""

    database: EvalDatabase
    row: JobRow
    wanted: str
    plan: list[Write] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, write: Write, change: str) -> None:
        self.plan.append(write)
        self.changes.append(change)

    def repair(self, what: str) -> Repair:
        return Repair(
            what=what,
            subject=self.row.id,
            owner=self.row.username,
            place=self.database.place,
            plan=tuple(self.plan),
            wanted=self.wanted,
            changes=tuple(self.changes),
            remarks=tuple(self.remarks),
        )


def fix_model(database: EvalDatabase, own: OwnRow, name: str) -> Repair:
    """The row, and the usage of its own trials, point at the model ``name``; a number that nothing names any more goes.

    A model that is not there is made, as a push makes it.

    Raises:
        Failure: the name is none, or the database has several such models (exit 2); it is a server's number, or the row
            has the name of another model already (code ``other-name``), exit 5; or as ``EvalDatabase.records``.
    """
    row = own.row
    right = _right_model(database, row, name)
    steps = _Steps(database, row, right.id)
    trials = database.records("sandbox_trials", "job_id", [row.id], columns=("id",))
    usage = database.records("sandbox_trial_model_usage", "trial_id", [trial["id"] for trial in trials])
    wrong = _wrong_model(database.models(), row, right, usage)
    if wrong is None:
        return steps.repair("fix-model")
    if right.record is not None:
        steps.add(Insert("models", right.record), f"model {right.name} ({right.id}), which is not there -> made")
    if row.model_id != right.id:
        steps.add(_repoint(row, "model_id", right.id), f"row {row.id}: model {row.model} -> {right.name}")
    wanted = repointed(usage, wrong.id, right.id)
    moved = sum(one["model_id"] == wrong.id for one in usage)
    if moved:
        merged = f", {counted(len(usage) - len(wanted), 'row')} merged" if len(wanted) < len(usage) else ""
        steps.add(
            Call("change_usage", {"row_owner": row.username, "target": row.id, "seen": usage, "wanted": wanted}),
            f"{counted(moved, 'usage row')} of its trials: model {wrong.name} -> {right.name}{merged}",
        )
    if is_numeric_model(wrong.name):
        others = _others(database.references("models", wrong.id), row, moved)
        if others:
            steps.remarks.append(f"the model {wrong.name} stays: {others}")
        else:
            (record,) = database.records("models", "id", [wrong.id])
            gone = f"model {wrong.name} ({wrong.id}), to which nothing refers then -> gone"
            steps.add(Call("drop_model", {"model": record}), gone)
    return steps.repair("fix-model")


def fix_benchmark(database: EvalDatabase, own: OwnRow, name: str, known: Benchmarks) -> Repair:
    """The row points at the benchmark ``name``; a hash or a run's name to which nothing refers any more goes.

    One that is ``known`` and not there is made, as a push makes it, with the tasks of the row's trials.

    Raises:
        Failure: there is no such benchmark, or several (exit 2); or as for ``fix_model``.
    """
    row = own.row
    wrong = next((one for one in database.benchmarks() if one.id == row.benchmark_id), None)
    right = _right_benchmark(database, row, name, known, wrong)
    steps = _Steps(database, row, right.id)
    if row.benchmark_id == right.id:
        return steps.repair("fix-benchmark")
    if wrong is None or not _is_misnamed(wrong.name, [row.model] if row.model else [], row.job_name):
        raise _other_name(row, "benchmark", row.benchmark, name)
    if right.record is not None:
        made = f"benchmark {right.name} ({right.id}), which is not there -> made"
        steps.add(Insert("benchmarks", right.record), made)
        trials = database.records("sandbox_trials", "job_id", [row.id], columns=("id", "task_checksum"))
        version = right.record["benchmark_version_hash"]
        links = benchmark_links(right, version, (trial["task_checksum"] for trial in trials))
        steps.plan += [Insert("sandbox_benchmark_tasks", link) for link in links]
    change = f"row {row.id}: benchmark {row.benchmark} -> {right.name}"
    steps.add(_repoint(row, "benchmark_id", right.id), change)
    others = _others(database.references("benchmarks", wrong.id), row)
    if others:
        steps.remarks.append(f"the benchmark {wrong.name} stays: {others}")
    else:
        gone = f"benchmark {wrong.name} ({wrong.id}), to which nothing refers then -> gone"
        steps.add(_drop_benchmark(database, wrong), gone)
    return steps.repair("fix-benchmark")


def drop_orphan_benchmark(database: EvalDatabase, name: str, owner: str) -> Repair:
    """A benchmark that is a hash or a run's name goes, with its tasks, if no row of anyone refers to it.

    Raises:
        Failure: there is no such benchmark (exit 2); it has a proper name (code ``proper-name``), or something refers
            to it (``still-referenced``), exit 5; or as ``EvalDatabase.records``.
    """
    rows = database.benchmarks()
    wrong = _called(rows, name, "benchmark")
    if wrong is None:
        raise _none_called(name, "benchmark", (row.name for row in rows))
    if not _is_misnamed(wrong.name, [model.name for model in database.models()], ""):
        found = f"{wrong.name} is neither a hash nor the name of a run"
        problem = Problem(
            "proper-name", f"benchmark {wrong.id}", found, "a benchmark that nobody meant to make", "leave it"
        )
        raise Failure(problem, exit=Exit.REFUSED)
    others = _others(database.references("benchmarks", wrong.id))
    if others:
        fix = "leave it; its own rows are moved with fix-benchmark --row ID --benchmark-name NAME"
        problem = Problem("still-referenced", f"benchmark {wrong.name}", others, "no row of anyone", fix)
        raise Failure(problem, exit=Exit.REFUSED)
    return Repair(
        what="drop-orphan-benchmark",
        subject=subject_of(name),
        owner=owner,
        place=database.place,
        plan=(_drop_benchmark(database, wrong),),
        changes=(f"benchmark {wrong.name} ({wrong.id}), to which nothing refers -> gone",),
    )


def subject_of(name: str) -> str:
    """A benchmark's name as part of a file's: it is there no more when a deletion that was cut off is picked up."""
    return name if re.fullmatch(r"[\w-]{1,80}", name) else hashlib.sha256(name.encode(errors="replace")).hexdigest()


def repointed(usage: Sequence[Record], wrong: str, right: str) -> list[Record]:
    """Usage rows with one model in another's place; two that become one are merged.

    Equal counts are one call's, registered twice, and stay as they are; others add up.
    """
    found: dict[tuple[str, str, str], Record] = {}
    for one in sorted(usage, key=lambda row: row["model_id"] == wrong):  # what is right already comes first
        moved = {**one, "model_id": right} if one["model_id"] == wrong else one
        key = (moved["trial_id"], moved["model_id"], moved["model_provider"])
        there = found.get(key)
        if there is None:
            found[key] = moved
        elif any(there[name] != moved[name] for name in _COUNTS):
            found[key] = {**there, **{name: _sum(there[name], moved[name]) for name in _COUNTS}}
    return sorted(found.values(), key=lambda row: (row["trial_id"], row["model_id"], row["model_provider"]))


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def _wrong_model(models: Sequence[ModelRow], row: JobRow, right: NamedRow, usage: Sequence[Record]) -> ModelRow | None:
    """The model that stands where ``right`` should: the row's, or one that is left in the usage of its trials."""
    if row.model_id != right.id:
        wrong = next((one for one in models if one.id == row.model_id), None)
        is_sibling = wrong is not None and model_key(wrong.name) == model_key(right.name)
        if wrong is None or not (is_numeric_model(wrong.name) or is_sibling):
            raise _other_name(row, "model", row.model, right.name)
        return wrong
    used = {one["model_id"] for one in usage}
    left = [one for one in models if one.id in used and is_numeric_model(one.name)]
    return left[0] if len(left) == 1 else None


def _is_misnamed(name: str, models: Sequence[str], job_name: str) -> bool:
    return is_hash(name) or is_run_name(name, models=models, run_names=(job_name,))


def _right_model(database: EvalDatabase, row: JobRow, name: str) -> NamedRow:
    """The model with a name, or with that id; one that is not there is to be made, of the name without its prefix."""
    found = _called(database.models(), name, "model")
    if found is not None:
        Asked(model=found.name).check_meant(row.job_name)
        return NamedRow(found.id, found.name)
    if _is_id(name):
        raise _none_called(name, "model", ())
    Asked(model=name).check(row.job_name)
    return model_row(database.models(), plain_model(name) or name, row.username)


def _right_benchmark(
    database: EvalDatabase, row: JobRow, name: str, known: Benchmarks, wrong: BenchmarkRow | None
) -> NamedRow:
    """The benchmark with a name, or with that id; one that is not there is to be made where it is ``known``."""
    rows = database.benchmarks()
    found = _called(rows, name, "benchmark")
    meant = known.resolve(name) if found is None else None
    if right := found or meant:
        Asked(benchmark=right.name).check_meant(row.job_name, [row.model] if row.model else [])
    if found is not None:
        return NamedRow(found.id, found.name)
    if meant is None:
        raise _none_called(
            name, "benchmark", {*known.names, *(row.name for row in rows)}, f"describe it in {BENCHMARKS_FILE}"
        )
    return benchmark_row(rows, meant.name, version_hash(meant.name, [wrong.name] if wrong is not None else []))


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False


def _called(rows: Sequence[_Row], name: str, noun: Literal["model", "benchmark"]) -> _Row | None:
    """The one row with a name, or with that id."""
    found = [row for row in rows if name in (row.name, row.id)]
    found = [row for row in found if row.duplicate_of is None] or found
    if len(found) > 1:
        ids = f"one of {some((row.id for row in found), 10)}"
        option = f"--{noun}-name"
        raise usage_error(option, f"{len(found)} {noun}s are called {name}", "one", f"name it by its id, {ids}")
    return found[0] if found else None


def _none_called(name: str, noun: Literal["model", "benchmark"], names: Iterable[str], way_out: str = "") -> Failure:
    fix = "; or ".join(filter(None, [near_names(name, names), way_out])) or f"--{noun}-name NAME, by its name or its id"
    found = f"no {noun} is called {name!r}"
    return usage_error(f"--{noun}-name", found, f"the name of a {noun} that is there", fix, code=f"no-such-{noun}")


def _other_name(row: JobRow, noun: str, present: str | None, name: str) -> Failure:
    found = f"its {noun} is {present}, which is a name, and not {name}"
    problem = Problem(
        "other-name", f"row {row.id}", found, f"a {noun} that nobody meant to name", "ask whose run it is"
    )
    return Failure(problem, exit=Exit.REFUSED)


def _repoint(row: JobRow, column: Literal["model_id", "benchmark_id"], right: str) -> Update:
    """The row with another model or benchmark, as long as it is the row that was read."""
    read = {"job_name": row.job_name, column: getattr(row, column)}
    return Update("sandbox_jobs", {"id": row.id}, row.username, read=read, values={column: right})


def _drop_benchmark(database: EvalDatabase, wrong: BenchmarkRow) -> Call:
    (record,) = database.records("benchmarks", "id", [wrong.id])
    tasks = database.records("sandbox_benchmark_tasks", "benchmark_id", [wrong.id])
    return Call("drop_benchmark", {"benchmark": record, "tasks": tasks})


def _others(references: Sequence[Reference], row: JobRow | None = None, moved: int = 0) -> str:
    """What refers to a model or benchmark beside the row that leaves it and its ``moved`` usage rows, by owner."""
    found = []
    for one in references:
        own = row is not None and one.owner == row.username
        leaving = {"sandbox_jobs": 1, "sandbox_trial_model_usage": moved}.get(one.table, 0) if own else 0
        if one.count > leaving and one.table != "sandbox_benchmark_tasks":
            whose = f" of {one.owner}" if one.owner else ""
            found.append(f"{one.count - leaving:,} of {one.table}{whose}")
    return f"{some(found)} refer to it" if found else ""
