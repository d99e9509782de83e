"""Whether a result belongs on its board: an official one that is not blocked, in its unit, where somebody sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchwright.contract import Failure, Failures, Problem
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.blocked import blocked_boards
from benchwright.hub.boards import Board, Boards
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.ranks import Prediction, Rival, predicted_view
from benchwright.hub.spec import Result
from benchwright.hub.views import SHOWN

Rivals = Mapping[tuple[str, str], Sequence[Rival]]
"""Results that are about to be posted as well, by (dataset, task)."""


@dataclass(frozen=True)
class Placed:
    """A result on its board: where it would be seen, at worst."""

    result: Result
    benchmark: Benchmark
    prediction: Prediction

    @property
    def board(self) -> tuple[str, str]:
        """The dataset and the task."""
        return self.benchmark.dataset, self.result.task_id


def place(boards: Boards, model: ModelRepo, result: Result, rivals: Rivals) -> Placed:
    """Where a result of a model would be seen, its rivals being on the board too.

    Raises:
        Failure: it does not belong on the board, with every reason (codes ``blocked-board``, ``not-official``,
            ``unknown-task``, ``outside-scale``, ``invisible``); or the board is not told.
    """
    benchmark = benchmark_of(boards, result)
    failures = Failures()
    try:
        for check in (benchmark.check_official, lambda: benchmark.check_task(result.task_id)):
            with failures.collected():
                check()
        failures.settle()
        board = boards.board(benchmark.dataset, result.task_id)
        with failures.collected():
            _check_scale(board, result)
        with failures.collected():
            prediction = _prediction(boards, board, model, result, rivals.get((board.dataset, board.task), ()))
        failures.settle()
    except Failure as failure:
        raise _at(result, failure) from None
    return Placed(result, benchmark, prediction)


def benchmark_of(boards: Boards, result: Result) -> Benchmark:
    """The benchmark of a result.

    Raises:
        Failure: there is none, or nothing is ported to it (code ``blocked-board``); or it is not told.
    """
    _check_blocked(result, result.dataset)
    try:
        found = boards.benchmark(result.dataset)
    except Failure as failure:
        raise _at(result, failure) from None
    _check_blocked(result, found.dataset)
    return found


def _check_blocked(result: Result, dataset: str) -> None:
    if reason := blocked_boards().get(dataset.lower()):
        raise Failure(
            Problem("blocked-board", result.place, f"{dataset}: {reason}", "another board", "leave the result out")
        )


def _check_scale(board: Board, result: Result) -> None:
    """Refuse a value in another unit than the board's, and any where nobody can tell the unit but a person."""
    scale, unit = board.scale(), result.unit
    if result.unit_checked:
        return
    where = f"the values of {board.dataset}, {board.task}"
    fix = 'state the units ("unit"), or set "unit_checked" where a person has seen that they are right'
    if scale.unit is None:
        found = f"{result.board_text}, and {where} do not tell their unit"
        raise Failure(Problem("outside-scale", result.place, found, "a unit that is known", fix))
    fits, found = scale.fits(result.value), result.board_text
    if unit is not None and unit.board != scale.unit:
        fits, found = False, f"{found}, of a board whose unit is said to be {unit.board}"
    elif fits is None:
        fits, found = unit is not None, f"{found}, which may be a fraction, or percent"
    if not fits:
        expected = f"{where}, which are {scale.low} to {scale.high}: {scale.unit}"
        raise Failure(Problem("outside-scale", result.place, found, expected, fix))


def _prediction(boards: Boards, board: Board, model: ModelRepo, result: Result, rivals: Sequence[Rival]) -> Prediction:
    found = predicted_view(boards, board.dataset, board.task, result.value, model, rivals=rivals)
    if found is None:
        beside = ", with the other results of this spec" if rivals else ""
        said = f"{result.board_text} would be in the top {SHOWN} of no view of {board.dataset}, {board.task}{beside}"
        raise Failure(Problem("invisible", result.place, said, "a result that somebody sees", "leave it out"))
    return found


def _at(result: Result, failure: Failure) -> Failure:
    """A failure whose problems have their place in the spec."""
    problems = [
        one if one.where == result.place else replace(one, where=result.place, found=f"{one.where}: {one.found}")
        for one in failure.problems
    ]
    return Failure(problems, exit=failure.exit)
