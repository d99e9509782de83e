"""An arena's collection as its source has it: the imports, the live list, the list of what was superseded."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass
from functools import cached_property

from benchwright.arena import did_you_mean
from benchwright.contract import usage_error
from benchwright.publish.bindings import kind_of
from benchwright.publish.line_length import line_length
from benchwright.publish.registration.arenas import SUPERSEDED
from benchwright.publish.registration.items import Items
from benchwright.publish.registration.source_text import SourceText
from benchwright.publish.scope import NotLiteral, Scope
from benchwright.publish.targets import Target


@dataclass(frozen=True)
class CollectionFile:
    """The module that holds an arena's collection; ``source.target`` names the collection in it."""

    source: SourceText

    @classmethod
    def read(cls, target: Target, content: bytes) -> CollectionFile:
        """The module of these bytes.

        Raises:
            Failure: they are not Python (exit 2).
        """
        return cls(SourceText.read(target, content))

    def edited(self, text: str) -> CollectionFile:
        """The module with another text. Raises as ``read`` does."""
        return CollectionFile(self.source.edited(text))

    @cached_property
    def scope(self) -> Scope:
        """What the module binds."""
        return Scope(self.source.target, self.source.tree)

    @cached_property
    def imports(self) -> tuple[ast.ImportFrom, ...]:
        """The ``from ... import`` statements of the block at the module's head."""
        statements = itertools.dropwhile(_is_docstring, self.source.tree.body)
        head = itertools.takewhile(lambda node: isinstance(node, ast.Import | ast.ImportFrom), statements)
        return tuple(node for node in head if isinstance(node, ast.ImportFrom))

    @cached_property
    def live(self) -> Items:
        """The entries of the collection.

        Raises:
            Failure: there is no such name (exit 2), or it is no call over one list of this module (exit 5).
        """
        target = self.source.target
        name = target.attribute
        if name not in self.scope.bindings:
            fix = did_you_mean(name, self.scope.bindings)
            raise usage_error(str(target), f"no {name} in {target.label}", "the collection", fix, code="no-collection")
        binding = self.scope.only_binding(name)
        call = binding.value if binding else None
        given = [*call.args, *(entry.value for entry in call.keywords)] if isinstance(call, ast.Call) else []
        if len(given) != 1:
            line = self.scope.bindings[name][0].line
            raise self.source.refused(line, f"{name} is no single call of one list", "COLLECTION([...])")
        return self.items_of(self._list_in(given[0]))

    @cached_property
    def superseded(self) -> Items | None:
        """The entries that reruns have replaced; None where the module has no list of them.

        Raises:
            Failure: the name is bound to something else (exit 5).
        """
        if SUPERSEDED not in self.scope.bindings:
            return None
        line = self.scope.bindings[SUPERSEDED][0].line
        return self.items_of(self._list_in(ast.Name(SUPERSEDED, ast.Load(), lineno=line)))

    def _list_in(self, node: ast.expr) -> ast.List:
        """The list of this module that an expression is, or is a name of; raises where it is neither (exit 5)."""
        try:
            found, scope = self.scope.resolve(node)
        except NotLiteral as error:
            raise self.source.refused(error.line, error.what, "a list of this module") from None
        if scope is self.scope and isinstance(found, ast.List):
            return found
        raise self.source.refused(node.lineno, f"{ast.unparse(node)} is {kind_of(found)}", "a list of this module")

    def items_of(self, node: ast.List | ast.ImportFrom) -> Items:
        """The entries of a list, or the names of an import."""
        limit = line_length(self.source.target)
        start, end = self.source.span(node)
        if isinstance(node, ast.List):
            spans = tuple(map(self.source.span, node.elts))
            return Items(self.source, start + 1, end - 1, spans, "[", limit)
        spans = tuple(map(self.source.span, node.names))
        opening = re.search(r"\bimport\b\s*\(", self.source.text[start : spans[0][0]])
        if opening:
            return Items(self.source, start + opening.end(), end - 1, spans, "(", limit)
        return Items(self.source, spans[0][0], end, spans, "", limit)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
