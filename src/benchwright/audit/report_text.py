"""The report for a terminal: a row an eval, the four checks as marks, and under it the one thing to do."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from benchwright.audit.record import Audited
from benchwright.audit.report_words import LONGEST, pasted, titles, visible
from benchwright.audit.verdict import Status

MARKS: dict[Status, str] = {"pass": "✅", "warn": "⚠️", "fail": "❌", "unknown": "❔", "skip": "—"}
_HEADINGS = ("verdict", "finished", "score", "traces", "trials", "valid/errored/expected", "eval")
"""Names come last: they may be of any length, and the columns stay columns on a narrow screen."""


def table(audited: Sequence[Audited]) -> list[str]:
    """The rows, the most urgent first; the action of a row and the reason for it are lines of the row."""
    names = titles(one.facts for one in audited)
    rows = [
        (one.judgement.verdict, *_marks(one), one.matrix, visible(name, LONGEST))
        for one, name in zip(audited, names, strict=True)
    ]
    widths = [max(cell_len(cell) for cell in column) for column in zip(_HEADINGS, *rows, strict=True)]
    lines = [_line(_HEADINGS, widths)]
    for one, row in zip(audited, rows, strict=True):
        lines.append("\n".join((_line(row, widths), *_explained(one))))
    return lines


def _marks(one: Audited) -> list[str]:
    return [MARKS[check.status] for _, check in one.judgement.checks.named()]


def _explained(one: Audited) -> list[str]:
    """What a row that needs something says of it."""
    if one.settled:
        return []
    first = one.judgement.actions[0] if one.judgement.actions else None
    lines = [f"    {visible(one.judgement.why)}"]
    if first is not None:
        lines.append(f"    → {pasted(first.command) or visible(first.why)}")
    return lines


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)).rstrip()
