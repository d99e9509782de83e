"""The plan of a run as Python that stands alone: the body of ``setup()``, with what it needs of its script.

What could not be put in the place of its name (a long literal, a name inside an f-string, a helper with a body of its
own) stands above, with the imports. The text is the script's, so that comments and layout stay.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.run_log.inlining import behind_docstring, inlined, lines_within_texts
from benchwright.publish.run_log.names import Module, bound_names, lines_of, needed_names
from benchwright.publish.run_log.script import RunScript

_WIDTH = 120
_Kind = Literal["imports", "definition", "plain", "body"]
_Chunk = tuple[_Kind, str]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def standalone_plan(script: RunScript) -> str:
    """``setup()`` of a run script as a text that compiles by itself, ending in a line end.

    It is the body, dedented, or the whole function where the body cannot stand outside of one: it has parameters, it
    returns a value, or a name of its own would take the place of one that a helper needs.

    Raises:
        Failure: there is no ``setup()`` (exit 2), or no text of it compiles (exit 5).
    """
    line = script.setup.lineno
    with contextlib.suppress(ValueError, RecursionError):  # nested, or a number as long, as Python cannot write out
        module = inlined(Module(script.source))
        for text in _forms(module, module.function("setup")):
            if _compiles(text):
                return text
    found = "a layout that cannot be taken out of the script"
    fix = "write the entry by hand, and report this script's layout"
    problem = Problem("no-plan", f"{script.path}:{line}", found, "a setup() that stands alone", fix)
    raise Failure(problem, exit=Exit.REFUSED)


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a literal in the place of a name may be compared by identity
        try:
            compile(text, "plan", "exec")
        except (SyntaxError, ValueError):
            return False
    return True


def _forms(module: Module, setup: ast.FunctionDef) -> Iterator[str]:
    """The body alone, where it may be, and the whole function."""
    bare = copy.copy(setup)
    bare.returns, bare.decorator_list = None, []
    needed = module.needed_by(bare)
    own = bound_names(bare) - {setup.name}
    if not ast.unparse(setup.args) and not any(own & (needed_names(node) | bound_names(node)) for node in needed):
        yield _composed(module, bare, needed, ("body", _body_text(module, setup)))
    yield _composed(module, setup, module.needed_by(setup), ("definition", _statement_text(module, setup)))


def _composed(module: Module, setup: ast.FunctionDef, needed: Sequence[ast.stmt], body: _Chunk) -> str:
    wanted = {name for node in (setup, *needed) for name in needed_names(node)}
    imports = [_import_text(module, node, wanted) for node in needed if isinstance(node, _IMPORTS)]
    chunks: list[_Chunk] = [*_chunks(module, [node for node in needed if not isinstance(node, _IMPORTS)]), body]
    if any(kind == "definition" for kind, _ in chunks):
        future = [_statement_text(module, node) + "\n" for node in module.tree.body if _is_future(node)]
        imports = [*future, *imports]
    if imports:
        chunks.insert(0, ("imports", "\n".join(imports).strip("\n")))
    text, before = "", ""
    for kind, content in chunks:
        text += _blank_lines(before, kind) + content.strip("\n")
        before = kind
    return text + "\n"


def _blank_lines(before: str, kind: _Kind) -> str:
    if not before:
        return ""
    if "definition" in (before, kind):
        return "\n\n\n"
    return "\n" if before == kind else "\n\n"


def _chunks(module: Module, nodes: Iterable[ast.stmt]) -> Iterator[_Chunk]:
    for node in nodes:
        yield ("definition" if isinstance(node, _DEFINITIONS) else "plain", _statement_text(module, node))


def _statement_text(module: Module, node: ast.stmt) -> str:
    """The lines of a statement, of a definition with the comments that end its body."""
    lines = module.source.split("\n")
    span = lines_of(node)
    if any(set(span) & set(lines_of(other)) for other in module.tree.body if other is not node):
        return module.text(node)
    stop = _with_comments(lines, span.stop - 1) if isinstance(node, _DEFINITIONS) else span.stop - 1
    return "\n".join(lines[span.start - 1 : stop])


def _with_comments(lines: Sequence[str], last: int) -> int:
    """The last line, from 1, of a definition whose statements end at ``last``: indented comments are its own too."""
    for number in range(last, len(lines)):
        text = lines[number]
        if text.startswith((" ", "\t")) and text.lstrip().startswith("#"):
            last = number + 1
        elif text.strip():
            break
    return last


def _body_text(module: Module, function: ast.FunctionDef) -> str:
    """The statements of a function without its docstring, dedented; lines inside a text of several lines stay."""
    lines = module.source.split("\n")
    first = behind_docstring(function)
    if not first:
        return "pass"
    last = _with_comments(lines, lines_of(function).stop - 1)
    header = _header_end(module, function)
    if first[0].lineno == header:
        one_line = module.source.encode().split(b"\n")[header - 1][first[0].col_offset :].decode()
        return "\n".join([one_line, *lines[header:last]])
    start = header if first[0] is function.body[0] else function.body[0].end_lineno or header
    indent = len(lines[first[0].lineno - 1]) - len(lines[first[0].lineno - 1].lstrip())
    fixed = lines_within_texts(module.source)
    return "\n".join(
        lines[number - 1] if number in fixed else _without_indent(lines[number - 1], indent)
        for number in range(start + 1, last + 1)
    )


def _without_indent(line: str, most: int) -> str:
    return line[min(most, len(line) - len(line.lstrip())) :]


def _header_end(module: Module, function: ast.FunctionDef) -> int:
    """The line with the colon that ends a function's header."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type != tokenize.OP or token.start[0] < function.lineno:
            continue
        depth += (token.string in "([{") - (token.string in ")]}")
        if token.string == ":" and depth == 0:
            return token.start[0]
    raise AssertionError("a function without a colon")


def _import_text(module: Module, node: ast.stmt, wanted: set[str]) -> str:
    """An import of the names that are wanted; the script's own text where that is all of them."""
    assert isinstance(node, _IMPORTS)
    names = [alias for alias in node.names if alias.name == "*" or _bound(alias) in wanted]
    if len(names) == len(node.names):
        return _statement_text(module, node)
    shorter = copy.copy(node)
    shorter.names = names
    text = ast.unparse(shorter)
    if len(text) <= _WIDTH:
        return text
    head, _, tail = text.partition(" import ")
    return "\n".join([f"{head} import (", *(f"    {name}," for name in tail.split(", ")), ")"])


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
