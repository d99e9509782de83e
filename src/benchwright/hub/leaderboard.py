"""The leaderboards as plain functions on one session: what ``hub_leaderboard.py`` offers to whoever imports it.

The session is that of ``HF_ENDPOINT`` and of the token that the client finds; what it read once it does not ask again.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from decimal import Decimal

from benchwright.hub import benchmarks, links, model_repo, ranks
from benchwright.hub import declared as declarations
from benchwright.hub.boards import Board, BoardRow, Boards
from benchwright.hub.client import Hub
from benchwright.hub.views import VIEWS, WIDEST, View

__all__ = [
    "NAMES",
    "bench_name",
    "board",
    "declared",
    "namespace_kind",
    "predicted_rank",
    "predicted_view",
    "session",
    "task_ids",
    "view_link",
    "views",
    "visible_view",
]

Value = str | int | float | Decimal
NAMES = benchmarks.names()


@functools.cache
def session() -> Boards:
    """The leaderboards that all functions here ask."""
    return Boards(Hub())


def views() -> tuple[View, ...]:
    """All views, the broadest first."""
    return VIEWS


def board(dataset: str, task: str, max_params: str | None = None, base_only: bool = True) -> Board:
    """A view of a task's leaderboard; an unknown task is refused (`Boards.board`)."""
    return session().board(dataset, task, View(max_params, base_only))


def predicted_rank(rows: Sequence[BoardRow], value: Value, lower: bool | None, model: str) -> int:
    """The rank of a new result among rows, behind its equals; the model's own row is none of them."""
    return ranks.predicted_rank(Board("", "", WIDEST, tuple(rows), lower), Decimal(str(value)), model)


def predicted_view(
    dataset: str, task: str, value: Value, num_params: int | None, has_base: bool, *, model: str = ""
) -> ranks.Prediction | None:
    """The broadest view that would show a new result of an organisation's model, None where none would."""
    shown = (view for view in VIEWS if view.shows(num_params, has_base=has_base))
    boards = (session().board(dataset, task, view) for view in shown)
    return ranks.first_visible(boards, Decimal(str(value)), model)


def visible_view(
    dataset: str, task: str, model: str, value: Value, *, pull_request: ranks.Origin = "any"
) -> ranks.Sighting | None:
    """The broadest view that shows this very result now, with its rank."""
    return ranks.visible_view(session(), dataset, task, model, Decimal(str(value)), pull_request=pull_request)


def view_link(
    dataset: str, task: str, max_params: str | None = None, base_only: bool = True, model: str | None = None
) -> str:
    """The address of a view, with a model's row highlighted."""
    return links.view_link(dataset, task, View(max_params, base_only), model, endpoint=session().hub.endpoint)


def task_ids(dataset: str) -> tuple[str, ...]:
    """The ids of a benchmark's tasks, the default one first."""
    return session().benchmark(dataset).tasks


def bench_name(dataset: str) -> str:
    """The name of a benchmark as its authors write it."""
    return session().benchmark(dataset).name


def namespace_kind(namespace: str) -> model_repo.NamespaceKind | None:
    """Whose a namespace is: ``org``, ``user``, or nobody's."""
    return model_repo.namespace_kind(session().hub, namespace)


def declared(repo: str) -> Mapping[tuple[str, str], tuple[declarations.Declaration, ...]]:
    """What a model declares on main and in every open pull request, by (dataset, task)."""
    return declarations.declared(session().hub, repo)
