"""A run's suite, which tells it apart from the other runs of its method."""

from __future__ import annotations

from benchwright.contract import Problem

_BESIDE = "declare the new run beside it, under another name, and register it with --replaces"
DECLARE_IN_CHECKOUT = "it is part of an installed package: declare the run beside it in a checkout, named by --repo DIR"
"""What to do where results are not as the declaration in an installed package says."""
_NEVERTHELESS = f"{_BESIDE}; to change this one nevertheless: --force"


def suite_is_method(where: str, found: str, fix: str) -> Problem:
    """What is wrong with a method whose suite is its own name, as when none is declared."""
    expected = "another name than the method's, for (method, suite) to tell runs apart"
    return Problem("suite-is-method", where, found, expected, fix)


def suite_declared(where: str, suite: str) -> Problem:
    """What is wrong with another suite in a declaration that names a run: that run would lose its declaration."""
    return Problem("suite-declared", where, f"declared as {suite!r}", "", _NEVERTHELESS)


def run_registered(where: str, suite: str, arena: str) -> Problem:
    """What is wrong with other results in a declaration of a registered run: that run would no longer be as it says."""
    return Problem("run-registered", where, f"declared for suite {suite!r}, registered in {arena}", "", _NEVERTHELESS)


def declare_beside(suite: str, arena: str) -> str:
    """What to do where results are not as the declaration of a registered run says."""
    return f"it is declared for suite {suite!r}, registered in {arena}: {_BESIDE}, if these are another run's results"
