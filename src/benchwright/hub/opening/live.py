"""The look at the leaderboards after pull requests were opened: where each result stands, as the Hub ranks it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from benchwright.contract import Failure
from benchwright.hub.boards import Boards
from benchwright.hub.model_repo import RESULTS_FOLDER, model_repo
from benchwright.hub.ranks import Origin, Sighting, visible_view
from benchwright.hub.registry import Record, RecordedResult


@dataclass(frozen=True)
class Polling:
    """How often boards are read at most, and the time between, in seconds: they may lag behind the pull request."""

    times: int = 5
    pause: float = 20.0


@dataclass(frozen=True)
class Stand:
    """Where a result stands. ``sighting`` None: no view shows it; ``unknown`` and ``refused`` say why.

    ``unknown`` is what a board's failure was; ``refused`` is what the Hub says of the file.
    """

    record: Record
    result: RecordedResult
    name: str
    sighting: Sighting | None = None
    unknown: str | None = None
    refused: str | None = None


def stands(
    boards: Boards,
    records: Sequence[Record],
    polling: Polling | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    polled: Callable[[int, int], None] = lambda seen, of: None,
) -> tuple[Stand, ...]:
    """Where the results of pull requests stand, in their order; boards are read anew until all are seen, or it is time.

    ``polled`` is told after each time how many of all results were seen.
    """
    polling = polling or Polling()
    wanted = [(record, result) for record in records for result in record.results]
    found: dict[tuple[Record, RecordedResult], Stand] = {}
    for number in range(polling.times):
        left = [key for key in wanted if key not in found or found[key].sighting is None]
        if number and left:
            sleep(polling.pause)
        for dataset, task in {(result.dataset, result.task_id) for _, result in left}:
            boards.forget(dataset, task)
        for record, result in left:
            found[record, result] = _stand(boards, record, result)
        seen = sum(found[key].sighting is not None for key in wanted)
        polled(seen, len(wanted))
        if seen == len(wanted):
            break
    return tuple(_explained(boards, found[key]) for key in wanted)


def _stand(boards: Boards, record: Record, result: RecordedResult) -> Stand:
    origin: Origin = "any" if record.state == "merged" or record.num is None else record.num
    try:
        benchmark = boards.benchmark(result.dataset)
        name = benchmark.name if result.task_id == benchmark.tasks[0] else f"{benchmark.name} ({result.task_id})"
        value = Decimal(result.value_text)
        sighting = visible_view(boards, result.dataset, result.task_id, record.repo, value, pull_request=origin)
    except Failure as failure:
        return Stand(record, result, result.dataset, unknown=failure.problems[0].found)
    return Stand(record, result, name, sighting)


def _explained(boards: Boards, stand: Stand) -> Stand:
    """A result that nobody sees, with what the Hub says of its file, if it does."""
    if stand.sighting is not None or stand.unknown is not None:
        return stand
    try:
        model = model_repo(boards.hub, stand.record.repo)
    except Failure as failure:
        return Stand(stand.record, stand.result, stand.name, unknown=failure.problems[0].found)
    name = stand.result.filename.removeprefix(f"{RESULTS_FOLDER}/")
    for one in model.eval_results:
        its = str(one.get("filename")).removeprefix(f"{RESULTS_FOLDER}/")
        if "error" in one and one.get("pullRequest") == stand.record.num and its == name:
            return Stand(stand.record, stand.result, stand.name, refused=str(one["error"]))
    return stand
