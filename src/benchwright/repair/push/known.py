"""What the database has of a run before it is pushed: the names, the row, its trials, their tasks and usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchwright.evaldb import AgentRow, BenchmarkRow, EvalDatabase, ModelRow, Record
from benchwright.repair.push.trials import TrialRows

_TRIAL = ("id", "job_id", "reward")
_TASK = ("checksum", "source", "name")
_LINK = ("benchmark_id", "task_checksum")
_USAGE = ("trial_id", "model_id", "model_provider")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was read; without a database, nothing.

    ``row`` is the row under the run's id, ``of_row`` all trials of it; ``left_over`` are those that the run does not
    push, whole, and ``left_usage`` their usage. ``trials`` and ``tasks`` are those that the run
    has, by id and by checksum, ``task_names`` the checksums under (source, name), ``linked`` the tasks that benchmarks
    have, ``used`` the trials that have a usage row, ``agents_of`` the agents of other runs' rows.
    """

    agents: Sequence[AgentRow] = ()
    models: Sequence[ModelRow] = ()
    benchmarks: Sequence[BenchmarkRow] = ()
    row: Record | None = None
    of_row: Sequence[Record] = ()
    left_over: Sequence[Record] = ()
    left_usage: Sequence[Record] = ()
    trials: Mapping[str, Record] = field(default_factory=dict)
    tasks: frozenset[str] = frozenset()
    task_names: Mapping[tuple[str | None, str], str] = field(default_factory=dict)
    linked: frozenset[tuple[str, str]] = frozenset()
    used: frozenset[str] = frozenset()
    agents_of: Mapping[str, str] = field(default_factory=dict)


def read_known(database: EvalDatabase, row_id: str, trials: Sequence[TrialRows], others: Sequence[str] = ()) -> Known:
    """Everything that a plan compares with; ``others`` are the ids of other runs' rows.

    Raises:
        Failure: as ``EvalDatabase`` does.
    """
    ids = [one.row["id"] for one in trials]
    checksums = [one.task["checksum"] for one in trials]
    names = [one.task["name"] for one in trials]
    tasks = database.records("sandbox_tasks", "checksum", checksums, columns=_TASK)
    same_names = database.records("sandbox_tasks", "name", names, columns=_TASK)
    links = database.records("sandbox_benchmark_tasks", "task_checksum", checksums, columns=_LINK)
    jobs = database.records("sandbox_jobs", "id", others, columns=("id", "agent_id"))
    of_row = database.records("sandbox_trials", "job_id", [row_id], columns=_TRIAL)
    left = sorted({trial["id"] for trial in of_row} - {*ids})
    return Known(
        agents_of={job["id"]: job["agent_id"] for job in jobs},
        agents=database.agents(),
        models=database.models(),
        benchmarks=database.benchmarks(),
        row=next(iter(database.records("sandbox_jobs", "id", [row_id])), None),
        of_row=of_row,
        left_over=database.records("sandbox_trials", "id", left),
        left_usage=database.records("sandbox_trial_model_usage", "trial_id", left),
        trials={one["id"]: one for one in database.records("sandbox_trials", "id", ids, columns=_TRIAL)},
        tasks=frozenset(task["checksum"] for task in tasks),
        task_names={(task["source"], task["name"]): task["checksum"] for task in same_names},
        linked=frozenset((link["benchmark_id"], link["task_checksum"]) for link in links),
        used=frozenset(
            usage["trial_id"]
            for usage in database.records("sandbox_trial_model_usage", "trial_id", ids, columns=_USAGE)
        ),
    )
