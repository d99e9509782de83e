"""Ranks over time as one HTML page: for each board a line a result, and a table of where it stands now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchwright.contract import counted
from benchwright.hub.links import PUBLIC_HUB, view_link
from benchwright.hub.sweep.rank_history import RankPoint
from benchwright.hub.views import SHOWN, WIDEST

_TEMPLATES = Path(__file__).parent / "templates"
_STYLES = 8
"""Colours of lines; behind them they come again, dashed."""


@dataclass(frozen=True)
class RankLine:
    """A result's points on a board, the oldest first. ``style`` is the number of its colour and dash."""

    points: tuple[RankPoint, ...]
    style: int
    endpoint: str

    @property
    def last(self) -> RankPoint:
        """The newest point."""
        return self.points[-1]

    @property
    def rise(self) -> int | None:
        """How many ranks it has gained since the first point; None: the views are not the same, or one is none."""
        first, last = self.points[0], self.last
        if first.rank is None or last.rank is None or first.view != last.view:
            return None
        return first.rank - last.rank

    @property
    def model(self) -> str:
        """The model's name without its owner."""
        return self.last.repo.partition("/")[2]

    @property
    def pull_request(self) -> str:
        """The address of the pull request."""
        return f"{self.endpoint}/{self.last.repo}/discussions/{self.last.num}"

    @property
    def drawn(self) -> list[list[Any]]:
        """The points for the page's script: day (a number), rank or None, words, whether the view is a new one."""
        views = [one.view for one in self.points]
        return [
            [date.fromisoformat(one.day).toordinal(), one.rank, _words(one), before not in (None, one.view)]
            for one, before in zip(self.points, [None, *views], strict=False)
        ]


@dataclass(frozen=True)
class RankBoard:
    """A board with the lines on it, the best rank of today first."""

    id: str
    name: str
    dataset: str
    task: str
    link: str
    lines: tuple[RankLine, ...]


def rank_boards(points: Sequence[RankPoint], endpoint: str = PUBLIC_HUB) -> list[RankBoard]:
    """The boards of a history, by name."""
    by_board: dict[tuple[str, str], dict[tuple[str, int], list[RankPoint]]] = defaultdict(lambda: defaultdict(list))
    for one in sorted(points, key=lambda one: one.key):
        by_board[one.dataset, one.task][one.repo, one.num].append(one)
    named = {key: next(iter(lines.values()))[-1].benchmark for key, lines in by_board.items()}
    boards = []
    for number, key in enumerate(sorted(by_board, key=lambda key: (named[key].lower(), key)), start=1):
        lines = sorted(by_board[key].values(), key=lambda one: (one[-1].rank or SHOWN + 1, one[-1].key))
        drawn = tuple(RankLine(tuple(one), style, endpoint) for style, one in enumerate(lines))
        link = view_link(*key, WIDEST, endpoint=endpoint)
        boards.append(RankBoard(f"board-{number}", named[key], *key, link, drawn))
    return boards


def rank_page(points: Sequence[RankPoint], endpoint: str = PUBLIC_HUB) -> str:
    """The page's text; it needs no other file and no network, and the same points give the same bytes.

    Needs jinja2.
    """
    from benchwright.pages import environment

    boards = rank_boards(points, endpoint)
    template = environment(_TEMPLATES).get_template("ranks.html.j2", globals={"counted": counted})
    lines = {board.id: [[line.model, line.style, line.drawn] for line in board.lines] for board in boards}
    return template.render(
        boards=boards,
        days=sorted({one.day for one in points}),
        results=sum(len(board.lines) for board in boards),
        shown=SHOWN,
        styles=_STYLES,
        data={"lines": lines, "shown": SHOWN, "styles": _STYLES},
    )


def _words(one: RankPoint) -> str:
    where = f"number {one.rank}, {one.view}" if one.view else f"in no view's first {SHOWN}"
    return f"{one.repo}, {one.value}, {one.day}: {where}"
