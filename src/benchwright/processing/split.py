"""The work of one split: its results become rows, and its predictions ensembles, then nothing of them is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.arena.config_names import family_of, prefix_of
from benchwright.contract import Failure, Problem
from benchwright.processing.ensemble import METRICS, EnsembleSelection, MetricRows, metric_rows
from benchwright.processing.ensemble.rows import Float32
from benchwright.processing.trajectories import Candidates, Outcomes, TrajectoryPlan, orders, run_passes
from benchwright.raw.fields import number_in
from benchwright.raw.finding import misplaced
from benchwright.raw.loading import load_result
from benchwright.raw.result import Predictions, Result

RESOURCES = ("num_cpus", "num_gpus", "disk_usage")
"""What results may record of a fit; a column is there if one of them does."""
ENSEMBLE_SIZES = {"tuned": 1, "tuned_ensemble": 40}
"""Greedy iterations of the two tuned variants; ``tuned`` is thus the config with the best validation error."""


@dataclass(frozen=True, slots=True)
class Row:
    """What remains of a result: everything but its predictions. Names are the raw ones."""

    path: str
    framework: str
    prefix: str
    family: str | None
    kind: str
    dataset: str
    tid: int
    split: int
    problem_type: str
    metric: str
    metric_error: float
    metric_error_val: float | None
    time_train_s: float
    time_infer_s: float
    num_cpus: float | None
    num_gpus: float | None
    disk_usage: float | None

    @classmethod
    def of(cls, result: Result) -> Row:
        """The row of a result. Its texts are shared with other rows, of which there may be 100,000s."""
        method = result.method_metadata
        family = family_of(method)
        return cls(
            path=str(result.path),
            framework=intern(result.framework),
            prefix=intern(prefix_of(result.framework, method)),
            family=None if family is None else intern(family),
            kind=result.kind,
            dataset=intern(result.dataset),
            tid=result.tid,
            split=result.split,
            problem_type=intern(result.problem_type),
            metric=intern(result.metric),
            metric_error=result.metric_error,
            metric_error_val=result.metric_error_val,
            time_train_s=result.time_train_s,
            time_infer_s=result.time_infer_s,
            num_cpus=_number(method, "num_cpus"),
            num_gpus=_number(method, "num_gpus"),
            disk_usage=_number(method, "disk_usage"),
        )


@dataclass(frozen=True, slots=True)
class TunedRow:
    """One tuned variant on one split.

    ``time_train_s`` is the time of all configs that were considered, ``time_infer_s`` that of the members.
    """

    subtype: str
    dataset: str
    split: int
    problem_type: str
    metric: str
    metric_error: float
    metric_error_val: float
    time_train_s: float
    time_infer_s: float


@dataclass(slots=True)
class SplitOutcome:
    """A split's rows, what makes its tables impossible (``problems``), and of which files it has none (``left_out``).

    ``trajectory`` has the outcomes of the passes, where they were asked for.
    """

    rows: list[Row] = field(default_factory=list)
    tuned: list[TunedRow] = field(default_factory=list)
    trajectory: Outcomes | None = None
    problems: list[Problem] = field(default_factory=list)
    left_out: list[Problem] = field(default_factory=list)


class SplitWork:
    """Takes in the results of one split, one at a time, keeping of each prediction only what the metric looks at."""

    def __init__(self, *, tune: bool, trajectories: TrajectoryPlan | None = None) -> None:
        self.outcome = SplitOutcome()
        self._tune = tune
        self._trajectories = trajectories
        self._first: Result | None = None
        self._val: MetricRows | None = None
        self._test: MetricRows | None = None
        self._reduced: dict[int, tuple[Float32, Float32]] = {}

    def add(self, result: Result) -> None:
        """Take in a result; whatever does not fit the split's others is noted as a problem.

        Metrics are checked across all splits; a result of another one is left out of the ensembles until then.
        """
        outcome = self.outcome
        outcome.rows.append(Row.of(result))
        if result.predictions is None or (self._first is not None and result.metric != self._first.metric):
            return
        try:
            if self._first is None:
                self._open(result, result.predictions)
            elif problem := _misfit(result, self._first):
                outcome.problems.append(problem)
                return
            if self._val is not None and self._test is not None:
                self._reduced[len(outcome.rows) - 1] = (
                    self._val.reduce(result.predictions.val),
                    self._test.reduce(result.predictions.test),
                )
        except Failure as failure:
            outcome.problems.extend(_relocated(failure, str(result.path)))

    def _open(self, result: Result, predictions: Predictions) -> None:
        """Let the first result set the rows and labels that all others must share."""
        without_children = replace(predictions, test_per_child=(), val_rows_per_child=())
        self._first = replace(result, predictions=without_children)
        mixes = self._tune or self._trajectories is not None
        if mixes and result.metric in METRICS:
            self._val = metric_rows(result.metric, predictions.y_val)
            self._test = metric_rows(result.metric, predictions.y_test)

    def finish(self) -> SplitOutcome:
        """Fit the ensembles, unless something is wrong, and let go of the predictions."""
        outcome, reduced = self.outcome, self._reduced
        self._reduced = {}
        one_method = len({row.prefix for row in outcome.rows}) == 1
        if reduced and one_method and not outcome.problems and self._val is not None and self._test is not None:
            order = sorted(reduced, key=lambda number: outcome.rows[number].framework)
            val, test = (np.array([reduced[number][part] for number in order]) for part in (0, 1))
            reduced.clear()
            rows = [outcome.rows[number] for number in order]
            try:
                ensembles = EnsembleSelection(self._val, val)
                if self._tune:
                    outcome.tuned = _tune(rows, ensembles, self._test, test)
                if self._trajectories is not None:
                    outcome.trajectory = _trajectory(self._trajectories, rows, ensembles, self._test, test)
            except Failure as failure:
                outcome.problems.extend(failure.problems)
        return outcome


def work_on_files(paths: Sequence[Path], *, tune: bool) -> SplitOutcome:
    """The outcome of the split whose result files are ``paths``.

    A file that cannot be loaded is left out, and so is one whose content belongs in another folder.
    """
    work = SplitWork(tune=tune)
    for path in paths:
        try:
            result = load_result(path)
        except Failure as failure:
            work.outcome.left_out.extend(failure.problems)
        else:
            if len(path.parts) > 3 and (stray := misplaced(result, path.parts[-4], path.parts[-2])):
                work.outcome.left_out.append(stray)
            else:
                work.add(result)
    return work.finish()


def _tune(rows: Sequence[Row], ensembles: EnsembleSelection, test: MetricRows, candidates: Float32) -> list[TunedRow]:
    """The tuned variants over configs ``rows``, in the order of ``candidates`` (m, n) on the test rows."""
    tuned = []
    for subtype, size in ENSEMBLE_SIZES.items():
        selection = ensembles.select(size=size)
        tuned.append(
            TunedRow(
                subtype=subtype,
                dataset=rows[0].dataset,
                split=rows[0].split,
                problem_type=rows[0].problem_type,
                metric=rows[0].metric,
                metric_error=selection.error_test(test, candidates),
                metric_error_val=selection.error_val,
                time_train_s=sum(row.time_train_s for row in rows),
                time_infer_s=sum(rows[member].time_infer_s for member in selection.members),
            )
        )
    return tuned


def _trajectory(
    plan: TrajectoryPlan, rows: Sequence[Row], ensembles: EnsembleSelection, test: MetricRows, candidates: Float32
) -> Outcomes | None:
    """The passes over configs ``rows``, in the order of ``candidates`` (m, n) on the test rows."""
    default = plan.default(rows[0].prefix)
    if default is None:
        return None
    positions = {name: position for position, name in enumerate(plan.configs)}
    present = Candidates(
        [positions[row.framework] for row in rows],
        [row.time_train_s for row in rows],
        [row.time_infer_s for row in rows],
    )
    return run_passes(orders(len(plan.configs), default), present, ensembles, test, candidates)


def _misfit(result: Result, first: Result) -> Problem | None:
    """Why a result cannot be mixed with the first one of its split, if so."""
    if (result.dataset, result.split) != (first.dataset, first.split):
        return Problem(
            "split-differs",
            str(result.path),
            f"{result.dataset}, split {result.split}",
            f"{first.dataset}, split {first.split}, as in {first.path}",
            "move the file to the folder of its own task and split, or run this item again",
        )
    if not _same_rows(result.predictions, first.predictions):
        return Problem(
            "rows-differ",
            str(result.path),
            "validation or test rows or labels of its own",
            f"those of {first.path}: an ensemble mixes predictions for the same rows",
            "run this item again with the split's present data",
        )
    return None


def _same_rows(mine: Predictions | None, theirs: Predictions | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = (
        (mine.y_val, theirs.y_val),
        (mine.y_test, theirs.y_test),
        (mine.y_val_index, theirs.y_val_index),
        (mine.y_test_index, theirs.y_test_index),
    )
    return all(np.array_equal(one, other) for one, other in pairs)


def _relocated(failure: Failure, where: str) -> list[Problem]:
    """The problems of a metric, at the file they come from."""
    return [
        Problem(problem.code, where, f"{problem.where}: {problem.found}", problem.expected, problem.fix)
        for problem in failure.problems
    ]


def is_too_large(value: Any) -> bool:
    """Whether it is a whole number of more than 64 bits, which no table holds as it is."""
    return isinstance(value, int | np.integer) and abs(int(value)) >= 2**63


def _number(source: Mapping[str, Any], key: str) -> float | None:
    """A whole number as it is where a table can hold it, any other number as a float, None for what is none."""
    value = source.get(key)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and not is_too_large(value):
        return int(value)
    return number_in(source, key)
