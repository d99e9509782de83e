"""Quality against time: who is on the front, and where the run's own methods stand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.leaderboard.entrants import Entrant, pareto_front
from benchwright.leaderboard.figures.canvas import (
    MEDIUM,
    NEW_TEXT,
    SMALL,
    Frame,
    Setting,
    Sheet,
    empty,
    sheet,
    text_height,
    text_width,
)
from benchwright.leaderboard.figures.placement import Box, Place, Wish, place_names
from benchwright.leaderboard.figures.wording import imputed_note, legend, short_labels
from benchwright.leaderboard.style import FRONT_COLOUR, MARKS, MUTED_COLOUR, NEW_COLOUR, TEXT_COLOUR, colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_QUALITY = {"elo": "Elo, higher is better", "improvability": "Improvability in percent, lower is better"}
_TIMES = {"train": "training", "infer": "inference"}
_MARK, _BIG_MARK = 5.5, 8.0
"""Points: a mark, and one of the front or of this run."""
_FOCUS, _FRONT, _OTHER = range(3)
_BACKING = {"boxstyle": "square,pad=0.05", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
"""Keeps a name readable across the grid and the front."""


@dataclass(frozen=True, slots=True)
class _Point:
    """An entrant on the axes: its values, where it is in inches from their lower left corner, and how it is named."""

    entrant: Entrant
    time: float
    quality: float
    x: float
    y: float
    rank: int

    @property
    def size(self) -> float:
        return _MARK if self.rank == _OTHER else _BIG_MARK


@dataclass(frozen=True, slots=True)
class _Scale:
    """The axes' ends; times are given by their decimal logarithm, and the better end of quality is on top."""

    width: float
    height: float
    left: float
    right: float
    bottom: float
    top: float

    def inches(self, time: float, quality: float) -> tuple[float, float]:
        x = self.width * (math.log10(time) - self.left) / (self.right - self.left)
        return x, self.height * (quality - self.bottom) / (self.top - self.bottom)


def pareto(field: Sequence[Entrant], setting: Setting, *, quality: str, time: str, focus_new: bool) -> Figure:
    """The figure: ``quality`` ("elo", "improvability") against ``time`` ("train", "infer"). Needs ``drawing``.

    Better is up and to the left. The front is a step line; its methods are always named, and with ``focus_new`` so are
    the run's own, in a box. Other names stand where there is room; the notes hold the rest, and who has no time.
    """
    what = "Elo" if quality == "elo" else "Improvability"
    title = f"{what} against {_TIMES[time]} time"
    timed = {e.name: value for e in field if (value := _time(e, time)) and math.isfinite(getattr(e, quality))}
    labels = short_labels(field)
    untimed = [labels[entrant.name] for entrant in field if entrant.name not in timed]
    notes = [f"Not shown, no time: {', '.join(untimed)}."] if untimed else []
    if not timed:
        reason = f"Nothing to show: no method has a positive, finite {_TIMES[time]} time."
        return empty(title, setting, reason, notes=notes)
    shown = [entrant for entrant in field if entrant.name in timed]
    values = [(timed[entrant.name], getattr(entrant, quality)) for entrant in shown]
    scale = _scale(values, better=1 if quality == "elo" else -1)
    points = _points(shown, values, scale, focus_new=focus_new)
    front = _steps(points, scale)
    places = _places(points, labels, scale, front)

    unnamed = [labels[p.entrant.name] for p, place in zip(points, places, strict=True) if place is None]
    notes = [_explanation(shown), *notes, *([f"No room for the name of: {', '.join(unnamed)}."] if unnamed else [])]
    number = text_width("-10,000", MEDIUM) + 0.1 + text_height(MEDIUM) + 0.1
    frame = Frame(scale.width, scale.height, left=number, bottom=0.3 + text_height(MEDIUM))
    page = sheet(title, setting, frame, legend=legend(shown), notes=[*notes, *imputed_note(shown)])
    _dress(page.axes, scale, f"Median {_TIMES[time]} time in seconds per 1,000 rows, lower is better", quality)
    _draw(page, points, front)
    for point, place in zip(points, places, strict=True):
        if place is not None:
            _name(page, point, labels[point.entrant.name], place)
    return page.figure


def _time(entrant: Entrant, time: str) -> float | None:
    return entrant.time_train if time == "train" else entrant.time_infer


def _scale(values: Sequence[tuple[float, float]], better: int) -> _Scale:
    times, qualities = [math.log10(time) for time, _ in values], [better * quality for _, quality in values]
    width = min(14.0, 6.4 + 0.06 * len(values))
    decades = max(max(times) - min(times), 1.0)
    spare = (decades - (max(times) - min(times))) / 2 + 0.08 * decades
    least = 100.0 if better > 0 else 1.0
    spread = max(max(qualities) - min(qualities), least)
    above = (spread - (max(qualities) - min(qualities))) / 2 + 0.09 * spread
    return _Scale(
        width=width,
        height=0.62 * width,
        left=min(times) - spare,
        right=max(times) + spare,
        bottom=better * (min(qualities) - above),
        top=better * (max(qualities) + above),
    )


def _points(
    shown: Sequence[Entrant], values: Sequence[tuple[float, float]], scale: _Scale, *, focus_new: bool
) -> list[_Point]:
    """The points with those to be named first in front: this run's in focus, the front, then the others by Elo."""
    up = 1 if scale.top > scale.bottom else -1
    front = set(pareto_front([(time, up * quality) for time, quality in values]))
    points = []
    for at, (entrant, (time, quality)) in enumerate(zip(shown, values, strict=True)):
        rank = _FOCUS if entrant.new and focus_new else _FRONT if at in front else _OTHER
        points.append(_Point(entrant, time, quality, *scale.inches(time, quality), rank))
    return sorted(points, key=lambda point: point.rank)


def _steps(points: Sequence[_Point], scale: _Scale) -> list[tuple[float, float]]:
    """The corners of the front's line in inches, from the axes' lower edge to their right one."""
    best = [points[at] for at in pareto_front([(point.x, point.y) for point in points])]
    corners = [(best[0].x, 0.0), (best[0].x, best[0].y)]
    for before, after in itertools.pairwise(best):
        corners += [(after.x, before.y), (after.x, after.y)]
    return [*corners, (scale.width, best[-1].y)]


def _places(
    points: Sequence[_Point], labels: Mapping[str, str], scale: _Scale, front: Sequence[tuple[float, float]]
) -> list[Place | None]:
    wishes = []
    for point in points:
        text, look = labels[point.entrant.name], _look(point)
        boxed = 0.05 if point.rank == _FOCUS else 0.0
        width = text_width(text, look["fontsize"], bold=look.get("fontweight") == "bold") + 2 * boxed
        height = text_height(look["fontsize"]) + 2 * boxed
        wishes.append(Wish(point.x, point.y, width, height, needed=point.rank != _OTHER))
    marks = [_around(point) for point in points]
    lines: list[Box] = [
        (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in itertools.pairwise(front)
    ]
    edge = 0.04
    return place_names(wishes, (edge, edge, scale.width - edge, scale.height - edge), marks, lines)


def _around(point: _Point) -> Box:
    half = point.size / 72 / 2 - 0.01
    return point.x - half, point.y - half, point.x + half, point.y + half


def _look(point: _Point) -> dict[str, Any]:
    if point.rank == _FOCUS:
        return {"fontsize": MEDIUM, **NEW_TEXT}
    size, colour = (MEDIUM, TEXT_COLOUR) if point.rank == _FRONT else (SMALL, MUTED_COLOUR)
    return {"fontsize": size, "color": NEW_COLOUR if point.entrant.new else colour, "bbox": _BACKING}


def _draw(page: Sheet, points: Sequence[_Point], front: Sequence[tuple[float, float]]) -> None:
    from matplotlib.lines import Line2D

    xs, ys = [page.x + x for x, _ in front], [page.y + y for _, y in front]
    where = page.figure.dpi_scale_trans
    line = Line2D(xs, ys, transform=where, color=FRONT_COLOUR, linewidth=1.1, alpha=0.8, zorder=1.5)
    page.axes.add_line(line)
    for point in reversed(points):
        edge = NEW_COLOUR if point.entrant.new else TEXT_COLOUR
        page.axes.plot(
            [point.time],
            [point.quality],
            color=colour_of(point.entrant),
            marker=MARKS[point.entrant.variant],
            markersize=point.size,
            markeredgecolor="white" if point.rank == _OTHER else edge,
            markeredgewidth=0.6 if point.rank == _OTHER else 1.0,
            zorder=3 + point.rank,  # small marks above big ones: neither hides the other
        )


def _name(page: Sheet, point: _Point, text: str, place: Place) -> None:
    from matplotlib.lines import Line2D

    figure, look = page.figure, _look(point)
    where = figure.dpi_scale_trans
    left, bottom, right, top = place.box
    middle = (page.x + (left + right) / 2, page.y + (bottom + top) / 2)
    figure.text(*middle, text, transform=where, ha="center", va="center", **look)
    if place.leader is not None:
        xs, ys = (page.x + point.x, page.x + place.leader[0]), (page.y + point.y, page.y + place.leader[1])
        page.axes.add_line(Line2D(xs, ys, transform=where, color=look["color"], linewidth=0.6, alpha=0.8, zorder=1))


def _dress(axes: Axes, scale: _Scale, time_label: str, quality: str) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    axes.set(xlim=(10**scale.left, 10**scale.right), ylim=(scale.bottom, scale.top))
    axes.set(xlabel=time_label, ylabel=_QUALITY[quality])
    axes.xaxis.set_major_locator(FixedLocator(_time_ticks(scale)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda time, _: f"{time:,.0f}" if 1 <= time < 1e6 else f"{time:g}")
    ticks = MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]).tick_values(*sorted((scale.bottom, scale.top)))
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if quality == "elo" or tick >= 0]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(visible=True)


def _time_ticks(scale: _Scale) -> list[float]:
    """Decades; with 2 and 5 between them where there are few, and not each where there are many."""
    first, last = math.floor(scale.left), math.ceil(scale.right)
    steps = (1, 2, 5) if scale.right - scale.left < 3 else (1,)
    stride = max(1, (last - first) // 8)
    return [float(f"{step}e{decade}") for decade in range(first, last + 1, stride) for step in steps]


def _explanation(shown: Sequence[Entrant]) -> str:
    line = "The line is the front: methods that no other beats in both. Up and left is better."
    return line + (" T+E: tuned + ensemble." if any(e.variant == "tuned + ensemble" for e in shown) else "")
