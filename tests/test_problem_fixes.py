"""Every problem that is told says what to do about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("src/benchwright/audit", "src/benchwright/repair", "src/benchwright/evaldb", "src/benchwright/harbor",
    "src/benchwright/hub", "scripts/eval", "scripts/database", "scripts/iris", "scripts/harbor",
    ".agents/skills/port-evals-to-hub/scripts")  # fmt: skip
BEFORE_FIX = {"Problem": 4, "usage_error": 3, "_problem": 4, "_refuse": 3}
"""How many arguments come before the fix, by what makes a problem."""


def without_fix(path: Path) -> Iterator[int]:
    """The lines in which a problem is made that has no fix, or an empty one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or any(word.arg is None for word in node.keywords):
            continue  # no call, or one of a whole problem as it was kept
        before = BEFORE_FIX.get(node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", ""))
        if before is not None:
            fixes = [*node.args[before : before + 1], *(word.value for word in node.keywords if word.arg == "fix")]
            if not fixes or (isinstance(fixes[0], ast.Constant) and not fixes[0].value):
                yield node.lineno


@pytest.mark.parametrize("place", PLACES)
def test_no_problem_is_without_a_fix(place):
    files = sorted((ROOT / place).rglob("*.py"))
    assert files
    assert [f"{path.relative_to(ROOT)}:{line}" for path in files for line in without_fix(path)] == []
