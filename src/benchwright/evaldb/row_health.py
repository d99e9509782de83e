"""What a row of a job shows by itself, and which rows are of one pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from benchwright.contract import Severity
from benchwright.evaldb.names import is_hash, is_numeric_model, is_run_name, model_key, served_since
from benchwright.evaldb.rows import ENDED, FINISHED, JobRow
from benchwright.evaldb.shapes import metrics_of, stats_of

STALE_AFTER = timedelta(hours=12)
"""How long a row that has not ended may show no sign of its job."""


@dataclass(frozen=True, slots=True)
class RowRemark:
    """One thing that is odd about a row, with a stable kebab-case ``code``, and how grave it is.

    ``error``: its score is filed wrongly or is not seen; ``warn``: look before you act; ``context``: it explains a
    value.
    """

    code: str
    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What a score is of: an agent and a model on a benchmark, whatever serving prefix the model's name has."""

    agent: str
    model: str
    benchmark: str

    @classmethod
    def of(cls, row: JobRow) -> Pair:
        """The pair of a row; an id stands in where there is no name."""
        model = model_key(row.model) if row.model else row.model_id
        return cls(row.agent or row.agent_id, model, (row.benchmark or row.benchmark_id).casefold())


def duplicates(rows: Iterable[JobRow]) -> dict[Pair, tuple[JobRow, ...]]:
    """The pairs that have several of the rows, with these rows in their order."""
    of_pair: dict[Pair, list[JobRow]] = defaultdict(list)
    for row in rows:
        of_pair[Pair.of(row)].append(row)
    return {pair: tuple(several) for pair, several in of_pair.items() if len(several) > 1}


def row_health(row: JobRow, *, now: datetime, run_names: Collection[str] = ()) -> tuple[RowRemark, ...]:
    """What is odd about a row. ``run_names`` are folders of runs, which are no names of benchmarks.

    Whether the job of a stale row is live is not known here.
    """
    names = {row.job_name, *run_names}
    return (*_about_names(row, names), *_about_metrics(row), *_about_counts(row), *_about_age(row, now))


def _about_names(row: JobRow, run_names: Collection[str]) -> Iterator[RowRemark]:
    if row.model is not None and is_numeric_model(row.model):
        since = served_since(row.model)
        launched = f", launched {since:%Y-%m-%d %H:%M} UTC" if since else ""
        yield RowRemark("numeric-model", "error", f"the model is the served id {row.model}{launched}")
    if row.benchmark is not None:
        if is_hash(row.benchmark):
            yield RowRemark("hash-benchmark", "error", f"the benchmark is a version hash, {row.benchmark}")
        elif is_run_name(row.benchmark, models=[row.model] if row.model else (), run_names=run_names):
            yield RowRemark("run-dir-benchmark", "error", f"the benchmark has the name of a run, {row.benchmark}")
    for noun, name, id in (
        ("agent", row.agent, row.agent_id),
        ("model", row.model, row.model_id),
        ("benchmark", row.benchmark, row.benchmark_id),
    ):
        if name is None:
            yield RowRemark("dangling-id", "error", f"no {noun} has the id {id}")


def _about_metrics(row: JobRow) -> Iterator[RowRemark]:
    metrics = metrics_of(row.metrics)
    if metrics.shape in ("object", "text", "other"):
        kind = {"object": "an object", "text": "JSON within a string", "other": "neither a list nor an object"}
        text = f"the metrics are {kind[metrics.shape]}, which the leaderboard does not read"
        yield RowRemark("dict-metrics" if metrics.shape == "object" else f"{metrics.shape}-metrics", "error", text)
    if row.job_status == FINISHED and metrics.accuracy is None:
        why = {"null": "no metrics", "empty": "an empty list of metrics"}.get(metrics.shape, "no accuracy in numbers")
        yield RowRemark("no-score", "error", f"finished with {why}")
    if metrics.accuracies > 1:
        yield RowRemark("doubled-accuracy", "warn", f"{metrics.accuracies} entries of accuracy")
    if metrics.stderrs > 1:
        yield RowRemark("doubled-stderr", "warn", f"{metrics.stderrs} entries of accuracy_stderr")


def _about_counts(row: JobRow) -> Iterator[RowRemark]:
    if isinstance(row.stats, str):
        kind = "JSON within a string" if stats_of(row.stats) is not None else "a text that is no JSON object"
        yield RowRemark("text-stats", "warn", f"the stats are {kind}")
    elif row.stats is not None and stats_of(row.stats) is None:
        yield RowRemark("odd-stats", "warn", "the stats are no object")
    if row.job_status == "Pending":
        yield RowRemark("n-trials-unset", "context", f"n_trials {row.n_trials} of a pending row says nothing")
    elif row.job_status == "Started":
        text = f"n_trials {row.n_trials} of a started row is how many trials run at once"
        yield RowRemark("n-trials-concurrency", "context", text)
    elif row.job_status == FINISHED and not row.n_trials:
        yield RowRemark("no-trials", "warn", "finished with no planned trial")


def _about_age(row: JobRow, now: datetime) -> Iterator[RowRemark]:
    last = row.last_sign
    if row.job_status not in ENDED and last is not None and now - last > STALE_AFTER:
        hours = (now - last) // timedelta(hours=1)
        yield RowRemark("stale", "warn", f"{row.job_status} for {hours} h without a sign of its job")
