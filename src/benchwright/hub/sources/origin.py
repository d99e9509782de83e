"""The words that say where a number comes from: what follows "These results were extracted from" in a pull request."""

from __future__ import annotations

import re

from benchwright.hub.sources.find import Place
from benchwright.hub.spec import Unit

_LONGEST_QUOTE = 160
_NUMBERED = re.compile(r"(?:table|tab\.|figure|fig\.)\s*[A-Z]?\.?\d+[a-z]?", re.I)
_QUOTED = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')
_HEADERS = re.compile(r"[^,;()]*\b(?:rows?|columns?|cells?)\b[^,;()]*", re.I)
"""What names a place in a table: a benchmark may be called after charts."""
_SEEN = "(?:figure|graphic|image|picture|chart|plot|graph|diagram)"
_NO_FIGURE = re.compile(
    rf"\b(?:about|for|of|on) {_SEEN}s\b|[(]\s*{_SEEN}s\s*[)]"
    r"|\b(?:above|after|before|below|beneath|beside|following|near|next to|under)"
    rf" (?:(?:an?|that|the|this) )?(?:\w+ )?{_SEEN}s?\b",
    re.I,
)
"""A benchmark or a section about figures, and what is only next to one."""
_FIGURE = re.compile(
    r"\b(?:figures?|fig\.|figs\.)\s*[A-Z]?\.?\d"
    r"|\b(?:bars?|curves?|screenshots?|info-?graphics?)\b"
    r"|\b(?:bar|line|scatter|radar|spider|pie) ?(?:charts?|plots?|graphs?|diagrams?)\b"
    r"|\b(?:figure|graphics?|images?|pictures?|charts?|plots?|graphs?|diagrams?)"
    r"(?=\s*(?:$|[\",;:.()]|(?:\d+|above|at|behind|below|beside|called|from|in|next|of|on|over|showing|that|titled|under|which|with)\b))",
    re.I,
)
_CONTROL = re.compile(
    r"\b(?:pickers?|toggles?|drop-?downs?|check ?box(?:es)?|sliders?|tool ?tips?|buttons?)\b"
    r"|\b(?:click(?:s|ed|ing)?|hover(?:s|ed|ing)?|unfold(?:s|ed|ing)?)\b",
    re.I,
)
_ORDER = (
    r"(?:(?:^|[(,;:]\s*|\b(?:after|and|by|first|must|please|then|to|you) )"
    r"(?:choos(?:e|ing)|expand(?:ing)?|filter(?:ing)?|open(?:ing)?|pick(?:ing)?|press(?:ing)?|reveal(?:ing)?|select(?:ing)?|set(?:ting)?"
    r"|switch(?:ing)?|tap(?:ping)?)(?![\w-]))"
)
_DONE = (
    r"(?:\b(?:chosen|expanded|filtered|opened|picked|pressed|revealed|selected|switched)"
    r"(?=\s*(?:$|[,;:.()]|(?:as|at|by|first|for|from|in|on|there|to|under|via|with)\b))|\bset to\b)"
)
"""What was done to a control; not what tells things apart, as in "the selected tasks"."""
_NOUN = r"\b(?:accordions?|filters?|legends?|lists?|menus?|options?|sections?|selectors?|switch(?:es)?|tabs?)\b"
_ACTION = re.compile(
    rf"(?:{_ORDER}|{_DONE})[^,;()]*{_NOUN}|{_NOUN}[^,;()]*,? (?:{_ORDER}|{_DONE})|{_ORDER} (?:on )?(?:the )?\"\"", re.I
)
_UNFINISHED = re.compile(r"<[^<>]*>")


def names_figure_or_control(origin: str | None) -> bool:
    """Whether an origin says which figure has the number, or what reveals it: a reviewer cannot search for it then.

    What it quotes, and the rows and columns that it names, say neither.
    """
    if not origin or not is_finished(origin):
        return False
    told = _NO_FIGURE.sub(" ", _HEADERS.sub(" ", _QUOTED.sub('""', origin)))
    return any(pattern.search(told) for pattern in (_FIGURE, _CONTROL, _ACTION))


def is_finished(origin: str | None) -> bool:
    """Whether no part of an origin is still to be filled in, as ``<which bar>`` is."""
    return not _UNFINISHED.search(origin or "")


def propose(place: Place | None, source_name: str, unit: Unit | None = None) -> str:
    """An origin that leads to a place; ``<...>`` where a person has to look. Without a place, all of that is open.

    It says what unit the source gives where that is not the board's: a reviewer looks for other digits there.
    """
    return f"{_origin(place, _called(place, source_name))}{_given(unit)}"


def _given(unit: Unit | None) -> str:
    if unit is None or unit.source == unit.board:
        return ""
    return ", which gives a fraction" if unit.source == "fraction" else ", which gives percent"


def _origin(place: Place | None, called: str) -> str:
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
