"""One look for every figure and page: colours by model family, marks by variant, the run's own methods apart.

The colours are Okabe and Ito's, told apart with any kind of colour vision. One of them, vermillion, is kept for the
run's own methods and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchwright.leaderboard.entrants import Entrant
from benchwright.leaderboard.families import BASELINE, FOUNDATION, NEURAL, OTHER, SYSTEM, TREE

NEW_COLOUR = "#D55E00"
FAMILY_COLOURS = {
    TREE: "#009E73",
    NEURAL: "#0072B2",
    FOUNDATION: "#CC79A7",
    BASELINE: "#6E6E6E",
    SYSTEM: "#E69F00",
    OTHER: "#56B4E9",
}
TEXT_COLOUR, MUTED_COLOUR, GRID_COLOUR, FRONT_COLOUR = "#1F2328", "#57606A", "#D8DEE4", "#1F2328"

MARKS = {"default": "o", "tuned": "s", "tuned + ensemble": "D", "": "^"}
"""matplotlib's marker of each variant."""
SYMBOLS = {"default": "circle", "tuned": "square", "tuned + ensemble": "diamond", "": "triangle-up"}
"""plotly's symbol of each variant: the same shapes."""


def colour_of(entrant: Entrant) -> str:
    """The colour of an entrant in every figure and page."""
    return NEW_COLOUR if entrant.new else FAMILY_COLOURS[entrant.family]


def shortened(text: str, width: int = 32) -> str:
    """A name that fits ``width`` characters: cut in its middle, since beginnings and ends tell names apart."""
    if len(text) <= width:
        return text
    head = width // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def shortened_apart(texts: Iterable[str], width: int = 32) -> Mapping[str, str]:
    """Each text with its short form; texts that would look the same once cut keep as much as tells them apart."""
    wanted = sorted(set(texts))
    widths = dict.fromkeys(wanted, width)
    while True:
        cut = {text: shortened(text, widths[text]) for text in wanted}
        seen = list(cut.values())
        same = [text for text in wanted if len(text) > widths[text] and seen.count(cut[text]) > 1]
        if not same:
            return cut
        for text in same:
            widths[text] += 4
