"""Which names of a module's top level a statement needs, and which statements give it them."""

from __future__ import annotations

import ast
import builtins
import itertools
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchwright.publish.bindings import bindings_of

_ALWAYS_THERE = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__package__", "__spec__"}
_STAR = "*"


@dataclass(frozen=True)
class Module:
    """A module's source, whose lines end in newlines alone, and its tree."""

    source: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.source)

    @cached_property
    def _line_starts(self) -> Sequence[int]:
        return [0, *itertools.accumulate(len(line) + 1 for line in self.source.encode().split(b"\n"))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends, in bytes of the source in UTF-8."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = self._line_starts[node.lineno - 1], self._line_starts[node.end_lineno - 1]
        return start + node.col_offset, end + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node, without what shares its lines."""
        start, end = self.span(node)
        return self.source.encode()[start:end].decode()

    @cached_property
    def binders(self) -> Mapping[str, tuple[ast.stmt, ...]]:
        """The top-level statements that bind or change each name, in the order of the source."""
        found = {}
        for name, bindings in bindings_of(self.tree).items():
            lines = {binding.line for binding in bindings}
            found[name] = tuple(node for node in self.tree.body if not lines.isdisjoint(lines_of(node)))
        return found

    def function(self, name: str) -> ast.FunctionDef:
        """The top level's function of a name that is known to be there."""
        return next(node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name == name)

    def needed_by(self, start: ast.stmt) -> tuple[ast.stmt, ...]:
        """Every top-level statement that ``start`` needs, one through another, in the order of the source."""
        wanted: list[ast.stmt] = []
        waiting = [start]
        while waiting:
            for name in sorted(needed_names(waiting.pop())):
                for binder in self._binders_of(name):
                    if binder not in wanted:
                        wanted.append(binder)
                        waiting.append(binder)
        return tuple(node for node in self.tree.body if node in wanted)

    def _binders_of(self, name: str) -> Sequence[ast.stmt]:
        """What binds a name: a star import may, where nothing else does."""
        return self.binders.get(name) or self.binders.get(_STAR, ())


def needed_names(node: ast.stmt) -> set[str]:
    """The module's names that a statement uses, also in annotations; those that are always there left out."""
    scopes = list(_scopes(node))
    used = {
        symbol.get_name()
        for scope in scopes
        for symbol in scope.get_symbols()
        if symbol.is_referenced() and (scope is scopes[0] or symbol.is_global())
    }
    return (used | _annotated(node)) - _ALWAYS_THERE


def bound_names(node: ast.stmt) -> set[str]:
    """Every name that a statement or any scope within it binds, parameters included."""
    return {
        symbol.get_name()
        for scope in _scopes(node)
        for symbol in scope.get_symbols()
        if symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported()
    }


def lines_of(node: ast.stmt) -> range:
    """The lines of a statement, from 1, its decorators' included."""
    starts = [node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))]
    return range(min(starts), (node.end_lineno or node.lineno) + 1)


def _scopes(node: ast.stmt) -> Iterator[symtable.SymbolTable]:
    """The scope a statement stands in, as if it stood alone, and those within it."""
    waiting = [symtable.symtable(ast.unparse(node), "run script", "exec")]
    while waiting:
        scope = waiting.pop()
        yield scope
        waiting += scope.get_children()


def _annotated(node: ast.stmt) -> set[str]:
    """The names in a statement's annotations, which a symbol table leaves out where they are not evaluated."""
    annotations = [
        annotation
        for inner in ast.walk(node)
        for annotation in (getattr(inner, "annotation", None), getattr(inner, "returns", None))
        if isinstance(annotation, ast.expr)
    ]
    return {inner.id for one in annotations for inner in ast.walk(one) if isinstance(inner, ast.Name)}
