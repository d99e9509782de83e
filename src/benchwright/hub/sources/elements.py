"""What the elements of HTML, and of arXiv's and KaTeX's, mean for what a reader sees."""

from __future__ import annotations

import re
from typing import Literal

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
NAMING = HEADINGS | {"figcaption", "caption", "summary", "title"}
"""Elements whose text is the name of something."""
BLOCKS = NAMING | {
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figure",
    "footer", "form", "header", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead",
    "ul",
}  # fmt: skip
"""Elements that begin a line, and end one."""
DROPPED = frozenset({"style", "annotation", "annotation-xml"})
"""Looks, and the sources of formulas beside the formulas."""
HIDDEN = {
    "script": "the page's data",
    "template": "a part that is shown later",
    "noscript": "a part for browsers without scripts",
    "select": "a list to choose from",
    "del": "struck through",
    "s": "struck through",
    "strike": "struck through",
}
"""Elements whose text is not there for who looks at the page, and what it is."""
NOT_SHOWN = "a part that is not shown at first"
DATA_ATTRIBUTES = ("aria-label", "title", "value", "content")
"""Attributes that may hold numbers, beside those called ``data-*``."""

SCRIPTED = frozenset({"msub", "msubsup", "msup"})
"""Elements of formulas whose first part is what the others are raised or lowered at."""

Role = Literal["", "table", "tr", "td", "raised", "dropped", "hidden", "note", "figure", "details", "svg"]
"""What an open element does to the text within it."""
PARTS: dict[str, Role] = {"table": "table", "tr": "tr", "td": "td", "th": "td"}
ROLES: dict[str, Role] = {
    "sup": "raised",
    "sub": "raised",
    "figure": "figure",
    "details": "details",
    "svg": "svg",
}

_ARIA_PARTS = {
    "table": "table",
    "grid": "table",
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
}
_CLASS_PARTS = {"ltx_tabular": "table", "ltx_tr": "tr", "ltx_th": "th", "ltx_td": "td"}
"""How arXiv's HTML (LaTeXML) calls the parts of a table that are no table's elements."""
_UNSEEN = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.I)

Attributes = dict[str, str]


def part_of(tag: str, told: Attributes) -> str:
    """The part of a table that an element is, by its name, its role or its class; "" for none."""
    if tag in PARTS:
        return tag
    by_role = _ARIA_PARTS.get(told.get("role", ""))
    if by_role is not None or "ltx_" not in told.get("class", ""):
        return by_role or ""
    classes = told["class"].split()
    return next((part for name, part in _CLASS_PARTS.items() if name in classes), "")


def is_dropped(tag: str, told: Attributes) -> bool:
    """Whether an element only says again what stands beside it: KaTeX writes a formula twice, arXiv a note's mark."""
    return tag in DROPPED or not {"katex-html", "ltx_tag_note"}.isdisjoint(told.get("class", "").split())


def is_note(told: Attributes) -> bool:
    """Whether an element is a footnote that stands where its mark is, as in arXiv's HTML."""
    return "ltx_note_outer" in told.get("class", "").split()


def is_unseen(told: Attributes) -> bool:
    """Whether an element is not shown until something is done."""
    return "hidden" in told or _UNSEEN.search(told.get("style", "")) is not None


def number(told: Attributes, name: str) -> int:
    """The number that an attribute is, 1 where it is none."""
    word = told.get(name, "1").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 5 else 1
