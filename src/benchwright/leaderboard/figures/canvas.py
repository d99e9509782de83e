"""What every figure shares: one look, a layout in inches, and files that do not change from run to run.

matplotlib is used without pyplot: nothing here leaves a figure or a setting behind.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.contract import counted
from benchwright.files import atomic_writer
from benchwright.leaderboard.style import GRID_COLOUR, MUTED_COLOUR, NEW_COLOUR, TEXT_COLOUR

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 160
PAD = 0.14
"""Inches between the parts of a figure, and around it."""
SMALL, MEDIUM, LARGE = 8.0, 9.0, 12.0
"""Text sizes in points: notes and legends, names and axes, titles."""
_LINE = 1.3
"""Lines of text stand this many times their size apart."""
_NARROWEST = 6.0
"""Inches; titles and notes need as much whatever the axes do."""
_HANDLE = 0.42
"""Inches that a legend's mark takes, with the gap behind it."""

_FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Noto Emoji")
"""The first comes with matplotlib; the others, where they are installed, have the letters it lacks."""
_LOOK = {
    "text.parse_math": False,  # a "$" in a method's name is a dollar
    "text.color": TEXT_COLOUR,
    "axes.edgecolor": MUTED_COLOUR,
    "axes.labelcolor": TEXT_COLOUR,
    "axes.labelsize": MEDIUM,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "grid.color": GRID_COLOUR,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED_COLOUR,
    "ytick.color": MUTED_COLOUR,
    "xtick.labelcolor": TEXT_COLOUR,
    "ytick.labelcolor": TEXT_COLOUR,
    "xtick.labelsize": MEDIUM,
    "ytick.labelsize": MEDIUM,
    "font.size": MEDIUM,
    "pdf.fonttype": 42,  # text stays text, and can be selected and edited
    "svg.fonttype": "path",
    "svg.hashsalt": "benchwright",
}
_UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}
_BOX = {"boxstyle": "round,pad=0.25", "facecolor": "#FFF3EB", "edgecolor": NEW_COLOUR, "linewidth": 0.9}
NEW_TEXT: dict[str, Any] = {"color": NEW_COLOUR, "fontweight": "bold", "bbox": _BOX}
"""How the name of one of the run's own methods is written."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a figure is about, for its heading."""

    arena: str
    subset: str
    n_datasets: int
    n_splits: int

    def __str__(self) -> str:
        size = f"{counted(self.n_datasets, 'dataset')}, {counted(self.n_splits, 'split')}"
        return f"{self.arena} · {self.subset} · {size}"


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes' size and the room around them that their own texts take, in inches."""

    width: float
    height: float
    left: float = 0.0
    bottom: float = 0.0
    top: float = 0.0
    right: float = 0.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure, its axes, and where their lower left corner is, in inches from the figure's."""

    figure: Figure
    axes: Axes
    x: float
    y: float


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Set matplotlib's defaults with our look, whatever the user's settings are; they are back afterwards."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_LOOK, "font.sans-serif": _installed_fonts()})
        yield


def sheet(title: str, setting: Setting, frame: Frame, *, legend: Sequence[Artist] = (), notes: Sequence[str]) -> Sheet:
    """A figure of its own size around ``frame``: title and setting above, the legend to its right, notes below.

    Needs ``drawing``. A handle in ``legend`` brings its label along.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    aside = PAD + _HANDLE + max(text_width(str(handle.get_label()), SMALL) for handle in legend) if legend else 0.0
    width = max(_NARROWEST, 2 * PAD + frame.left + frame.width + frame.right + aside)
    head = [(line, LARGE, "bold") for line in wrapped(title, LARGE, width - 2 * PAD, bold=True)]
    head += [(line, MEDIUM, "normal") for line in wrapped(str(setting), MEDIUM, width - 2 * PAD)]
    foot = [line for note in notes for line in wrapped(note, SMALL, width - 2 * PAD)]
    above = PAD + sum(_line(size) for _, size, _ in head) + PAD + frame.top
    below = frame.bottom + PAD + len(foot) * _line(SMALL) + PAD
    height = above + max(frame.height, len(legend) * _line(SMALL) * 1.2) + below

    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    y = height - PAD
    for line, size, weight in head:
        _write(figure, y, line, size, fontweight=weight)
        y -= _line(size)
    y = PAD + len(foot) * _line(SMALL)
    for line in foot:
        _write(figure, y, line, SMALL, color=MUTED_COLOUR)
        y -= _line(SMALL)
    x, y = PAD + frame.left, height - above - frame.height
    axes = figure.add_axes((x / width, y / height, frame.width / width, frame.height / height))
    if legend:
        figure.legend(
            handles=list(legend),
            loc="upper left",
            bbox_to_anchor=(x + frame.width + frame.right + PAD, height - above),
            bbox_transform=figure.dpi_scale_trans,
            fontsize=SMALL,
            frameon=False,
            borderpad=0,
            borderaxespad=0,
            handlelength=1.6,
            handletextpad=0.8,
            labelspacing=0.5,
        )
    return Sheet(figure, axes, x, y)


def empty(title: str, setting: Setting, reason: str, *, notes: Sequence[str] = ()) -> Figure:
    """A figure that says why it shows nothing."""
    page = sheet(title, setting, Frame(width=_NARROWEST - 2 * PAD, height=1.2), notes=notes)
    page.axes.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    page.axes.text(0.5, 0.5, reason, ha="center", va="center")
    return page.figure


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Write a figure in every format ("pdf", "png", "svg"), each file atomically: the same bytes each time.

    Raises:
        OSError: the folder cannot be written.
    """
    files = []
    for format_ in formats:
        path = folder / f"{name}.{format_}"
        with atomic_writer(path) as file:
            figure.savefig(file, format=format_, dpi=DPI, metadata=_UNDATED[format_])
        files.append(path)
    return files


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of one line of text in inches, ``size`` in points. Needs ``drawing``."""
    return _extent(text, size, bold)[0]


def text_height(size: float) -> float:
    """The height of one line of text in inches, from the lowest descender to the highest letter."""
    return _extent("lp", size, False)[1]


def wrapped(text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """The lines of a text in ``width`` inches, broken at spaces; a word that is longer is broken inside."""
    lines = [""]
    for word in text.split():
        rest = word
        while text_width(rest, size, bold=bold) > width:
            fits = next(n for n in range(len(rest), 0, -1) if n == 1 or text_width(rest[:n], size, bold=bold) <= width)
            lines += [rest[:fits]]
            rest = rest[fits:]
        longer = f"{lines[-1]} {rest}".strip()
        if text_width(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(rest)
    return [line for line in lines if line]


@lru_cache(maxsize=4096)
def _extent(text: str, size: float, bold: bool) -> tuple[float, float]:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=_installed_fonts(), size=size, weight="bold" if bold else "normal")
    width, height, _ = RendererAgg(1, 1, DPI).get_text_width_height_descent(text, font, ismath=False)
    return width / DPI, height / DPI


@lru_cache(maxsize=1)
def _installed_fonts() -> list[str]:
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [name for name in _FONTS if name in installed]


def _line(size: float) -> float:
    return size * _LINE / 72


def _write(figure: Figure, y: float, text: str, size: float, **style: Any) -> None:
    figure.text(PAD, y, text, transform=figure.dpi_scale_trans, fontsize=size, va="top", ha="left", **style)
