"""Every problem that is told says what to do about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [path.parent.relative_to(ROOT) for path in sorted(ROOT.glob("src/benchwright/*/__init__.py"))]
PLACES = [str(place) for place in (*PACKAGES, "scripts", "eval", "benchmarks", ".agents/skills")]
BEFORE_FIX = {"Problem": 4, "usage_error": 3}
"""How many arguments come before the fix, by what makes a problem."""


def without_fix(tree: ast.AST) -> Iterator[int]:
    """The lines in which a problem is made that has no fix, or may have an empty one.

    A function or a class of a module's own that takes a fix must ask for one: then the type checker holds its callers.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in BEFORE_FIX:
                if any(word.arg is None for word in node.keywords):
                    continue  # a whole problem as it was kept
                given = [word.value for word in node.keywords if word.arg == "fix"]
                given += node.args[BEFORE_FIX[name] : BEFORE_FIX[name] + 1]
                if not given or may_be_empty(given[0]):
                    yield node.lineno
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=words) if name != "replace":
                yield from (word.value.lineno for word in words if word.arg == "fix" and may_be_empty(word.value))
            case ast.Assign(targets=[ast.Name(id="fix")], value=value) if may_be_empty(value):
                yield node.lineno
            case ast.AnnAssign(target=ast.Name(id="fix"), value=ast.expr() as value) if may_be_empty(value):
                yield node.lineno
            case ast.arguments():
                ordered = [*node.posonlyargs, *node.args]
                defaults = zip(reversed(ordered), reversed(node.defaults), strict=False)
                for argument, default in (*defaults, *zip(node.kwonlyargs, node.kw_defaults, strict=True)):
                    if argument.arg == "fix" and default is not None and may_be_empty(default):
                        yield argument.lineno


def may_be_empty(value: ast.expr) -> bool:
    """Whether an expression is an empty text, or is one in one of two cases."""
    if isinstance(value, ast.IfExp):
        return may_be_empty(value.body) or may_be_empty(value.orelse)
    return isinstance(value, ast.Constant) and value.value == ""


@pytest.mark.parametrize("place", PLACES)
def test_no_problem_is_without_a_fix(place):
    files = sorted((ROOT / place).rglob("*.py"))
    assert files
    found = {path: sorted(set(without_fix(ast.parse(path.read_text())))) for path in files}
    assert [f"{path.relative_to(ROOT)}:{line}" for path in files for line in found[path]] == []


@pytest.mark.parametrize(
    "source",
    [
        'Problem("code", "where", "found")',
        'contract.Problem("code", "where", "found", "expected", "")',
        'Problem("code", "where", "found", fix="" if near else "look again")',
        'usage_error("where", "found", "expected", code="code")',
        'problem("where", fix="")',
        'fix = near if known else ""',
        'def problem(where: str, fix: str = "") -> Problem: ...',
        'def problem(where: str, *, fix: str = "") -> Problem: ...',
        'class Finding:\n    fix: str = ""',
    ],
)
def test_each_way_to_leave_a_fix_out_is_seen(source):
    assert list(without_fix(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        'Problem("code", "where", "found", "expected", "look again")',
        'usage_error("where", "found", fix=near)',
        "Problem(**kept)",
        "def problem(where: str, fix: str) -> Problem: ...",
        "def kept(problems: list, fix: str | None = None) -> None: ...",
    ],
)
def test_a_fix_that_is_there_is_seen(source):
    assert not list(without_fix(ast.parse(source)))
