"""A module's source as text and as a syntax tree, and the way from a place in the one to its place in the other."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.scope import parse
from benchwright.publish.targets import Target

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment by its line (from 1) and whether nothing else stands there; ``text`` starts with ``#``."""

    line: int
    text: str
    alone: bool


@dataclass(frozen=True)
class SourceText:
    """A module's text. Lines count from 1, offsets are characters from 0."""

    target: Target
    text: str
    encoding: str
    tree: ast.Module

    @classmethod
    def read(cls, target: Target, content: bytes) -> SourceText:
        """The text of a module's bytes, in the encoding that they declare.

        Raises:
            Failure: they are not Python (exit 2).
        """
        tree = parse(content, target.path)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return cls(target, content.decode(encoding), encoding, tree)

    @property
    def content(self) -> bytes:
        """The module's bytes."""
        return self.text.encode(self.encoding)

    def edited(self, text: str) -> SourceText:
        """The same module with another text. Raises as ``read`` does."""
        return self.read(self.target, text.encode(self.encoding))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset of each line, and the end of the text."""
        return (0, *(end.end() for end in _LINE_END.finditer(self.text)), len(self.text))

    @cached_property
    def newline(self) -> str:
        """What ends the first line."""
        end = _LINE_END.search(self.text)
        return end.group() if end else "\n"

    def line(self, number: int) -> str:
        """A line without its end."""
        return self.text[self.starts[number - 1] : self.starts[number]].rstrip("\r\n")

    def line_of(self, offset: int) -> int:
        """The line that a character is on."""
        return sum(start <= offset for start in self.starts[:-1])

    def span(self, node: ast.expr | ast.stmt | ast.alias) -> tuple[int, int]:
        """Where a node starts and ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """The tree counts columns in UTF-8 bytes."""
        return self.starts[line - 1] + len(self.line(line).encode()[:column].decode())

    @cached_property
    def comments(self) -> tuple[Comment, ...]:
        """Every comment, in order."""
        return tuple(
            Comment(token.start[0], token.string, not token.line[: token.start[1]].strip())
            for token in tokenize.generate_tokens(self._lines().__next__)
            if token.type == tokenize.COMMENT
        )

    def _lines(self) -> Iterator[str]:
        for number in range(1, len(self.starts)):
            yield self.line(number) + "\n"

    def refused(self, line: int, found: str, expected: str, fix: str = "edit this one by hand") -> Failure:
        """What to raise where the text cannot be edited as it is (exit 5)."""
        return Failure(Problem("not-editable", self.target.at(line), found, expected, fix), exit=Exit.REFUSED)
