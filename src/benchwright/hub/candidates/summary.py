"""What a search has to say: how many rows of which status, what would be seen, and what nobody has looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchwright.contract import Exit, Failure, Outcome, Problem, counted, some
from benchwright.hub.benchmarks import official_benchmarks
from benchwright.hub.blocked import blocked_boards
from benchwright.hub.candidates.mapping import BoardMapping
from benchwright.hub.candidates.pwc_api import INCOMPLETE
from benchwright.hub.candidates.rows import Row
from benchwright.hub.candidates.source import Found
from benchwright.hub.candidates.statuses import STATUSES, Finding
from benchwright.hub.client import Hub


def summarised(
    out: Path, rows: Sequence[Row], findings: Iterable[Finding], found: Found, problems: Sequence[Problem]
) -> Outcome:
    """The outcome: exit 4 or 3 where rows are unknown, 1 where the source did not tell all, else 0."""
    counts = Counter(row.status for row in rows)
    seen = sum(row.is_for_a_pull_request for row in rows)
    told = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
    exit = max((finding.exit for finding in findings), default=0)
    if not exit and any(one.code == INCOMPLETE for one in found.problems):
        exit = Exit.NO
    return Outcome(
        summary=f"{counted(len(rows), 'row')} in {out.name}: {told or 'none'}; {counted(seen, 'candidate')} to be seen",
        data={
            "file": str(out),
            "rows": len(rows),
            "statuses": {status: counts[status] for status in STATUSES},
            "seen": seen,
            "corrections": [{"row": row.row, "correction": row.corrections} for row in rows if row.corrections],
            "unmapped_metrics": dict(found.unmapped),
        },
        details=[_line(row) for row in rows if row.is_for_a_pull_request],
        problems=[*found.problems, *problems, *_unmapped_metrics(found.unmapped), *_unknown(out, counts["unknown"])],
        exit=Exit(exit),
    )


def unmapped_benchmarks(hub: Hub, mapping: BoardMapping) -> list[Problem]:
    """The official benchmarks that no line of the mapping is about, or why they are not known."""
    mapped = {rule.dataset.lower() for rule in mapping.rules} | blocked_boards().keys()
    try:
        left = [one for one in official_benchmarks(hub) if one.lower() not in mapped]
    except Failure as failure:
        return list(failure.problems)
    if not left:
        return []
    fix = "read the eval.yaml of each (hub_leaderboard.py tasks DATASET), and add lines with --mapping"
    return [Problem("unmapped-benchmark", "mapping", f"official benchmarks without a line: {some(left, 50)}", fix=fix)]


def _unmapped_metrics(unmapped: Mapping[str, int]) -> list[Problem]:
    if not unmapped:
        return []
    told = some([f"{what} ({counted(number, 'result')})" for what, number in sorted(unmapped.items())], 5)
    fix = "where one of these metrics is what a board measures, add a line with --mapping"
    return [Problem("unmapped-metric", "mapping", f"results that no line takes: {told}", fix=fix)]


def _unknown(out: Path, number: int) -> list[Problem]:
    if not number:
        return []
    found = f"{counted(number, 'row')} unknown; the reasons are in the list"
    return [Problem("unknown", str(out), found, "an answer of the Hub's", "run the same command again")]


def _line(row: Row) -> str:
    where = f"number {row.predicted_rank}, {row.predicted_view}"
    return f"  {row.row:>4}  {row.model}  {row.hub_name} {row.board_value_guess}: {where}"
