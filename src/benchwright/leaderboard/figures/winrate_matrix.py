"""Who beats whom: the share of splits on which the row's method beats the column's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.figures.canvas import (
    MEDIUM,
    PAD,
    SMALL,
    Frame,
    Setting,
    Sheet,
    empty,
    sheet,
    text_width,
)
from benchwright.leaderboard.figures.wording import imputed_note, short_labels
from benchwright.leaderboard.style import NEW_COLOUR, TEXT_COLOUR
from benchwright.leaderboard.winrates import representatives

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_TITLE = "Win rates between methods"
_MOST_NUMBERS = 25
"""How many methods a matrix may have for its cells to hold numbers."""
_CELL, _SMALL_CELL = 0.36, 0.17
_SMALLEST = 1.2
_COLOURS = "BrBG"
"""ColorBrewer's brown to green over white: told apart with any colour vision, and free of the run's vermillion."""
_SCALE_ROOM = 0.75
"""Inches to the right of the matrix that its colour scale takes."""


def winrate_matrix(field: Sequence[Entrant], winrates: pd.DataFrame, board: pd.DataFrame, setting: Setting) -> Figure:
    """The figure: one row and column for the variant that stands for each method, best on top. Needs ``drawing``.

    ``winrates`` and ``board`` are a subset's, by unique name; those that are no entrants are left out.
    """
    by_name = {entrant.name: entrant for entrant in field}
    present = [name for name in winrates.index if name in by_name]
    best = representatives(winrates.loc[present, present], board)
    if len(best) < 2:
        return empty(_TITLE, setting, "Nothing to show: a win rate needs two methods with results of their own.")
    shown = [by_name[name] for name in best.index]
    notes = [
        "The row's win rate over the column; ties count half. Rows are sorted by their mean. A method is shown by its "
        "tuned and ensembled variant (T+E), or else its default."
        + (" This run's are bold." if any(entrant.new for entrant in shown) else ""),
        *imputed_note(shown),
    ]
    labels = short_labels(field)
    names = [labels[entrant.name] for entrant in shown]
    cell = _CELL if len(shown) <= _MOST_NUMBERS else _SMALL_CELL
    cell = max(cell, _SMALLEST / len(shown))
    size = MEDIUM if len(shown) <= _MOST_NUMBERS else SMALL
    room = max(text_width(name, size, bold=entrant.new) for name, entrant in zip(names, shown, strict=True)) + PAD
    frame = Frame(cell * len(shown), cell * len(shown), left=room, top=room, right=_SCALE_ROOM)
    page = sheet(_TITLE, setting, frame, notes=notes)
    _paint(page, frame, 100 * best.to_numpy(dtype=float))
    _name(page, names, [entrant.new for entrant in shown], size)
    return page.figure


def _paint(page: Sheet, frame: Frame, percent: np.ndarray) -> None:
    """The cells and their colour scale; the diagonal, a method against itself, stays blank."""
    np.fill_diagonal(percent, np.nan)
    count = len(percent)
    axes, figure = page.axes, page.figure
    edges = np.arange(count + 1) - 0.5
    cells = axes.pcolormesh(edges, edges, percent, cmap=_COLOURS, vmin=0, vmax=100, edgecolor="white", linewidth=0.6)
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    axes.set_facecolor("white")
    if count <= _MOST_NUMBERS:
        for row, column in zip(*np.nonzero(np.isfinite(percent)), strict=True):
            value = percent[row, column]
            colour = "white" if abs(value - 50) > 30 else TEXT_COLOUR
            axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=SMALL, color=colour)
    width, height = figure.get_size_inches()
    tall = min(frame.height, 3.0)
    x, y = page.x + frame.width + PAD, page.y + frame.height - tall
    scale = figure.colorbar(cells, cax=figure.add_axes((x / width, y / height, 0.14 / width, tall / height)))
    scale.set_ticks([0, 25, 50, 75, 100], labels=["0%", "25%", "50%", "75%", "100%"], fontsize=SMALL)
    scale.outline.set_visible(False)


def _name(page: Sheet, names: Sequence[str], new: Sequence[bool], size: float) -> None:
    axes = page.axes
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(range(len(names)), labels=names, fontsize=size)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.tick_params(axis="x", rotation=90)
    axes.spines[:].set_visible(False)
    own: dict[str, Any] = {"color": NEW_COLOUR, "fontweight": "bold"}
    for label, is_new in zip(axes.get_xticklabels(), new, strict=True):
        label.set(**own if is_new else {})
    for at, (label, is_new) in enumerate(zip(axes.get_yticklabels(), new, strict=True)):
        label.set(**own if is_new else {})
        if is_new:
            for outline in (axes.axhline, axes.axvline):
                for side in (at - 0.5, at + 0.5):
                    outline(side, color=NEW_COLOUR, linewidth=1.0, clip_on=False)
