"""The bindings of a module's top level: every place that gives a name its value, or changes it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_BLOCKS = {ast.If: "an if", ast.Try: "a try", ast.For: "a loop", ast.While: "a loop", ast.With: "a with"}
_KINDS = {
    ast.JoinedStr: "an f-string",
    ast.Name: "a name",
    ast.Attribute: "an attribute",
    ast.Call: "a call",
    ast.IfExp: "a condition",
    ast.Starred: "an unpacking",
    ast.List: "a list",
    ast.Tuple: "a tuple",
    ast.Dict: "a mapping",
    ast.Constant: "a constant",
    ast.ListComp: "a comprehension",
}


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that gives a top-level name its value, or changes it.

    ``value`` is set for a plain ``NAME = value`` of the module itself; ``imported`` for ``from module import name``.
    """

    line: int
    what: str
    value: ast.expr | None = None
    imported: tuple[str, str] | None = None


def bindings_of(tree: ast.Module) -> dict[str, list[Binding]]:
    """Every binding of every top-level name, in the order of the source; functions' own names are left out."""
    collector = _Collector()
    collector.collect(tree)
    return collector.found


def kind_of(node: ast.expr) -> str:
    """An expression in words: a call with what is called, any other by its kind."""
    if isinstance(node, ast.Call):
        return f"a call of {ast.unparse(node.func)}(...)"
    return _KINDS.get(type(node), "an expression")


class _Collector(ast.NodeVisitor):
    """Gathers the bindings of a module's top level, blocks included, functions and classes left out."""

    def __init__(self) -> None:
        self.found: dict[str, list[Binding]] = {}
        self._block = ""

    def collect(self, tree: ast.Module) -> None:
        for statement in tree.body:
            self._block = _BLOCKS.get(type(statement), "")
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    self._add(name, statement.lineno, kind_of(value), value=value)
                    self.visit(value)
                case ast.AnnAssign(value=None):
                    pass
                case ast.Assign(targets=[_, _, *_], value=value):
                    self._block = "an assignment to several names"
                    self.generic_visit(statement)
                case ast.Assign():
                    self._block = "an unpacking assignment"
                    self.generic_visit(statement)
                case ast.AugAssign():
                    self._block = "an augmented assignment"
                    self.generic_visit(statement)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
                    self._add(name, statement.lineno, f"changed by .{method}(...)")
                    self.generic_visit(statement)
                case _:
                    self.visit(statement)

    def _add(self, name: str, line: int, what: str, **more: Any) -> None:
        self.found.setdefault(name, []).append(Binding(line, what, **more))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            deleted = isinstance(node.ctx, ast.Del)
            self._add(node.id, node.lineno, "deleted" if deleted else f"bound in {self._block or 'an expression'}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._changed(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._changed(node)

    def _changed(self, node: ast.Attribute | ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del) and isinstance(node.value, ast.Name):
            self._add(node.value.id, node.lineno, f"changed by {ast.unparse(node)} = ...")
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.asname or alias.name.partition(".")[0], node.lineno, "an import")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            source = (node.module, alias.name) if node.module and not node.level else None
            self._add(alias.asname or alias.name, node.lineno, f"imported from {node.module or '.'}", imported=source)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._definition(node, "a function")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._definition(node, "a function")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._definition(node, "a class")

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._add(node.name, node.lineno, "bound in an except")
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> None:
        """Its loop names are its own; only a walrus binds outside."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.visit(inner.target)

    def _definition(self, node: _Function | ast.ClassDef, what: str) -> None:
        self._add(node.name, node.lineno, what)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Global):
                for name in inner.names:
                    self._add(name, inner.lineno, f"a global of {node.name}()")
