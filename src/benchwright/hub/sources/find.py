"""Where a page prints a number: the places, each with what a reviewer looks for, and what only looks like it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Literal

from benchwright.hub.sources import marks
from benchwright.hub.sources.numbers import Number, numbers_in
from benchwright.hub.sources.page import LOWERED, RAISED, SYMBOLS, Page, Passage, Table, shown

MOST_PLACES = 50
"""Of one number on one page; what prints it more often is no place to look for it."""
_MOST_MISSES = 10
_LONGEST_QUOTE = 240
_LONG_CELL = 120
_MOST_QUOTED = 60
"""Cells of a row."""
_SENTENCE_END = re.compile(
    rf"(?<=[.!?;])(?:[\"')\]*]|{RAISED}[^{RAISED}{LOWERED}]{{1,20}}{LOWERED}|\[\^[\w-]{{1,20}}\])*\s+"
    rf"(?=[\"'(\[*]*[A-Z0-9À-Þ]|[(\[]?[{SYMBOLS}]|\^|{RAISED})|\n"
)


@dataclass(frozen=True)
class Place:
    """A place that prints a number, as ``printed``.

    In a table ``row`` and ``column`` are the headers, ``group`` the line over its rows; ``quote`` is the row, or the
    sentence of a text. ``label`` is the image, or where hidden words are; ``control`` what opens a folded section.
    ``exact``: in the very digits that were looked for; ``percent``: with that sign; ``about``: said not to be exact.
    ``marks`` are those of notes, at the number or at its headers; ``asides`` may be such, if a note explains them.
    ``near`` are the texts around it, where its conditions are told, ``beside`` the passages next to that of a sentence.
    """

    document: str
    kind: Literal["table", "text", "image", "hidden"]
    printed: str
    quote: str
    row: str = ""
    column: str = ""
    group: str = ""
    caption: str = ""
    heading: str = ""
    label: str = ""
    control: str = ""
    exact: bool = True
    percent: bool = False
    marks: tuple[str, ...] = ()
    asides: tuple[str, ...] = field(default=(), repr=False)
    about: bool = False
    near: tuple[str, ...] = field(default=(), repr=False)
    beside: tuple[str, ...] = field(default=(), repr=False)
    table: Table | None = field(default=None, repr=False, compare=False)

    @property
    def words(self) -> str:
        """All that says what the number is."""
        return "\n".join((self.row, self.column, self.group, self.caption, self.heading, self.label, self.quote))

    @property
    def headers(self) -> str:
        """What says it of this number alone: the headers, or the sentence."""
        return "\n".join((self.row, self.column, self.group)) if self.kind == "table" else self.quote


@dataclass(frozen=True)
class Miss:
    """A number that is not the one looked for, though it may be meant: ``why`` says what it is."""

    document: str
    printed: str
    why: str
    quote: str
    words: str = field(default="", repr=False)


def find(page: Page, value: Decimal, digits: str, document: str) -> tuple[list[Place], list[Miss]]:
    """The places of a page that print a value, and what comes close to it.

    ``digits`` are how the value is thought to be printed; ``document`` is what the page is called.
    """
    search = _Search(value, digits, document)
    places: list[Place] = []
    misses: dict[Miss, None] = {}
    judged = 0
    for number, place in _all(page, search):
        why = search.why_not(number)
        if not why and len(places) < MOST_PLACES:
            places.append(place())
        elif why and len(misses) < _MOST_MISSES and judged < MOST_PLACES:
            judged += 1
            told = place()
            misses.setdefault(Miss(document, told.printed, why, told.quote, told.words))
    return places, list(misses)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text."""
    return [one for one in _SENTENCE_END.split(text) if one]


@dataclass(frozen=True)
class _Search:
    value: Decimal
    digits: str
    document: str

    def is_close(self, size: Decimal) -> bool:
        """Whether a number of this size may be the one, or one that is told of."""
        value = abs(self.value)
        return size in (value, value * 100, value / 100) or rounds_to(size, value) or rounds_to(value, size)

    def why_not(self, number: Number) -> str:
        """What a close number is; "" where it is the one looked for."""
        if number.value == self.value:
            return number.odd
        if number.value == -self.value:
            return "the negative number"
        if number.value in (self.value * 100, self.value / 100):
            return "the same in another unit"
        return number.odd or (FINER if rounds_to(number.value, self.value) else COARSER)


FINER, COARSER = "with more digits", "with fewer digits"


def rounds_to(fine: Decimal, coarse: Decimal) -> bool:
    """Whether the one may be the other with fewer digits, however halves are rounded."""
    if _decimals(fine) <= _decimals(coarse):
        return False
    return abs(fine - coarse) * 2 <= Decimal(1).scaleb(-_decimals(coarse))


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _all(page: Page, search: _Search) -> Iterator[tuple[Number, Callable[[], Place]]]:
    """The numbers of a page that are close to the one looked for, each with what tells its place."""
    for table in page.tables:
        for row, column, cell in table.cells():
            for number in numbers_in(cell.text, search.is_close):
                yield number, partial(_in_table, table, row, column, number, search)
    for place, passage in enumerate(page.passages):
        for number in numbers_in(passage.text, search.is_close):
            yield number, partial(_in_passage, passage, number, search, page.beside(place))


def _in_table(table: Table, row: int, column: int, number: Number, search: _Search) -> Place:
    cell = table.rows[row][column]
    text = cell.text if cell else ""
    headers = _headers(table, row, column)
    long = len(text) > _LONG_CELL
    cells = islice((shown(one.text) for one in table.rows[row] if one is not None and one.text), _MOST_QUOTED)
    return Place(
        document=search.document,
        kind="table",
        printed=shown(number.text),
        quote=_quote(text, number) if long else _cut(" | ".join(dict.fromkeys(cells))),
        row=headers[0],
        column=headers[1],
        group=headers[2],
        caption=shown(table.caption),
        heading=shown(table.heading),
        control=shown(table.control),
        exact=_same_digits(number.text, search.digits),
        percent=number.percent,
        marks=_once(
            marks.each(number.marks),
            *([] if long else [marks.in_cell(text)]),
            *(marks.in_header(header) for header in headers),
            marks.at_end(shown(table.caption)),
        ),
        asides=_once(*(marks.raised_in(header) for header in headers), marks.raised_at_end(table.caption)),
        about=number.about,
        near=tuple(one for one in (text, *headers, table.caption, table.heading, table.before, *table.after) if one),
        table=table,
    )


def _headers(table: Table, row: int, column: int) -> tuple[str, str, str]:
    """The headers of a place: of its row, of its column, and the line over its rows, if that is another."""
    above, group = table.column_header(row, column), shown(table.group(row))
    return table.row_header(row, column), above, "" if group == above else group


def _in_passage(passage: Passage, number: Number, search: _Search, beside: tuple[str, ...]) -> Place:
    return Place(
        document=search.document,
        kind=passage.kind,
        printed=shown(number.text),
        quote=_quote(passage.text, number),
        heading=shown(passage.heading),
        label=shown(passage.label),
        control=shown(passage.control),
        exact=_same_digits(number.text, search.digits),
        percent=number.percent,
        marks=_once(marks.each(number.marks)),
        asides=_once(marks.in_sentence(passage.text[slice(*_sentence(passage.text, number, noted=True))])),
        about=number.about,
        near=tuple(one for one in (passage.text if passage.kind != "hidden" else "", passage.heading) if one),
        beside=beside,
    )


def _same_digits(printed: str, digits: str) -> bool:
    return re.sub(r"[^0-9.]", "", printed) == re.sub(r"[^0-9.]", "", digits)


def _once(*told: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for several in told for one in several))


def _quote(text: str, number: Number) -> str:
    """The sentence that a number is in."""
    begin, end = _sentence(text, number)
    if end - begin > _LONGEST_QUOTE:
        half = _LONGEST_QUOTE // 2
        first, last = max(begin, number.begin - half), min(end, number.end + half)
        return f"{'...' if first > begin else ''}{shown(text[first:last])}{'...' if last < end else ''}"
    return shown(text[begin:end])


def _sentence(text: str, number: Number, *, noted: bool = False) -> tuple[int, int]:
    """Where the sentence is that a number is in; ``noted``: with the marks behind its end."""
    begin, end = 0, len(text)
    for gap in _SENTENCE_END.finditer(text, max(number.begin - 2000, 0), min(number.end + 2000, len(text))):
        if gap.end() <= number.begin:
            begin = gap.end()
        elif gap.start() >= number.end:
            end = gap.end() if noted else gap.start()
            break
    return begin, end


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 3]}..."
