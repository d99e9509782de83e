"""HTML read into a page as a reader sees it, however it is nested: nothing is run, and no tree is built.

Beautiful Soup's tree, over the same parser, can be bounded neither in depth nor in time.
"""

from __future__ import annotations

import itertools
import re
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Literal

from benchwright.contract import Failure, Problem
from benchwright.hub.sources.elements import (
    BLOCKS,
    DATA_ATTRIBUTES,
    HEADINGS,
    HIDDEN,
    NAMING,
    NOT_SHOWN,
    PARTS,
    ROLES,
    SCRIPTED,
    VOID,
    Attributes,
    Role,
    is_dropped,
    is_note,
    is_unseen,
    number,
    part_of,
)
from benchwright.hub.sources.page import LOWERED, RAISED, Cell, Grid, Page, Passage, Table, plain

_SECONDS = 20.0
_PIECE = 2**16
_NOTES = 3
"""Passages behind a table that may be its notes."""
_LONGEST_CAPTION = 300
_OF_A_NAME = 20
"""Passages that a heading or a caption may have."""

_TABLE_LINE = re.compile(r"(?:table|tab\.)\s*[\w.]+", re.I)
_COMMENT_OR_SCRIPT = re.compile(r"<!--|<script\b", re.I)
_COMMENT_END = re.compile(r"--!?>")
_SCRIPT_END = re.compile(r"</script\s{0,9}>", re.I)


def read_markup(text: str) -> Page:
    """The page that HTML makes.

    Raises:
        Failure: it is too intricate to be read within 20 seconds (code ``source-unreadable``).
    """
    reader, text = _Reader(), _without_comments(text)
    for begin in range(0, len(text), _PIECE):
        reader.feed(text[begin : begin + _PIECE])
        reader.check_time()
    return reader.page()


def _without_comments(text: str) -> str:
    """The text as it is shown: the parser would look for the end of a comment again and again where there is none."""
    parts, place = [], 0
    while (found := _COMMENT_OR_SCRIPT.search(text, place)) is not None:
        comment = found[0] == "<!--"
        end = _COMMENT_END.search(text, found.end() - 2) if comment else _SCRIPT_END.search(text, found.end())
        parts.append(text[place : found.start() if comment else len(text) if end is None else end.end()])
        place = len(text) if end is None else end.end()
    return "".join([*parts, text[place:]])


@dataclass(slots=True)
class _Figure:
    """What stands together with a caption."""

    caption: str = ""


@dataclass(slots=True)
class _OpenTable:
    grid: Grid = field(default_factory=Grid)
    figure: _Figure | None = None
    caption: str = ""
    heading: str = ""
    before: str = ""
    control: str = ""
    words: list[str] | None = None
    span: tuple[int, int, bool] = (1, 1, False)


@dataclass(slots=True)
class _Open:
    """An element that is open, and what its end ends."""

    tag: str
    role: Role = ""
    label: str = ""
    since: int = 0
    parts: int = 0


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[_Open] = []
        self._names: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._tables: list[_OpenTable] = []
        self._figures: list[_Figure] = []
        self._controls: list[str] = []
        self._words: list[str] = []
        self._hidden: list[str] = []
        self._notes: list[list[str]] = []
        self._drawn: list[str] = []
        self._heading, self._text = "", ""
        self._until = time.monotonic() + _SECONDS
        self._done: list[tuple[_OpenTable, int]] = []
        self._passages: list[Passage] = []
        self._images: list[tuple[int, _Figure]] = []

    def check_time(self) -> None:
        """Give a page up that takes too long: there is always another way to nest what nobody closes."""
        if time.monotonic() > self._until:
            found = f"markup that takes more than {_SECONDS:.0f} seconds to read"
            fix = "save the part that matters, and name the file as source.file"
            raise Failure(Problem("source-unreadable", "the page", found, "a plain page", fix))

    def page(self) -> Page:
        """The page, once all is fed. What never ended, such as a tag, is no part of it."""
        if len(self.rawdata) < _PIECE:
            self.close()
        self._pop_to(0)
        self._flush()
        for place, figure in self._images:
            one = self._passages[place]
            self._passages[place] = replace(one, label=plain(figure.caption) or one.label)
        tables = tuple(self._table(*one) for one in self._done)
        return Page(tables, tuple(self._passages), len(self._images))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.check_time()
        told: Attributes = {name: value or "" for name, value in attrs}
        if tag in VOID:
            self._void(tag, told)
            return
        part = part_of(tag, told)
        if part in ("td", "th", "tr"):
            self._end_cell(row=part == "tr")
            if self._roles["hidden"]:
                self._break()
        elif part or tag in BLOCKS:
            self._break()
        opened = self._opened(tag, part, told)
        self._open.append(opened)
        self._names[tag] += 1
        self._roles[opened.role] += 1
        self._begin(opened, told)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID and self._roles["svg"] + self._names["math"]:
            self._pop_to(len(self._open) - 1)  # elsewhere the slash says nothing

    def handle_endtag(self, tag: str) -> None:
        self.check_time()
        place = self._place_of(tag)
        if place is not None:
            self._pop_to(place)
        if tag in BLOCKS:
            self._break()

    def handle_data(self, data: str) -> None:
        if self._roles["dropped"]:
            return
        data = data.replace(RAISED, "").replace(LOWERED, "")
        if not self._names["pre"]:
            data = data.replace("\n", " ").replace("\r", " ")
        self._buffer().append(data)

    # What elements do

    def _opened(self, tag: str, part: str, told: Attributes) -> _Open:
        if is_dropped(tag, told):
            return _Open(tag, "dropped")
        if tag in HIDDEN or is_unseen(told):
            return _Open(tag, "hidden", HIDDEN.get(tag, NOT_SHOWN))
        if is_note(told):
            return _Open(tag, "note")
        if part:
            return _Open(tag, PARTS[part], part)
        if self._open and self._open[-1].tag in SCRIPTED:
            self._open[-1].parts += 1
            if self._open[-1].parts > 1:
                return _Open(tag, "raised")
        return _Open(tag, ROLES.get(tag, ""), told.get("aria-label", ""), len(self._passages))

    def _begin(self, opened: _Open, told: Attributes) -> None:
        match opened.role:
            case "table":
                figure = self._figures[-1] if self._figures else None
                control = self._controls[-1] if self._controls else ""
                table = _OpenTable(figure=figure, heading=self._heading, before=self._text, control=control)
                self._tables.append(table)
            case "tr" if self._tables:
                self._tables[-1].grid.row()
            case "td" if self._tables:
                table, header = self._tables[-1], opened.label == "th" or self._names["thead"] > 0
                table.words, table.span = [], (number(told, "colspan"), number(told, "rowspan"), header)
            case "raised":
                self._buffer().append(RAISED)
            case "hidden" if self._roles["hidden"] == 1:
                self._hidden = []
            case "note":
                self._notes.append([])
            case "figure":
                self._figures.append(_Figure())
            case "details":
                self._controls.append("a folded section")
            case "svg" if self._roles["svg"] == 1:
                self._drawn = []
        self._remember_attributes(told)

    def _void(self, tag: str, told: Attributes) -> None:
        if tag == "img":
            words = " ".join(told[name] for name in ("alt", "title") if told.get(name))
            figure = self._figures[-1] if self._figures else _Figure()
            self._images.append((len(self._passages), figure))
            self._add(words, "image", told.get("alt") or told.get("src", "").rpartition("/")[2][:100], always=True)
        elif tag == "br":
            self._buffer().append("\n")
        elif tag == "hr":
            self._break()
        elif tag != "wbr":
            self._remember_attributes(told)

    def _remember_attributes(self, told: Attributes) -> None:
        """Keep what attributes say: charts keep their numbers there."""
        words = [
            value for name, value in told.items() if value and (name in DATA_ATTRIBUTES or name.startswith("data-"))
        ]
        for word in words:
            if any(map(str.isdigit, word)):
                self._add(word, "hidden", "the page's data")

    # What ends

    def _place_of(self, tag: str) -> int | None:
        """Where the element is that an end tag ends; None: it ends nothing. That of a cell stays within its table."""
        if not self._names[tag]:
            return None
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place].tag == tag:
                return place
            if tag in ("td", "th", "tr") and self._open[place].role == "table":
                return None
        return None

    def _end_cell(self, *, row: bool) -> None:
        """End the cell, or the row, that a new one follows: their end tags may be left out."""
        ended = None
        for place in range(len(self._open) - 1, -1, -1):
            role = self._open[place].role
            if role == "table" or (role == "tr" and not row):
                break
            if role in ("tr", "td"):
                ended = place
            if role == "tr" or (role == "td" and not row):
                break
        if ended is not None:
            self._pop_to(ended)

    def _pop_to(self, place: int) -> None:
        while len(self._open) > place:
            opened = self._open[-1]
            self._end(opened)
            self._open.pop()
            self._names[opened.tag] -= 1
            self._roles[opened.role] -= 1

    def _end(self, opened: _Open) -> None:
        role = opened.role
        if role == "table":
            self._end_words()
            self._flush()
            self._done.append((self._tables.pop(), len(self._passages)))
        elif role == "td":
            self._end_words()
        elif role == "raised":
            self._buffer().append(LOWERED)
        elif role == "hidden" and self._roles["hidden"] == 1:
            self._add("".join(self._hidden), "hidden", opened.label)
        elif role == "note":
            self._add("".join(self._notes.pop()), "text", "")
        elif role == "svg" and self._roles["svg"] == 1:
            self._add(" ".join(self._drawn), "image", opened.label or "a drawing")
        elif role == "figure":
            self._figures.pop()
        elif role == "details":
            self._controls.pop()
        elif opened.tag in NAMING and self._buffer() is self._words:
            self._name(opened)

    def _name(self, opened: _Open) -> None:
        """Give a heading or a caption to what it names; the title of the page is no part of it."""
        if opened.tag == "title":
            self._words = []
            return
        self._flush()
        own = range(opened.since, min(opened.since + _OF_A_NAME, len(self._passages)))
        words = "\n".join(self._passages[place].text for place in own if self._passages[place].kind == "text")
        if opened.tag in HEADINGS:
            self._heading = words
            for place in own:
                self._passages[place] = replace(self._passages[place], heading=words)
        elif opened.tag == "caption" and self._tables:
            self._tables[-1].caption = words
        elif opened.tag == "figcaption" and self._figures:
            self._figures[-1].caption = words
        elif opened.tag == "summary" and self._controls:
            self._controls[-1] = words

    def _end_words(self) -> None:
        table = self._tables[-1] if self._tables else None
        if table is not None and table.words is not None:
            columns, rows, header = table.span
            table.grid.cell(Cell(plain("".join(table.words)), header), columns, rows)
            table.words = None

    # Where words go

    def _buffer(self) -> list[str]:
        if self._roles["hidden"]:
            return self._hidden
        if self._roles["svg"]:
            return self._drawn
        if self._notes:
            return self._notes[-1]
        if self._tables and self._tables[-1].words is not None:
            return self._tables[-1].words
        return self._words

    def _break(self) -> None:
        """Begin a passage, or a line where that is within a cell or the like."""
        if self._buffer() is self._words:
            self._flush()
        else:
            self._buffer().append("\n")

    def _flush(self) -> None:
        words, self._words = "".join(self._words), []
        self._add(words, "text", "")

    def _add(self, words: str, kind: Literal["text", "image", "hidden"], label: str, *, always: bool = False) -> None:
        text = plain(words)
        if text or always:
            control = self._controls[-1] if self._controls else ""
            self._passages.append(Passage(text, self._heading, kind, label, control))
            self._text = text if kind == "text" else self._text

    def _table(self, table: _OpenTable, passage: int) -> Table:
        near = self._passages[passage : passage + 2 * _NOTES]
        following = itertools.takewhile(lambda one: one.heading == table.heading, near)
        after = itertools.islice((one.text for one in following if one.kind == "text"), _NOTES)
        caption = table.caption or (table.figure.caption if table.figure else "")
        line = _TABLE_LINE.match(table.before) is not None and len(table.before) <= _LONGEST_CAPTION
        return Table(
            rows=table.grid.rows(),
            caption=caption or (table.before if line else ""),
            heading=table.heading,
            before=table.before,
            after=tuple(after),
            control=table.control,
        )
