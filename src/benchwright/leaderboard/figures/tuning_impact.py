"""What tuning and ensembling bring: every variant's Elo with its interval, side by side, method by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.leaderboard.entrants import VARIANTS, Entrant
from benchwright.leaderboard.figures.canvas import (
    MEDIUM,
    NEW_TEXT,
    PAD,
    Frame,
    Setting,
    Sheet,
    empty,
    sheet,
    text_height,
    text_width,
)
from benchwright.leaderboard.figures.wording import imputed_note, legend, short_methods
from benchwright.leaderboard.style import MARKS, NEW_COLOUR, TEXT_COLOUR, colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLE = "Elo of every method, default and tuned"
_STEP, _GAP = 0.09, 0.12
"""Inches between two variants of a method, and between two methods."""
_SHORTEST_LYING, _SHORTEST, _ACROSS = 2.4, 4.2, 5.0
"""Inches: the least that the axis of methods takes in either figure, and the length of the axis of Elo."""
_TICK_ROOM = 0.24
_LEAST_SPAN = 200
"""Elo that the axis spans at least: close scores should look close."""
_BEYOND = 0.7
"""How far the axis follows intervals beyond the outermost points, as a share of the points' span."""
_BOTH_SIDES = 6.0
"""Inches from which on the Elo axis is written on both sides."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A method's place: the middles of its variants along the axis of methods, in inches, and its two ends."""

    name: str
    variants: tuple[Entrant, ...]
    places: tuple[float, ...]
    start: float
    end: float

    @property
    def new(self) -> bool:
        return self.variants[0].new


def tuning_impact(field: Sequence[Entrant], setting: Setting, *, horizontal: bool) -> Figure:
    """The figure: methods by their best variant's Elo, one mark a variant with its 95% interval. Needs ``drawing``.

    ``horizontal`` puts the methods on the y axis, best on top; otherwise they are on the x axis, best on the left.
    """
    if not field:
        return empty(_TITLE, setting, "Nothing to show: no method has a result of its own.")
    slots = _slots(field, _SHORTEST_LYING if horizontal else _SHORTEST)
    low, high = _limits(field)
    notes = _notes(field, setting, low, high)
    page = sheet(_TITLE, setting, _frame(slots, horizontal=horizontal), legend=legend(field), notes=notes)
    _dress(page, slots, (low, high), horizontal=horizontal)
    for slot in slots:
        for entrant, place in zip(slot.variants, slot.places, strict=True):
            _interval(page.axes, entrant, place, (low, high), horizontal=horizontal)
            x, y = _turned(place, entrant.elo, horizontal=horizontal)
            look: dict[str, Any] = {"color": colour_of(entrant), "marker": MARKS[entrant.variant], "markersize": 5.5}
            page.axes.plot([x], [y], markeredgecolor="white", markeredgewidth=0.6, zorder=3, **look)
    return page.figure


def _slots(field: Sequence[Entrant], shortest: float) -> list[_Slot]:
    names = short_methods(field)
    methods: dict[Any, list[Entrant]] = {}
    for entrant in field:  # best Elo first, so methods come by their best variant
        methods.setdefault((entrant.source, entrant.method), []).append(entrant)
    order = (*VARIANTS, "")
    rooms = [(len(variants) - 1) * _STEP + _GAP + 0.06 for variants in methods.values()]
    stretch = max(1.0, shortest / sum(rooms))
    slots, start = [], 0.0
    for variants, room in zip(methods.values(), rooms, strict=True):
        variants.sort(key=lambda entrant: order.index(entrant.variant))
        end = start + room * stretch
        step = _STEP * min(stretch, 3.0)
        first = (start + end - (len(variants) - 1) * step) / 2
        places = tuple(first + step * at for at in range(len(variants)))
        slots.append(_Slot(names[variants[0].name], tuple(variants), places, start, end))
        start = end
    return slots


def _frame(slots: Sequence[_Slot], *, horizontal: bool) -> Frame:
    names = max(text_width(slot.name, MEDIUM, bold=slot.new) for slot in slots) + PAD
    along = slots[-1].end
    twice = along > _BOTH_SIDES
    number = text_width("-10,000", MEDIUM) + 0.1
    title = text_height(MEDIUM) + 0.08
    if horizontal:
        return Frame(_ACROSS, along, left=names, bottom=_TICK_ROOM + title, top=_TICK_ROOM * twice)
    return Frame(along, _ACROSS * 0.8, left=number + title, bottom=names, right=number * twice)


def _dress(page: Sheet, slots: Sequence[_Slot], limits: tuple[float, float], *, horizontal: bool) -> None:
    """Axes, names and bands: a grey one behind every other method, one of their own behind the run's."""
    axes = page.axes
    along, across = (axes.yaxis, axes.xaxis) if horizontal else (axes.xaxis, axes.yaxis)
    ends = (slots[-1].end, 0.0) if horizontal else (0.0, slots[-1].end)
    (axes.set_ylim if horizontal else axes.set_xlim)(*ends)
    (axes.set_xlim if horizontal else axes.set_ylim)(*limits)
    band = axes.axhspan if horizontal else axes.axvspan
    for at, slot in enumerate(slots):
        if slot.new:
            band(slot.start, slot.end, color=NEW_COLOUR, alpha=0.10, linewidth=0, zorder=0)
        elif at % 2:
            band(slot.start, slot.end, color=TEXT_COLOUR, alpha=0.035, linewidth=0, zorder=0)
    along.set_ticks([(slot.start + slot.end) / 2 for slot in slots], labels=[slot.name for slot in slots])
    along.set_tick_params(length=0, pad=5, rotation=0 if horizontal else 90)
    for slot, label in zip(slots, along.get_ticklabels(), strict=True):
        if slot.new:
            label.set(**NEW_TEXT)
    across.set_major_formatter(lambda elo, _: f"{elo:,.0f}")
    across.set_label_text("Elo, higher is better")
    across.grid(visible=True)
    if slots[-1].end > _BOTH_SIDES:
        axes.tick_params(top=horizontal, labeltop=horizontal, right=not horizontal, labelright=not horizontal)
        along.set_tick_params(top=False, labeltop=False, right=False, labelright=False)


def _limits(field: Sequence[Entrant]) -> tuple[float, float]:
    """The ends of the Elo axis: all points, and intervals as far as they leave the points readable."""
    low, high = min(entrant.elo for entrant in field), max(entrant.elo for entrant in field)
    span = max(high - low, _LEAST_SPAN)
    lowest = min(entrant.elo - (entrant.elo_minus or 0) for entrant in field)
    highest = max(entrant.elo + (entrant.elo_plus or 0) for entrant in field)
    start, end = max(lowest, low - _BEYOND * span), min(highest, high + _BEYOND * span)
    margin = max(0.06 * span, (_LEAST_SPAN - (end - start)) / 2)
    return start - margin, end + margin


def _interval(axes: Axes, entrant: Entrant, place: float, limits: tuple[float, float], *, horizontal: bool) -> None:
    if entrant.elo_plus is None or entrant.elo_minus is None:
        return
    low, high = entrant.elo - entrant.elo_minus, entrant.elo + entrant.elo_plus
    shown = (max(low, limits[0]), min(high, limits[1]))
    colour = colour_of(entrant)
    axes.plot(*_turned([place, place], list(shown), horizontal=horizontal), color=colour, linewidth=1.3, alpha=0.75)
    for inside, (end, marker) in (
        (low >= limits[0], (limits[0], "<" if horizontal else "v")),
        (high <= limits[1], (limits[1], ">" if horizontal else "^")),
    ):
        if not inside:
            inward = end + (limits[1] - limits[0]) * (0.006 if end == limits[0] else -0.006)
            x, y = _turned(place, inward, horizontal=horizontal)
            axes.plot([x], [y], color=colour, marker=marker, markersize=3.5, markeredgewidth=0)


def _turned(along: Any, across: Any, *, horizontal: bool) -> tuple[Any, Any]:
    return (across, along) if horizontal else (along, across)


def _notes(field: Sequence[Entrant], setting: Setting, low: float, high: float) -> list[str]:
    with_interval = [e for e in field if e.elo_plus is not None and e.elo_minus is not None]
    if not with_interval:
        notes = ["No intervals: a single dataset leaves nothing to resample." if setting.n_datasets < 2 else ""]
    else:
        notes = ["Lines are 95% intervals over resampled datasets."]
        ends = [(e.elo - (e.elo_minus or 0), e.elo + (e.elo_plus or 0)) for e in with_interval]
        if any(start < low or end > high for start, end in ends):
            widest = max(end - start for start, end in ends)
            notes[0] += f" An arrow marks one that goes on beyond the axis; the widest spans {widest:,.0f} Elo."
    return [*notes, *imputed_note(field)]
