"""What a module's source binds at its top level, and the values that need no running to be known."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, usage_error
from benchwright.publish.bindings import Binding, bindings_of, kind_of
from benchwright.publish.targets import Target, module_file, source_roots

_DEEPEST = 20


class NotLiteral(Exception):
    """An expression whose value only running the module would tell: what it is and where."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


@dataclass
class Scope:
    """A module's top level. ``target`` is where it was read from."""

    target: Target
    tree: ast.Module
    _imported: dict[str, Scope | None] = field(default_factory=dict)

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Every binding of every top-level name, in the order of the source."""
        return bindings_of(self.tree)

    def only_binding(self, name: str) -> Binding | None:
        """The one binding of ``name``; None when there is none, or more than one."""
        bindings = self.bindings.get(name, [])
        return bindings[0] if len(bindings) == 1 else None

    def class_of(self, node: ast.expr) -> str | None:
        """The name that the class ``node`` refers to was defined with, through an ``import ... as``."""
        if isinstance(node, ast.Attribute):
            return node.attr
        if not isinstance(node, ast.Name):
            return None
        binding = self.only_binding(node.id)
        return binding.imported[1] if binding and binding.imported else node.id

    def resolve(self, node: ast.expr, depth: int = 0, asked: ast.Name | None = None) -> tuple[ast.expr, Scope]:
        """The expression behind a name, with the module it stands in; any other expression as it is.

        Raises:
            NotLiteral: the name is bound more than once, in a block, by an import from elsewhere, or not at all. It is
                told of ``asked``, the name that led here.
        """
        if not isinstance(node, ast.Name):
            return node, self
        asked = asked or node
        binding = self.only_binding(node.id)
        if binding and depth < _DEEPEST:
            if binding.value is not None:
                return self.resolve(binding.value, depth + 1, asked)
            if binding.imported and (other := self.module(binding.imported[0])):
                return other.resolve(ast.Name(binding.imported[1], ast.Load()), depth + 1, asked)
        raise NotLiteral(f"the name {asked.id}, which no single literal is bound to", asked.lineno)

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        """The value of an expression of literals, of names for such expressions, and of ``dict(...)`` over them.

        Raises:
            NotLiteral: it is something else, and where.
        """
        if depth > _DEEPEST:
            raise NotLiteral("nested too deeply", node.lineno)
        expression, scope = self.resolve(node)
        try:
            return scope._literal(expression, depth + 1)
        except NotLiteral as error:
            if expression is node:
                raise
            # Through a name the line is another one, perhaps of another file: tell where the name is used.
            raise NotLiteral(f"the name {ast.unparse(node)}, behind which is {error.what}", node.lineno) from None

    def _literal(self, node: ast.expr, depth: int) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.Tuple(elts=items):
                return tuple(self.value(item, depth) for item in items)
            case ast.List(elts=items):
                return [self.value(item, depth) for item in items]
            case ast.Set(elts=items) if all(isinstance(item, ast.Constant) for item in items):
                return {self.value(item, depth) for item in items}
            case ast.Dict():
                return self._mapping(node, depth)
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                return self._merged([(entry.arg, entry.value) for entry in keywords], depth, node)
        raise NotLiteral(kind_of(node), node.lineno)

    def _mapping(self, node: ast.Dict, depth: int) -> dict[Any, Any]:
        pairs: list[tuple[Any, ast.expr]] = []
        for key, item in zip(node.keys, node.values, strict=True):
            if key is not None and not isinstance(key, ast.Constant):
                raise NotLiteral("a mapping with computed keys", node.lineno)
            pairs.append((None if key is None else key.value, item))
        return self._merged(pairs, depth, node)

    def _merged(self, pairs: list[tuple[Any, ast.expr]], depth: int, node: ast.expr) -> dict[Any, Any]:
        """A mapping of pairs, where the key None stands for an unpacking."""
        merged: dict[Any, Any] = {}
        for key, item in pairs:
            value = self.value(item, depth)
            if key is not None:
                merged[key] = value
            elif isinstance(value, dict):
                merged.update(value)
            else:
                raise NotLiteral("an unpacking of what is no mapping", node.lineno)
        return merged

    def module(self, module: str) -> Scope | None:
        """Another module of the same checkout; None when it is not there or not readable as Python."""
        if module not in self._imported:
            self._imported[module] = None
            for root in source_roots(self.target.repository):
                path = module_file(module, root)
                if path is not None:
                    place = Target(module, "", path, root, self.target.repository)
                    with contextlib.suppress(Failure):  # then what it binds is not known here, and that is what is told
                        self._imported[module] = Scope(place, parse(place.read(), path), self._imported)
                    break
        return self._imported[module]


def parse(source: bytes, path: Path, expected: str = "a module that compiles") -> ast.Module:
    """The syntax tree of a file's bytes, in the encoding they declare; it compiles too.

    Raises:
        Failure: they are not Python (exit 2).
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        source.decode(encoding)  # the parser does not look at comments
        tree = ast.parse(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, str(path), "exec")  # the parser lets names and arguments be bound twice
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else str(path)
        raise usage_error(where, f"not Python: {error.msg}", expected, "mend it there", code="not-python") from None
    except (ValueError, RecursionError, MemoryError) as error:
        # NUL bytes, and nesting beyond what the parser can follow.
        found = f"not Python: {str(error) or 'nested too deeply'}"
        raise usage_error(str(path), found, expected, "mend it there", code="not-python") from None
    return tree


def calls_in_functions(tree: ast.Module, class_name: str) -> Iterator[tuple[str, int]]:
    """Functions of the module that call ``class_name`` or a constructor of it, with the line of the call."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and class_name in ast.unparse(node.func).split("."):
                    yield function.name, node.lineno
