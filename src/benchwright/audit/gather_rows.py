"""Facts from the database: the rows that may be a run's, of every owner, and what each shows by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal

from benchwright.audit.facts import EvalFacts, JobFacts, RowFacts
from benchwright.audit.gather_job import ran_during
from benchwright.audit.row_gates import row_fails
from benchwright.audit.run import Leg, Run
from benchwright.audit.scheduler import Scheduler, Standing
from benchwright.audit.trace_names import repo_of_link
from benchwright.contract import Failure
from benchwright.evaldb import EvalDatabase, FoundRow, JobRow, duplicates, metrics_of, model_key, row_health
from benchwright.evaldb.rows import ENDED
from benchwright.slurm import is_job_id

_APART = timedelta(days=1)
"""How far a row's time of submission and the scheduler's may be apart, and it still be the same job."""
_GONE = timedelta(days=7)
"""A job that no scheduler here knows, and whose row has shown no sign for longer than any job may run, is not live.

So is one that its row does not name."""

_MISFILED = frozenset({"hash-benchmark", "run-dir-benchmark", "other-benchmark"})

NOT_ALL_VISIBLE = "this key may not see every row"
SEES_ALL = "use SUPABASE_SERVICE_ROLE_KEY, or DATABASE_URL"

OfRun = Literal["yes", "no", "maybe"]


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The rows that may be a run's. Where ``whole`` is False there may be others, which this connection may not see.

    ``by_trials`` are the ids of those that nothing else tells, and whose trials all are the run's, by Harbor's ids.
    """

    rows: tuple[FoundRow, ...]
    whole: bool
    by_trials: frozenset[str] = frozenset()

    @property
    def job_ids(self) -> frozenset[str]:
        """The jobs of the scheduler that any of the rows names."""
        ids = (found.row.slurm_job_id for found in self.rows)
        return frozenset(id for id in ids if id and is_job_id(id))

    def scheduler_jobs(self, run: Run, now: datetime) -> dict[str, bool]:
        """The scheduler's jobs in rows that bear the run's ids or its name, and whether a row waits for each.

        No row waits that has ended, or that has shown no sign for longer than any job may run.
        """
        jobs: dict[str, bool] = {}
        for found in self.rows:
            row = found.row
            if row.slurm_job_id and is_job_id(row.slurm_job_id) and _of_run_by_id(run, row) != "no":
                waits = row.job_status not in ENDED and not _is_gone(row, now)
                jobs[row.slurm_job_id] = waits or jobs.get(row.slurm_job_id, False)
        return jobs


def find_rows(database: EvalDatabase, runs: Sequence[Run]) -> list[FoundRows | Failure]:
    """For each run the rows that may be its, or why they cannot be asked for.

    Raises:
        Failure: as ``EvalDatabase.rows_of`` and ``EvalDatabase.records``.
    """
    whole = database.sees_everything
    answers = database.rows_of([run.names for run in runs])
    unsure = [() if isinstance(rows, Failure) else _unsure(run, rows) for run, rows in zip(runs, answers, strict=True)]
    trials = _trials_of(database, frozenset(chain.from_iterable(unsure)))
    by_trials = [
        frozenset(id for id in ids if trials[id] and trials[id] <= run.trial_ids)
        for run, ids in zip(runs, unsure, strict=True)
    ]
    return [
        rows if isinstance(rows, Failure) else FoundRows(rows, whole, own)
        for rows, own in zip(answers, by_trials, strict=True)
    ]


def _unsure(run: Run, rows: Sequence[FoundRow]) -> tuple[str, ...]:
    """The rows of which neither their ids nor their names tell whether they are a run's, and their trials might."""
    return tuple(one.row.id for one in rows if run.trial_ids and _of_run_by_id(run, one.row) == "maybe")


def _trials_of(database: EvalDatabase, rows: Collection[str]) -> Mapping[str, Set[str]]:
    """The ids of the trials of some rows."""
    found: dict[str, set[str]] = {row: set() for row in rows}
    for trial in database.records("sandbox_trials", "job_id", sorted(rows), columns=("id", "job_id")) if rows else ():
        found[trial["job_id"]].add(trial["id"].lower())
    return found


OtherRow = tuple[str, bool, bool]
"""A row of another run, by its id, and whether its benchmark has the name of the run that is audited, or is its own."""


@dataclass(frozen=True, slots=True)
class Judging:
    """What rows are looked at with: the run's job, the scheduler's answers, the errors that do not count, the time.

    ``others`` keeps the facts of rows that are another run's: they are the same for many runs of one audit.
    """

    job: JobFacts | None
    scheduler: Scheduler
    benign: frozenset[str]
    now: datetime
    others: dict[OtherRow, RowFacts] = field(default_factory=dict)


def row_facts(found: FoundRows, leg: Leg, by: Judging) -> tuple[RowFacts, ...] | str:
    """The facts of an eval's rows, or why there may be others.

    Where the connection may not see every row, those that it sees are facts, but that there is none of the eval is not.
    The row of another model that was run in the same job is none of its rows.
    """
    own = [one for one in found.rows if not _is_of_other_model(leg, one.row)]
    rows = tuple(_facts(one, leg, _of_run(leg, one, found, by.scheduler), by) for one in own)
    if not found.whole and not any(row.of_run == "yes" for row in rows):
        return f"{NOT_ALL_VISIBLE}: {SEES_ALL}"
    return rows


def _is_of_other_model(leg: Leg, row: JobRow) -> bool:
    """Whether a row is that of another eval of the same job, by its id, and of another model."""
    if leg.key is None or row.id.lower() not in leg.run.eval_ids.values() or not (row.model and leg.facts.model):
        return False
    return row.id.lower() != leg.run.eval_ids[leg.key] and model_key(row.model) != model_key(leg.facts.model)


def siblings(rows: Sequence[RowFacts], facts: EvalFacts) -> list[str]:
    """What is worth knowing of rows under another name of the same model or benchmark: they stay where they are."""
    notes = []
    if facts.model is not None:
        key = model_key(facts.model)
        names = {row.model for row in rows if row.model and row.model != facts.model and model_key(row.model) == key}
        notes += [
            f"the model {facts.model} is {name} too: a sibling, of which no row is to go" for name in sorted(names)
        ]
    if facts.benchmark is not None:
        notes += [
            f"row {row.id} is filed under {row.benchmark}, another name of {facts.benchmark}"
            for row in rows
            if row.of_run == "yes" and row.benchmark not in (None, facts.benchmark) and not row.issues & _MISFILED
        ]
    return notes


def doubles(found: FoundRows) -> list[str]:
    """Which rows are of one agent, model and benchmark: a board shows one of them, and that need not be the best."""
    notes = []
    for pair, rows in duplicates(one.row for one in found.rows).items():
        statuses = Counter(row.job_status for row in rows)
        said = ", ".join(f"{number:,} {status}" for status, number in sorted(statuses.items()))
        model, benchmark = rows[0].model or pair.model, rows[0].benchmark or pair.benchmark
        of = f"agent {pair.agent}, model {model} and benchmark {benchmark}"
        notes.append(f"{len(rows):,} rows are of {of} ({said}): the board shows one, by default the oldest")
    return notes


def _facts(found: FoundRow, leg: Leg, of_run: OfRun, by: Judging) -> RowFacts:
    if of_run != "no":
        return _looked_at(found, leg, of_run, by)
    benchmark = found.row.benchmark
    other = (found.row.id, benchmark == leg.run.tag, _is_of_benchmark(found.row, leg))
    if other not in by.others:
        by.others[other] = _looked_at(found, leg, of_run, by)
    return by.others[other]


def _looked_at(found: FoundRow, leg: Leg, of_run: OfRun, by: Judging) -> RowFacts:
    row = found.row
    metrics = metrics_of(row.metrics)
    trials = leg.facts.trials
    planned = row.planned_trials or (trials.planned if trials and of_run == "yes" else None)
    return RowFacts(
        id=row.id,
        owner=row.username,
        status=row.job_status,
        of_run=of_run,
        live=is_live(row, of_run, by),
        model=row.model,
        benchmark=row.benchmark,
        agent=row.agent,
        score=metrics.accuracy if metrics.shape == "list" else None,
        fails=row_fails(row.stats, planned, by.benign),
        link=(repo_of_link(row.hf_traces_link) or row.hf_traces_link) if row.hf_traces_link else None,
        created=row.created_at,
        submitted=row.submitted_at,
        issues=_issues(found, leg, of_run, by.now),
    )


def _of_run(leg: Leg, found: FoundRow, rows: FoundRows, scheduler: Scheduler) -> OfRun:
    """Whether a row is an eval's: by its ids, or those of its trials.

    By its name alone it may be, and is where its job ran as the run did.
    """
    run, row = leg.run, found.row
    if leg.key is not None and row.id.lower() in run.eval_ids.values():
        return "yes" if row.id.lower() == run.eval_ids[leg.key] else "no"
    said = "yes" if row.id in rows.by_trials else _of_run_by_id(run, row)
    if said == "maybe" and row.slurm_job_id and is_job_id(row.slurm_job_id):
        of_name = [one for one in rows.rows if one.row.job_name == run.tag]
        if len(of_name) == 1 and ran_during(run, scheduler.standing(row.slurm_job_id)):
            said = "yes"
    if said != "yes" or leg.key is None or leg.run.job is None:
        return said
    agents = {trial.agent for trial in leg.run.job.trials}  # a run of several evals has one row, that of one of them
    if row.agent not in agents:
        return "maybe"
    if row.agent != leg.facts.agent:
        return "no"
    return "yes" if leg.sole else "maybe"


def _of_run_by_id(run: Run, row: JobRow) -> OfRun:
    if row.id.lower() in run.row_ids:
        return "yes"
    if row.slurm_job_id is not None and row.slurm_job_id in run.slurm_ids:
        return "yes" if _is_of_its_time(run, row) else "maybe"
    return "maybe" if row.job_name == run.tag else "no"


def _is_of_its_time(run: Run, row: JobRow) -> bool:
    """Whether a row and a run can be of one job: clusters, and years, have jobs of the same number."""
    times = [time for time in (row.created_at, row.submitted_at, row.started_at, row.ended_at) if time is not None]
    if not times or run.began is None or run.last_sign is None:
        return True
    return min(times) <= run.last_sign + _GONE and run.began - _GONE <= max(times)


def is_live(row: JobRow, of_run: OfRun, by: Judging) -> bool | None:
    """Whether a row's job waits or runs; None where nobody can say, which is not the same as no."""
    job = by.job
    standing = by.scheduler.standing(row.slurm_job_id) if row.slurm_job_id else None
    if standing is not None and standing.phase == "live":
        return True
    if standing is not None and standing.phase == "ended" and _is_job_of(row, standing):
        return False
    ended = row.job_status in ENDED
    if of_run == "yes" and job is not None and (ended or row.slurm_job_id in (None, job.id)):
        return job.phase == "live"
    if not by.scheduler.answers:
        return None
    if ended:
        return False
    return False if _is_gone(row, by.now) else None


def _is_gone(row: JobRow, now: datetime) -> bool:
    return row.last_sign is not None and now - row.last_sign > _GONE


def _is_job_of(row: JobRow, standing: Standing) -> bool:
    """Whether the accounts' job is the one that a row means, and not another cluster's of the same number."""
    submitted = standing.submitted
    if submitted is None:
        return False
    if row.submitted_at is not None:
        return abs(row.submitted_at - submitted) <= _APART
    return row.last_sign is not None and submitted <= row.last_sign + _APART


def _issues(found: FoundRow, leg: Leg, of_run: OfRun, now: datetime) -> frozenset[str]:
    """The codes of what is odd about a row, but for those that only the passing of time makes true."""
    row, trials = found.row, leg.facts.trials
    health = row_health(row, now=now, run_names=(leg.run.tag,))
    issues = {remark.code for remark in health if remark.code != "stale"}
    if _is_of_benchmark(row, leg):
        issues.discard("run-dir-benchmark")  # it has the name of a model in it, and is the benchmark all the same
    planned = trials.planned if trials is not None else None
    if of_run == "yes" and leg.key is None and row.planned_trials and planned and row.planned_trials != planned:
        issues.add("n-trials-differ")
    if of_run == "yes" and not {"pair", "misnamed-benchmark"} & set(found.by):
        issues |= _other_names(found.row, leg, issues)
    return frozenset(issues)


def _is_of_benchmark(row: JobRow, leg: Leg) -> bool:
    """Whether a row is filed under the eval's benchmark, by its right name."""
    return (row.benchmark or "").casefold() == (leg.facts.benchmark or "").casefold() != ""


def _other_names(row: JobRow, leg: Leg, issues: Collection[str]) -> set[str]:
    """Whether a row of the run is filed under a model or benchmark that is known to be another one."""
    others = set()
    models = {model_key(name) for name in leg.run.models}
    if leg.facts.model and row.model and "numeric-model" not in issues and model_key(row.model) not in models:
        others.add("other-model")
    benchmarks = {name.casefold() for name in leg.run.benchmarks}
    misnamed = {"hash-benchmark", "run-dir-benchmark"} & set(issues)
    if leg.facts.benchmark and row.benchmark and not misnamed and row.benchmark.casefold() not in benchmarks:
        others.add("other-benchmark")
    return others
