"""The report for a terminal: a row an eval, the four checks as marks, and under it the one thing to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from benchwright.audit.record import Audited
from benchwright.audit.verdict import Status

MARKS: dict[Status, str] = {"pass": "✅", "warn": "⚠️", "fail": "❌", "unknown": "❔", "skip": "—"}
_HEADINGS = ("eval", "finished", "score", "traces", "trials", "valid/errored/expected", "verdict")


def table(audited: Sequence[Audited]) -> list[str]:
    """The rows, the most urgent first; the action of a row and the reason for it are lines of the row."""
    tags = Counter(one.facts.run_tag for one in audited)
    rows = [(_name(one, tags), *_marks(one), one.matrix, one.judgement.verdict) for one in audited]
    widths = [max(cell_len(cell) for cell in column) for column in zip(_HEADINGS, *rows, strict=True)]
    lines = [_line(_HEADINGS, widths)]
    for one, row in zip(audited, rows, strict=True):
        lines.append("\n".join((_line(row, widths), *_explained(one))))
    return lines


def _name(one: Audited, tags: Mapping[str, int]) -> str:
    """The run's tag on one line, with the agent where the run has several evals."""
    facts = one.facts
    name = f"{facts.run_tag} ({facts.agent})" if tags[facts.run_tag] > 1 and facts.agent else facts.run_tag
    return name if name.isprintable() else ascii(name)


def _marks(one: Audited) -> list[str]:
    return [MARKS[check.status] for _, check in one.judgement.checks.named()]


def _explained(one: Audited) -> list[str]:
    """What a row that needs something says of it."""
    if one.settled:
        return []
    first = one.judgement.actions[0] if one.judgement.actions else None
    lines = [f"    {one.judgement.why}"]
    if first is not None:
        lines.append(f"    → {first.command or first.why}")
    return lines


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)).rstrip()
