"""What the commands of ``hub_leaderboard.py`` answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from benchwright.contract import Exit, Outcome, counted, usage_error
from benchwright.hub.benchmarks import official_benchmarks
from benchwright.hub.boards import Board, BoardRow, Boards
from benchwright.hub.declared import Declaration, declared
from benchwright.hub.links import view_link
from benchwright.hub.model_repo import ModelRepo, model_repo, namespace_kind, normalise_url
from benchwright.hub.ranks import Origin, predicted_view, visible_view
from benchwright.hub.views import SHOWN, VIEWS, View

_KINDS = {"org": "an organisation", "user": "a person: nothing of theirs is on a leaderboard", None: "nobody's"}


def tell_views() -> Outcome:
    """All views, the broadest first."""
    data = [_view(view) for view in VIEWS]
    return Outcome(f"{len(VIEWS)} views, the broadest first", {"views": data}, [f"  {view}" for view in VIEWS])


def tell_tasks(boards: Boards, dataset: str | None) -> Outcome:
    """The tasks of a benchmark, or all official benchmarks."""
    if dataset is None:
        found = official_benchmarks(boards.hub)
        return Outcome(counted(len(found), "official benchmark"), {"benchmarks": found}, [f"  {one}" for one in found])
    told = boards.benchmark(dataset)
    official = "official" if told.official else "not official: without leaderboards"
    summary = f"{told.name}, {told.dataset}, {official}; {counted(len(told.tasks), 'task')}, the default first"
    return Outcome(summary, asdict(told), [f"  {task}" for task in told.tasks])


def tell_board(boards: Boards, dataset: str, task: str | None, view: View) -> Outcome:
    """A view of a leaderboard."""
    board = boards.board(dataset, _task(boards, dataset, task), view)
    scale = board.scale()
    better = {True: "lower is better", False: "higher is better", None: "which values are better is unknown"}
    told = [better[board.lower_is_better], *([f"it looks like {scale.unit}"] if scale.unit else [])]
    summary = f"{board.task} of {board.dataset}, {view}: {counted(len(board.rows), 'row')}; {', '.join(told)}"
    data = {
        "dataset": board.dataset,
        "task": board.task,
        "view": _view(view),
        "lower_is_better": board.lower_is_better,
        "unit": scale.unit,
        "link": _link(boards, board, view),
        "rows": [_row(row) for row in board.rows],
    }
    return Outcome(summary, data, [_line(row) for row in board.rows])


def tell_prediction(boards: Boards, model: str, dataset: str, value: Decimal, task: str | None) -> Outcome:
    """Where a new result would be seen; exit 1: nowhere."""
    repo = _model(boards, model)
    board = boards.board(dataset, _task(boards, dataset, task))
    found = predicted_view(boards, board.dataset, board.task, value, repo)
    scale = board.scale()
    fits = scale.fits(value)
    own = board.row_of(repo.id)
    data = {
        "model": repo.id,
        "owner": repo.kind,
        "parameters": repo.parameters,
        "bases": repo.bases,
        "dataset": board.dataset,
        "task": board.task,
        "value": float(value),
        "fits_scale": fits,
        "lower_is_better": board.lower_is_better,
        "own_row": _row(own) if own else None,
        "rank": found.rank if found else None,
        "view": _view(found.view) if found else None,
        "link": _link(boards, board, found.view, repo.id) if found else None,
    }
    if found:
        summary = f"{repo.id} with {value} would be number {found.rank} at worst: {found.view}"
    elif repo.kind == "user":
        summary = f"{repo.id} belongs to a person: it is on no leaderboard"
    else:
        summary = f"{repo.id} with {value} would be in the top {SHOWN} of no view"
    details = [f"  {data['link']}"] if found else []
    details += [f"  on the board already: {_line(own).strip()}"] if own else []
    details += ["  the value does not look like one of this board's: is its unit right?"] if fits is False else []
    details += ["  the value may be a fraction, or percent"] if scale.is_ambiguous(value) and fits is None else []
    exit = Exit.DONE if found else Exit.NO
    return Outcome(summary, data, details, problems=repo.metadata_problems(), exit=exit)


def tell_visibility(
    boards: Boards, model: str, dataset: str, value: Decimal, task: str | None, *, pull_request: Origin
) -> Outcome:
    """Where a result is seen now; exit 1: nowhere."""
    repo = _model(boards, model)
    board = boards.board(dataset, _task(boards, dataset, task))
    found = visible_view(boards, board.dataset, board.task, repo.id, value, pull_request=pull_request)
    own = board.row_of(repo.id)
    data = {
        "model": repo.id,
        "dataset": board.dataset,
        "task": board.task,
        "value": float(value),
        "rank": found.rank if found else None,
        "view": _view(found.view) if found else None,
        "link": _link(boards, board, found.view, repo.id) if found else None,
        "widest_row": _row(own) if own else None,
    }
    if found:
        summary = f"{repo.id} with {value} is number {found.rank}: {found.view}"
        return Outcome(summary, data, [f"  {data['link']}"])
    details = [f"  its row in the widest view: {_line(own).strip()}"] if own else ["  it has no row"]
    return Outcome(f"no view shows {value} of {repo.id} in its top {SHOWN}", data, details, exit=Exit.NO)


def tell_declared(boards: Boards, model: str) -> Outcome:
    """What a model declares, on main and in open pull requests."""
    repo = _model(boards, model)
    found = declared(boards.hub, repo)
    told: list[tuple[str | None, str | None, Declaration]]
    told = [(dataset, task, one) for (dataset, task), made in sorted(found.items()) for one in made]
    told += [(dataset, None, one) for dataset, made in sorted(found.any_task.items()) for one in made]
    told += [(None, None, one) for one in found.unread]
    data = [{"dataset": dataset, "task": task, **asdict(one)} for dataset, task, one in told]
    summary = f"{repo.id} declares {counted(len(told), 'result')}"
    return Outcome(
        summary,
        {"model": repo.id, "declared": data},
        [_declaration(*one) for one in told],
        problems=found.problems,
    )


def tell_kinds(boards: Boards, namespaces: Iterable[str]) -> Outcome:
    """Whose namespaces are."""
    kinds = {one: namespace_kind(boards.hub, one) for one in dict.fromkeys(namespaces)}
    lines = [f"{name}: {_KINDS[kind]}" for name, kind in kinds.items()]
    return Outcome(lines[0] if len(lines) == 1 else counted(len(lines), "namespace"), {"kinds": kinds}, _rest(lines))


def _rest(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines] if len(lines) > 1 else []


def _model(boards: Boards, text: str) -> ModelRepo:
    name = normalise_url(text)
    if name is None:
        raise usage_error("MODEL", text, "a model, org/name or its address", "give one of these")
    return model_repo(boards.hub, name)


def _task(boards: Boards, dataset: str, task: str | None) -> str:
    return task if task is not None else boards.benchmark(dataset).tasks[0]


def _view(view: View) -> dict[str, Any]:
    return {"max_params": view.max_params, "base_only": view.base_only, "words": str(view)}


def _link(boards: Boards, board: Board, view: View, model: str | None = None) -> str:
    return view_link(board.dataset, board.task, view, model, endpoint=boards.hub.endpoint)


def _row(row: BoardRow) -> dict[str, Any]:
    return {**asdict(row), "value": float(row.value)}


def _line(row: BoardRow) -> str:
    origin = "main" if row.pull_request is None else f"pr {row.pull_request}"
    return f"  {row.rank:>4}  {row.value!s:>9}  {row.model}  ({origin})"


def _declaration(dataset: str | None, task: str | None, one: Declaration) -> str:
    what = "of any benchmark" if dataset is None else f"{dataset}, {task or 'any task'}"
    by = f" by {one.author or 'a user who is gone'}, {one.status}" if one.status else ""
    broken = f"; broken: {one.broken}" if one.broken else ""
    return f"  {what}: {one.value_text or 'a value unknown'} ({one.origin}{by}, {one.filename}{broken})"
