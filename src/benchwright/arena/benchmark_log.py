"""The benchmark log: one page of runs, newest first. Where its entries are, and where a new one goes.

An entry starts at a line ``## YYYY-MM-DD — <benchmark_name>``, wherever that stands: the dates of a template are no
digits. Code fences are not looked at, since one that an old entry left open would hide every entry below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from benchwright.contract import Exit, Failure, Problem, usage_error

LOG_NAME = "BENCHMARK_LOG.md"
_HEADING = re.compile(rb"^## +(\d{4}-\d{2}-\d{2})\b(.*)$", re.M)
_BEFORE_NAME = "\N{EM DASH}\N{EN DASH}-: \t"
_AROUND_NAME = "`,;:"
_RULE = b"---"


@dataclass(frozen=True, slots=True)
class LogHeading:
    """The heading of an entry. ``line`` counts from 1, ``start`` is its first byte in the file."""

    date: str
    benchmark: str
    line: int
    start: int


@dataclass(frozen=True)
class BenchmarkLog:
    """A log's bytes, which it never changes but for the place of a new entry.

    Raises:
        Failure: the bytes are not UTF-8 (exit 2); ``where`` names them.
    """

    content: bytes
    where: str

    def __post_init__(self) -> None:
        try:
            self.content.decode()
        except UnicodeDecodeError as error:
            found = f"not UTF-8 (byte {error.start})"
            raise usage_error(self.where, found, "a benchmark log", "save it as UTF-8", code="not-text") from None

    @cached_property
    def headings(self) -> tuple[LogHeading, ...]:
        """The entries' headings from the top."""
        return tuple(_heading(self.content, match) for match in _HEADING.finditer(self.content))

    def find(self, benchmark: str) -> LogHeading | None:
        """The topmost entry of a benchmark: the first word behind the date is its name."""
        return next((heading for heading in self.headings if heading.benchmark == benchmark), None)

    def text_of(self, heading: LogHeading) -> str:
        """An entry from its heading to the next one or the end of the log, its line ends as they are."""
        return self.content[heading.start : self._stop(heading)].decode()

    def with_text(self, heading: LogHeading, text: str) -> bytes:
        """The log's bytes with ``text`` in the place of an entry, its line ends as they are.

        Raises:
            Failure: the text is not one heading and what belongs to it (exit 5).
        """
        _require_one_heading(text)
        return self.content[: heading.start] + text.encode() + self.content[self._stop(heading) :]

    def _stop(self, heading: LogHeading) -> int:
        return min((one.start for one in self.headings if one.start > heading.start), default=len(self.content))

    @property
    def top(self) -> int:
        """The first byte of the topmost entry, where a new one goes; the end of a log without entries."""
        return self.headings[0].start if self.headings else len(self.content)

    def with_entry(self, entry: str) -> bytes:
        """The log's bytes with ``entry`` on top of the others, in the log's line ends.

        Where a rule (``---``) stands between the log's head and its entries, one follows the new entry too.

        Raises:
            Failure: the entry is not one heading and what belongs to it (exit 5).
        """
        _require_one_heading(entry)
        before, rest = self.content[: self.top], self.content[self.top :]
        end = b"\r\n" if re.match(rb"[^\n]*\r\n", self.content) else b"\n"
        lines = entry.rstrip("\n").encode().replace(b"\n", end) + end
        if rest:
            ruled = before.rstrip().rpartition(b"\n")[2] == _RULE
            return before + lines + end + (_RULE + end + end if ruled else b"") + rest
        return before + _blank_line_after(before, end) + lines


def entry_heading(date: str, benchmark: str) -> str:
    """The first line of an entry."""
    return f"## {date} \N{EM DASH} {benchmark}"


def _heading(content: bytes, match: re.Match[bytes]) -> LogHeading:
    words = match[2].decode().lstrip(_BEFORE_NAME).split()
    name = words[0].strip(_AROUND_NAME) if words else ""
    return LogHeading(match[1].decode(), name, content.count(b"\n", 0, match.start()) + 1, match.start())


def _require_one_heading(entry: str) -> None:
    headings = list(_HEADING.finditer(entry.encode()))
    if not headings or headings[0].start():
        raise ValueError("an entry starts with its heading")
    if len(headings) > 1:
        line = headings[1][0].decode().strip()
        found = f"a line that would read as the heading of another entry: {line!r}"
        problem = Problem("entry-heading", "the new entry", found, "one heading", "change that line of the run script")
        raise Failure(problem, exit=Exit.REFUSED)


def _blank_line_after(text: bytes, end: bytes) -> bytes:
    """What is missing between a text and what follows it after a blank line."""
    if not text.strip():
        return b""
    return b"" if text.endswith(end + end) else end if text.endswith(b"\n") else end + end
