"""The words that figures share: names that fit, the legend, and what every figure has to admit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.leaderboard.entrants import VARIANTS, Entrant
from benchwright.leaderboard.families import FAMILIES
from benchwright.leaderboard.style import FAMILY_COLOURS, MARKS, NEW_COLOUR, TEXT_COLOUR, shortened_apart

if TYPE_CHECKING:
    from matplotlib.artist import Artist

_SHORT = {"": "", "tuned + ensemble": " (T+E)"}
_MARK_NAMES = {"": "no variants"}
THIS_RUN = "this run"


def short_methods(field: Sequence[Entrant]) -> Mapping[str, str]:
    """The method's short name by entrant name: the same for all variants of a method, apart from other methods'."""
    cut = shortened_apart(entrant.method for entrant in field)
    return {entrant.name: cut[entrant.method] for entrant in field}


def short_labels(field: Sequence[Entrant]) -> Mapping[str, str]:
    """The short label by entrant name: the method's short name and the variant, "T+E" for tuned + ensemble."""
    methods = short_methods(field)
    return {e.name: methods[e.name] + _SHORT.get(e.variant, f" ({e.variant})") for e in field}


def legend(field: Sequence[Entrant]) -> list[Artist]:
    """The handles of the colours and marks that occur: this run, families, then variants."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    families = {entrant.family for entrant in field if not entrant.new}
    variants = {entrant.variant for entrant in field}
    colours = {THIS_RUN: NEW_COLOUR} if any(entrant.new for entrant in field) else {}
    colours |= {family: FAMILY_COLOURS[family] for family in FAMILIES if family in families}
    handles: list[Artist] = [Patch(color=colour, label=name) for name, colour in colours.items()]
    handles += [
        Line2D([], [], color=TEXT_COLOUR, marker=MARKS[variant], markersize=5.5, linestyle="none", label=name)
        for variant in (*VARIANTS, "")
        if variant in variants and (name := _MARK_NAMES.get(variant, variant))
    ]
    return handles


def imputed_note(field: Sequence[Entrant]) -> list[str]:
    """Who has imputed results, and how many; nothing where nobody has."""
    labels = short_labels(field)
    shares = [f"{labels[e.name]} {100 * e.imputed:.1f}%" for e in field if e.imputed > 0]
    return [f"With imputed results: {', '.join(shares)}."] if shares else []
