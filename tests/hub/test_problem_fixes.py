"""Every problem that the package states says what to do next."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchwright.hub

HUB = Path(benchwright.hub.__file__).parent
FIX = {"Problem": 4, "usage_error": 3}
"""The place of the fix among the words of each."""


def without_fix(source: str) -> list[int]:
    """The lines that state a problem without a fix, or with an empty one."""
    lines = []
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in FIX):
            continue
        named = {word.arg: word.value for word in call.keywords}
        place = FIX[call.func.id]
        fix = named.get("fix", call.args[place] if len(call.args) > place else None)
        if None not in named and (fix is None or (isinstance(fix, ast.Constant) and not fix.value)):
            lines.append(call.lineno)
    return lines


def test_one_without_is_seen():
    calls = (
        'Problem("a", "b", "c", "d")\nProblem("a", "b", "c", "d", "e")\nusage_error("a", "b", "c", "")\nProblem(**one)'
    )
    assert without_fix(calls) == [1, 3]


@pytest.mark.parametrize("path", sorted(HUB.rglob("*.py")), ids=lambda path: str(path.relative_to(HUB)))
def test_each_has_its_next_step(path):
    assert without_fix(path.read_text()) == []
