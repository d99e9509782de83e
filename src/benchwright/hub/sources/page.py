"""What a reader sees of a page: tables with their headers, passages of text, images with their words.

Texts are in plain characters (`plain`): digits and minus signs of every style are the ASCII ones, superscripts and
subscripts stand between ``RAISED`` and ``LOWERED``, since ``62.7²`` is not 62.72.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

RAISED, LOWERED = "\ue000", "\ue001"
"""The beginning and the end of what is raised or lowered."""
THIN, FIRM = "\u2009", "\u00a0"
"""Spaces that may stand within a number: all thin ones, and the one at which no line ends."""
SYMBOLS = "†‡*§¶#‖∥※★☆⋆✝✦◇◆♠♣♥♦♯"
"""What marks notes, beside what is raised."""
_THIN = "\u2006\u2007\u2008\u2009\u200a\u202f"
_NOTHING = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_STYLES = ("<font>", "<wide>", "<narrow>")
_RAISED = re.compile(f"{RAISED}([^{RAISED}{LOWERED}]*){LOWERED}")
_LATEX = {
    "dagger": "†", "dag": "†", "textdagger": "†", "ddagger": "‡", "ddag": "‡", "textdaggerdbl": "‡",
    "ast": "*", "textasteriskcentered": "*", "star": "⋆", "bigstar": "★", "S": "§", "P": "¶",
    "sharp": "♯", "diamond": "◇", "diamondsuit": "◇", "spadesuit": "♠", "clubsuit": "♣", "heartsuit": "♥", "pm": "±",
}  # fmt: skip
_LATEX_COMMAND = re.compile(rf"\\({'|'.join(sorted(_LATEX, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}})?")
_LATEX_WORDS = r"(?:\\(?:text|textrm|mathrm|mathsf)\{)?"
_LATEX_RAISED = (
    # math of its own, $^{1}$: whatever is raised is no power of the number before it
    re.compile(rf"(?:\$|\\\()\s?(?:\{{\}})?\^\s?\{{?{_LATEX_WORDS}([^{{}}$^\\]{{1,12}}?)\}}{{0,2}}\s?(?:\$|\\\))"),
    re.compile(r"\\(?:textsuperscript|tnote|footnotemark)\s?[\[{]([^{}\[\]]{1,12})[\]}]"),
    re.compile(rf"\^\s?\{{{_LATEX_WORDS}([{SYMBOLS}]{{1,4}}|[a-z])\}}{{1,2}}"),
    re.compile(rf"\^([{SYMBOLS}]{{1,4}}|[a-z](?![A-Za-z0-9]))"),
)
_MOST_SPANNED = 200
_MOST_PLACES = 200_000


class _Characters(dict[int, str]):
    """For ``str.translate``: what becomes of each character, found when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = self._plain(character)
        return self[code]

    @staticmethod
    def _plain(character: str) -> str:
        if character in _NOTHING:
            return ""
        if character in _THIN:
            return THIN
        if character in "\u2212\u2010\u2011\ufe63\uff0d":
            return "-"
        if character in "\u2217\u204e\ufe61":
            return "*"
        if character.isspace() and character not in f"{FIRM}\n":
            return " "
        kind, _, codes = unicodedata.decomposition(character).partition(" ")
        if kind in _STYLES:
            return "".join(chr(int(code, 16)) for code in codes.split())
        if kind in ("<super>", "<sub>") and _is_mark(character):
            return f"{RAISED}{unicodedata.normalize('NFKC', character)}{LOWERED}"
        return character if character.isascii() or not character.isdecimal() else str(unicodedata.decimal(character))


def _is_mark(character: str) -> bool:
    """Whether a raised or lowered character is a digit, a letter or a plus; not a word's ending, such as ``º``."""
    return character.isdigit() or unicodedata.category(character) == "Lm" or character == "\u207a"


_CHARACTERS = _Characters()


def plain(text: str) -> str:
    """A text in plain characters, with its line breaks and without further spaces at the ends of lines.

    Signs that are written as commands of LaTeX are the signs, and what it raises as a note's mark is raised.
    """
    text = text.translate(_CHARACTERS)
    if "\\" in text or "^" in text:
        text = _LATEX_COMMAND.sub(lambda found: _LATEX[found[1]], text)
        for pattern in _LATEX_RAISED:
            text = pattern.sub(f"{RAISED}\\1{LOWERED}", text)
    lines = (re.sub(r" {2,}", " ", line).strip(f" {FIRM}{THIN}") for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def shown(text: str) -> str:
    """A plain text as a person may read it, in one line; what is raised stands behind ``^`` where it is a word."""
    raised = _RAISED.sub(lambda found: f"^{found[1]}" if found[1][:1].isalnum() else found[1], text)
    return " ".join(raised.replace(RAISED, "").replace(LOWERED, "").split())


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    text: str
    header: bool = False


@dataclass(frozen=True)
class Table:
    """A table as a grid: a cell that spans several places is in each of them, None where there is no cell.

    ``caption`` is its own, or the line before that reads like one; ``before`` is the passage before it, ``after`` are
    those that follow, where notes are. ``control`` is what opens it, such as a section that is folded.
    """

    rows: tuple[tuple[Cell | None, ...], ...] = field(repr=False)
    caption: str = ""
    heading: str = ""
    before: str = ""
    after: tuple[str, ...] = ()
    control: str = ""

    def cells(self) -> Iterable[tuple[int, int, Cell]]:
        """Each cell once, at its first place."""
        seen: set[int] = set()
        for number, row in enumerate(self.rows):
            for column, cell in enumerate(row):
                if cell is not None and id(cell) not in seen:
                    seen.add(id(cell))
                    yield number, column, cell

    def column_header(self, row: int, column: int) -> str:
        """The headers above a place, from the top; the first row where none is marked as one."""
        above = [line[column] for line in self.rows[:row] if column < len(line)]
        headers = [cell for cell in above if cell is not None and cell.header and not self._whole_row(cell)]
        if not headers and row > 0 and column < len(self.rows[0]):
            headers = [cell for cell in self.rows[0][column : column + 1] if cell is not None]
        return _joined(headers)

    def row_header(self, row: int, column: int) -> str:
        """What stands before a place in its row, up to the first number."""
        before: list[Cell] = []
        for cell in self.rows[row][:column]:
            if cell is None or not cell.text:
                continue
            if before and not cell.header and not re.search(r"[^\W\d_]{2}", cell.text):
                break
            before.append(cell)
        return _joined(before[:3])

    def group(self, row: int) -> str:
        """The line over several rows that a row is under: one cell as wide as the table, or alone in its row.

        The header of a column is none, where that of no other column is written.
        """
        for line in reversed(self.rows[:row]):
            cells = {id(cell): cell for cell in line if cell is not None and cell.text}
            if len(cells) == 1 and len(line) > 1:
                (cell,) = cells.values()
                if line[0] is cell or not (cell.header or line is self.rows[0]):
                    return cell.text
        return ""

    def _whole_row(self, cell: Cell) -> bool:
        return any(all(one is cell for one in line) for line in self.rows if len(line) > 1)


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph, a list's item, a heading; or the words of an image, or words that are not shown.

    ``label`` says what image it is, or where hidden words are; ``control`` what opens a section that is folded.
    """

    text: str
    heading: str = ""
    kind: Literal["text", "image", "hidden"] = "text"
    label: str = ""
    control: str = ""


@dataclass(frozen=True, eq=False)
class Page:
    """The tables, the passages and the number of images of a page."""

    tables: tuple[Table, ...] = field(default=(), repr=False)
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    images: int = 0

    def texts(self) -> Iterable[str]:
        """Every text that is shown."""
        yield from (passage.text for passage in self.passages if passage.kind == "text")
        yield from self.cells()

    def beside(self, place: int) -> tuple[str, ...]:
        """The passages next to one, under the same heading: one before it, two after it."""
        heading = self.passages[place].heading
        around = (*self.passages[max(place - 1, 0) : place], *self.passages[place + 1 : place + 3])
        return tuple(one.text for one in around if one.kind == "text" and one.heading == heading)

    def cells(self) -> Iterable[str]:
        """Every cell of a table."""
        return (cell.text for table in self.tables for _, _, cell in table.cells())


class Grid:
    """A table as it is read: cells in their order, put into places by what they span."""

    def __init__(self) -> None:
        self._rows: list[dict[int, Cell]] = []
        self._below: dict[int, tuple[Cell, int]] = {}
        self._column = 0
        self._room = _MOST_PLACES

    def row(self) -> None:
        """Begin a row; what spans into it from above is there already."""
        here = {column: cell for column, (cell, _) in self._below.items()} if self._room > 0 else {}
        self._below = {column: (cell, left - 1) for column, (cell, left) in self._below.items() if left > 1 and here}
        self._rows.append(here)
        self._room -= len(here)
        self._column = 0

    def cell(self, cell: Cell, columns: int = 1, rows: int = 1) -> None:
        """Put a cell at the next free place of the row; what is beyond 200,000 places is left out."""
        if not self._rows:
            self.row()
        row = self._rows[-1]
        while self._column in row:
            self._column += 1
        for _ in range(min(max(columns, 1), _MOST_SPANNED)):
            if self._column in row or self._room <= 0:
                break
            row[self._column] = cell
            if rows > 1:
                self._below[self._column] = (cell, min(rows, _MOST_SPANNED) - 1)
            self._column += 1
            self._room -= 1

    def rows(self) -> tuple[tuple[Cell | None, ...], ...]:
        """The grid."""
        return tuple(tuple(row.get(column) for column in range(max(row) + 1)) for row in self._rows if row)


def _joined(cells: Sequence[Cell]) -> str:
    return " / ".join(dict.fromkeys(shown(cell.text) for cell in cells if cell.text))
