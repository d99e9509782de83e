"""Names between brackets in a module's text: a list's entries or an import's names, put in and taken out.

Two layouts are edited, those that a formatter leaves: all on one line, or one a line. What is on one line goes to one
a line when it no longer fits; ``without``, which undoes such steps, offers the way back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from benchwright.publish.registration.source_text import SourceText

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Row:
    """An item's line, whether a comma ends it, and the comment behind that with the spaces before it."""

    line: int
    comma: bool
    tail: str


@dataclass(frozen=True)
class Items:
    """The items between ``opened``, just behind the bracket, and ``closed``, at its partner.

    ``bracket`` is ``[`` or ``(``, or empty for an import without brackets, which ends where its last name does.
    ``limit`` is the number of columns a line may have.
    """

    source: SourceText
    opened: int
    closed: int
    spans: tuple[tuple[int, int], ...]
    bracket: str
    limit: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The items as they are written."""
        return tuple(self.source.text[start:end] for start, end in self.spans)

    @cached_property
    def first_line(self) -> int:
        """The line of the opening bracket."""
        return self.source.line_of(self.opened)

    @cached_property
    def last_line(self) -> int:
        """The line of the closing bracket."""
        return self.source.line_of(self.closed)

    @cached_property
    def stacked(self) -> bool:
        """Whether the items stand one a line.

        Raises:
            Failure: they stand neither so nor all on one line (exit 5).
        """
        stacked = self.first_line < self.last_line
        if stacked:
            bare = not self._behind_opening.rstrip() and not self._before_closing.strip()
            good = bare and None not in self._rows and all(row.comma for row in self._rows[:-1] if row)
        else:
            good = self.bracket != "(" and self.source.text[self.opened : self.closed] == ", ".join(self.names)
        if not good:
            raise self.source.refused(self.first_line, "names in an unusual layout", "one a line, or all on one line")
        return stacked

    @property
    def _behind_opening(self) -> str:
        return self.source.text[self.opened : self.source.starts[self.first_line]]

    @property
    def _before_closing(self) -> str:
        return self.source.text[self.source.starts[self.last_line - 1] : self.closed]

    @cached_property
    def _rows(self) -> tuple[Row | None, ...]:
        """The line of each item; None for one that shares its line or takes several."""
        found: list[Row | None] = []
        for (start, _), name in zip(self.spans, self.names, strict=True):
            number = self.source.line_of(start)
            row = re.fullmatch(rf"[ \t]*{re.escape(name)}(,?)([ \t]*(?:#.*)?)", self.source.line(number))
            found.append(Row(number, bool(row[1]), row[2].rstrip()) if row else None)
        return tuple(found)

    def row(self, index: int) -> Row:
        """The line of an item, of items that are stacked."""
        row = self._rows[index]
        assert row is not None
        return row

    def tail(self, index: int) -> str:
        """The comment beside an item, with the spaces before it; empty where there is none."""
        return self.row(index).tail if self.stacked else ""

    def with_item(self, index: int, name: str, *, below: int | None = None, tail: str = "") -> str:
        """The module's text with ``name`` as item number ``index``, and ``tail`` behind its comma.

        ``below`` counts the lines between the brackets that stay above the new one; where it is left out, those up to
        the item before. An empty list gets its first item on a line of its own.
        """
        if not self.stacked:
            names = [*self.names[:index], name, *self.names[index:]]
            return self._on_one_line(names) if self.names and not tail else self._one_a_line(names, {index: tail})
        if below is None:
            below = self.row(index - 1).line - self.first_line if index else 0
        last = index == len(self.names)
        comma = not last or not self.names or self.row(-1).comma
        at = self.source.starts[self.first_line + below]
        text = self.source.text
        after = f"{self._indent}{name}{',' if comma else ''}{tail}{self.source.newline}{text[at:]}"
        if comma:
            return text[:at] + after
        end = self.spans[-1][1]  # the item before was the last, and had no comma
        return f"{text[:end]},{text[end:at]}{after}"

    def with_other(self, index: int, name: str, *, tail: str = "") -> str:
        """The module's text with ``name`` instead of item number ``index``, and ``tail`` as the comment beside it."""
        if not self.stacked:
            names = [*self.names[:index], name, *self.names[index + 1 :]]
            return self._one_a_line(names, {index: tail}) if tail else self._on_one_line(names)
        row, text = self.row(index), self.source.text
        start = self.spans[index][0]
        end = self.source.starts[row.line - 1] + len(self.source.line(row.line))
        return f"{text[:start]}{name}{',' if row.comma else ''}{tail}{text[end:]}"

    def without(self, index: int) -> tuple[str, ...]:
        """The texts that the module may have had before item number ``index`` came: its layout then is not known."""
        names = [*self.names[:index], *self.names[index + 1 :]]
        if not self.stacked:
            return (self._on_one_line(names),)
        row, text, starts = self.row(index), self.source.text, self.source.starts
        before, after = text[: starts[row.line - 1]], text[starts[row.line] :]
        if index and index == len(names) and not row.comma:  # the item before becomes the last: its comma goes
            end = self.spans[index - 1][1]
            before = before[:end] + before[end + 1 :]
        lines, others = self.last_line - self.first_line - 1, set(range(len(self.names))) - {index}
        if lines > len(self.names) or any(self.tail(other) for other in others):
            return (before + after,)
        return (self._on_one_line(names), before + after) if names else (self._on_one_line(names),)

    @property
    def _base(self) -> str:
        line = self.source.line(self.first_line)
        return line[: len(line) - len(line.lstrip())]

    @property
    def _indent(self) -> str:
        """What stands before an item on a line of its own."""
        if not self.names:
            return self._base + _INDENT
        line = self.source.line(self.row(0).line)
        return line[: len(line) - len(line.lstrip())]

    @property
    def _around(self) -> tuple[str, str]:
        """What stands before and behind the names once they are on one line, where an import has no brackets."""
        outside = 1 if self.bracket == "(" else 0
        return self.source.text[: self.opened - outside], self.source.text[self.closed + outside :]

    def _on_one_line(self, names: Sequence[str]) -> str:
        """The text with these names on one line, or one a line where that is too long."""
        before, after = self._around
        line = before[self.source.starts[self.first_line - 1] :] + ", ".join(names) + re.split(r"[\r\n]", after)[0]
        return f"{before}{', '.join(names)}{after}" if len(line) <= self.limit else self._one_a_line(names, {})

    def _one_a_line(self, names: Sequence[str], tails: dict[int, str]) -> str:
        before, after = self._around
        opening, closing = ("", "") if self.bracket == "[" else ("(", ")")
        newline = self.source.newline
        rows = [f"{self._base}{_INDENT}{name},{tails.get(index, '')}{newline}" for index, name in enumerate(names)]
        return f"{before}{opening}{newline}{''.join(rows)}{self._base}{closing}{after}"
