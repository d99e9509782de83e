"""A run's suite, which tells it apart from the other runs of its method."""

from __future__ import annotations

from benchwright.contract import Problem


def suite_is_method(where: str, found: str, fix: str) -> Problem:
    """What is wrong with a method whose suite is its own name, as when none is declared."""
    expected = "another name than the method's, for (method, suite) to tell runs apart"
    return Problem("suite-is-method", where, found, expected, fix)


def suite_declared(where: str, suite: str) -> Problem:
    """What is wrong with another suite in a declaration that names a run: that run would lose its declaration."""
    fix = (
        "declare the new run beside it, under another name, and register it with --replaces; "
        "to change this one nevertheless: --force"
    )
    return Problem("suite-declared", where, f"declared as {suite!r}", "", fix)
