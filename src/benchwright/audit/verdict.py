"""What an audit says of an eval: four checks, a verdict, and what to do."""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal[
    "OK",
    "WAIT",
    "RELAUNCH",
    "RERUN",
    "RESUME",
    "DEREGISTER+RESUME",
    "UPLOAD",
    "LINK",
    "FIX_MODEL",
    "FIX_BENCH",
    "EXEMPT",
    "VOID",
    "STOP",
]
Status = Literal["pass", "warn", "fail", "unknown", "skip"]
SETTLED: frozenset[Verdict] = frozenset({"OK", "EXEMPT"})
"""Verdicts that leave nothing to do."""


class Check(msgspec.Struct, frozen=True):
    """How one of the four checks came out, and the figures that it did so by."""

    status: Status
    detail: str


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """The job has ended; a score is there and may be trusted; traces are there and linked; enough trials count."""

    finished: Check
    score: Check
    traces: Check
    trials: Check

    def named(self) -> tuple[tuple[str, Check], ...]:
        """The checks in their order, each with its name."""
        return tuple((name, getattr(self, name)) for name in self.__struct_fields__)


class Action(msgspec.Struct, frozen=True):
    """Something to do: a command where there is one, and what it is for."""

    why: str
    command: str = ""


class RowAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about a row: ``keep``, ``deregister``, ``drop`` what is stale, or ``leave`` it alone, and why."""

    id: str
    owner: str
    status: str
    advice: Literal["keep", "deregister", "drop", "leave"]
    why: str


class Decision(msgspec.Struct, frozen=True):
    """A verdict with its reason and what follows from it; the first action is the one recommended.

    ``off`` are the ids of the rows that one of the actions takes off the board.
    """

    verdict: Verdict
    why: str
    actions: tuple[Action, ...] = ()
    off: frozenset[str] = frozenset()


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """All that an audit says of one eval."""

    verdict: Verdict
    why: str
    checks: Checks
    actions: tuple[Action, ...] = ()
    rows: tuple[RowAdvice, ...] = ()
    notes: tuple[str, ...] = ()
