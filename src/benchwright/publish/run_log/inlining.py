"""Constants and small helpers of a run script put in the places that name them, by edits of its text."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchwright.publish.run_log.names import Module, bound_names, needed_names
from benchwright.publish.run_log.script import is_literal

_MOST_ROUNDS = 20
"""Helpers within helpers; of those that call each other one is left standing."""
_DIGIT = re.compile(rb"[0-9]\Z")


def inlined(module: Module) -> Module:
    """The module with edits in ``setup()`` and in what that needs.

    A helper that takes nothing and only returns an expression becomes that expression, a constant of one line its
    literal. A constant is left where one of its uses cannot be replaced: inside an f-string, whose positions Python
    3.11 does not know, or where another scope binds its name.
    """
    for _ in range(_MOST_ROUNDS):
        edits = list(_helper_edits(module))
        if not edits:
            break
        module = _applied(module, edits)
    return _applied(module, _constant_edits(module))


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement: of the bytes from ``start`` to ``end`` of the source in UTF-8."""

    start: int
    end: int
    text: str


def _reached(module: Module) -> tuple[ast.stmt, ...]:
    setup = module.function("setup")
    return (setup, *(node for node in module.needed_by(setup) if node is not setup))


def _helper_edits(module: Module) -> Iterator[_Edit]:
    reached = _reached(module)
    returned = {name: value for node in reached for name, value in _returned(module, node)}
    for statement in reached:
        taken, in_texts = bound_names(statement), _within_f_strings(statement)
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in returned:
                    value = returned[name]
                    own = needed_names(ast.Expr(value))
                    if node not in in_texts and name not in own and not taken & {name, *own}:
                        yield _replacing(module, node, _moved(module, value, node))


def _returned(module: Module, node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The name of a helper that takes nothing and only returns an expression, and that expression."""
    match node:
        case ast.FunctionDef(name=name, decorator_list=[]) if not ast.unparse(node.args):
            match behind_docstring(node):
                case [ast.Return(value=ast.expr() as value)] if len(module.binders[name]) == 1:
                    # A text of several lines would change when its lines are indented anew.
                    if not lines_within_texts(f"({module.text(value)})"):
                        yield name, value


def _moved(module: Module, value: ast.expr, place: ast.expr) -> str:
    """A helper's expression as it reads in another place: its later lines are indented as that place's line is."""
    source = module.source.split("\n")
    by = _indent(source[place.lineno - 1]) - _indent(source[value.lineno - 1])
    first, *later = module.text(value).split("\n")
    moved = [" " * (_indent(line) + by) + line.lstrip(" ") if line.strip() else line for line in later]
    return _closed("\n".join([first, *moved]), value)


def _constant_edits(module: Module) -> Iterator[_Edit]:
    reached = _reached(module)
    literals = {name: text for node in reached for name, text in _literal(module, node)}
    for statement in reached:
        kept = bound_names(statement) - {name for name, _ in _literal(module, statement)}
        kept |= {node.id for node in _within_f_strings(statement) if isinstance(node, ast.Name)}
        literals = {name: text for name, text in literals.items() if name not in kept}
    for node in itertools.chain.from_iterable(map(ast.walk, reached)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in literals:
            yield _replacing(module, node, literals[node.id])


def _literal(module: Module, node: ast.stmt) -> Iterator[tuple[str, str]]:
    """The name of a constant of one line, and its text."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if len(module.binders[name]) == 1 and value.lineno == value.end_lineno and is_literal(value):
            yield name, _closed(module.text(value), value)


def behind_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    """A function's statements without its docstring."""
    return function.body[1 if ast.get_docstring(function, clean=False) is not None else 0 :]


def _within_f_strings(statement: ast.stmt) -> set[ast.AST]:
    return {inner for node in ast.walk(statement) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}


def lines_within_texts(source: str) -> set[int]:
    """The lines of Python source, from 1, that begin inside a text of several lines."""
    found: set[int] = set()
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":  # from Python 3.12 on an f-string is more than one token
            opened.append(token.start[0])
        elif kind in ("STRING", "FSTRING_END"):
            start = opened.pop() if kind == "FSTRING_END" else token.start[0]
            found.update(range(start + 1, token.end[0] + 1))
    return found


def _closed(text: str, node: ast.expr) -> str:
    """An expression's text, in parentheses unless it holds together as tightly as a subscript does."""
    try:
        subscript = ast.parse(f"{text}[0]", mode="eval").body
    except SyntaxError:
        return f"({text})"
    alone = isinstance(subscript, ast.Subscript) and ast.dump(subscript.value) == ast.dump(node)
    return text if alone else f"({text})"


def _replacing(module: Module, node: ast.expr, text: str) -> _Edit:
    start, end = module.span(node)
    followed_by_dot = module.source.encode()[end : end + 1] == b"."
    if followed_by_dot and _DIGIT.search(text.encode()):
        text = f"({text})"
    return _Edit(start, end, text)


def _applied(module: Module, edits: Iterable[_Edit]) -> Module:
    source = module.source.encode()
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        source = source[: edit.start] + edit.text.encode() + source[edit.end :]
    return Module(source.decode())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
