"""The words that say where a number comes from: what follows "These results were extracted from" in a pull request."""

from __future__ import annotations

import re

from benchwright.hub.sources.find import Place

_LONGEST_QUOTE = 160
_NUMBERED = re.compile(r"(?:table|tab\.|figure|fig\.)\s*[A-Z]?\.?\d+[a-z]?", re.I)
_FIGURE_OR_CONTROL = re.compile(
    r"\b(?:figures?|fig\.|charts?|plots?|graphs?|diagrams?|images?|screenshots?|bars?|curves?|pickers?|toggles?|menus?|drop-?downs?"
    r"|tabs?|buttons?|selectors?|sliders?|filters?|checkbox(?:es)?|switch(?:es)?|click(?:s|ed|ing)?|hover(?:s|ed|ing)?"
    r"|expand(?:s|ed|ing)?|unfold(?:s|ed|ing)?|reveal(?:s|ed|ing)?|select(?:s|ed|ing)?|open(?:s|ed|ing)?)\b",
    re.I,
)
_UNFINISHED = re.compile(r"<[^<>]*>")


def names_figure_or_control(origin: str | None) -> bool:
    """Whether an origin says which figure has the number, or what reveals it: a reviewer cannot search for it then."""
    return bool(origin) and is_finished(origin) and _FIGURE_OR_CONTROL.search(str(origin)) is not None


def is_finished(origin: str | None) -> bool:
    """Whether no part of an origin is still to be filled in, as ``<which bar>`` is."""
    return not _UNFINISHED.search(origin or "")


def propose(place: Place | None, source_name: str) -> str:
    """An origin that leads to a place; ``<...>`` where a person has to look. Without a place, all of that is open."""
    called = _called(place, source_name)
    if place is None:
        return f"{called} (<which figure and bar, or what reveals the number>)"
    opened = f', in the section "{place.control}", which a click opens' if place.control else ""
    if place.kind == "table":
        return f"{_table(place, called)}{_headers(place)}{opened}"
    if place.kind == "image":
        return f'{called} (the figure "{_short(place.label or place.heading)}", <which bar or line>){opened}'
    if place.kind == "hidden":
        return f"{called} (<what reveals it; it is in {place.label}>)"
    return f'{called} ("{_short(place.quote)}"){opened}'


def _called(place: Place | None, source_name: str) -> str:
    if place is not None and place.document in ("the model card", "the abstract"):
        return place.document if place.document != "the abstract" else "the abstract of the paper"
    name = source_name.partition("(")[0].strip() or source_name
    if name.lower() in ("model card", "paper", "blog", "technical report", "readme"):
        name = name.lower()
    return name if name.lower().startswith("the ") else f"the {name}"


def _table(place: Place, called: str) -> str:
    numbered = _NUMBERED.match(place.caption)
    if numbered:
        return f"{numbered[0]} of {called}"
    if place.caption:
        return f'the table "{_short(place.caption, 80)}" of {called}'
    return f'the table under "{_short(place.heading, 80)}" of {called}' if place.heading else f"the table of {called}"


def _headers(place: Place) -> str:
    told = [f"{_short(one, 60)} {kind}" for one, kind in ((place.row, "row"), (place.column, "column")) if one]
    told += [f"under {_short(place.group, 60)}"] if place.group else []
    return f" ({', '.join(told)})" if told else ""


def _short(text: str, most: int = _LONGEST_QUOTE) -> str:
    text = text.replace('"', "'").replace("<", "(").replace(">", ")")
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."
