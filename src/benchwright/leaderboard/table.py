"""The leaderboard as people read it: the columns of the public leaderboard, as plain text or Markdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from benchwright.arena import MethodMetadata
    from benchwright.leaderboard.labels import Source

_NUMBERS = ("#", "Elo", "Score", "Rank", "Time", "(%)", "(s/1K)", "%")
REPORT = {
    "#": "#",
    "Model": "Model",
    "Elo": "Elo",
    "Elo 95% CI": "95% CI",
    "Score": "Score",
    "Rank": "Rank",
    "Improvability (%)": "Impro%",
    "Median Train Time (s/1K)": "Train (s/1K)",
    "Median Predict Time (s/1K)": "Predict (s/1K)",
}
"""What a report of a run shows: narrow enough for a terminal."""
TOP = 10
"""How many rows of a leaderboard a report shows, beside the run's own."""
_NEW = "*"
_LEGEND = f"{_NEW} this run"


def website_rows(
    board: pd.DataFrame, metadata: Mapping[Source, MethodMetadata], columns: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """The public leaderboard's cells, one mapping of column to text for each method, best Elo first.

    Rounding is the public leaderboard's. A method whose every result is imputed is not shown; one with some imputed
    results says so behind its name. ``metadata`` tells hardware and verification, by artifact name and suite. Where no
    method has an interval (a single dataset leaves nothing to resample), its column says so. ``columns`` picks columns
    and says what each is called (``REPORT``); None is all of them.
    """
    shown = _shown(board)
    places = shown["elo"].rank(ascending=False, method="min").astype(int)
    rows = [
        _cells(place, row, metadata.get((row.ta_name, row.ta_suite)))
        for place, (_, row) in zip(places, shown.iterrows(), strict=True)
    ]
    if not board[["elo+", "elo-"]].any(axis=None):
        rows = [row | {"Elo 95% CI": "none"} for row in rows]
    if columns is None:
        return rows
    return [{name: row[column] for column, name in columns.items()} for row in rows]


def format_leaderboard(
    board: pd.DataFrame,
    metadata: Mapping[Source, MethodMetadata],
    *,
    new: Collection[Source] = (),
    columns: Mapping[str, str] | None = None,
    markdown: bool = False,
    top: int | None = None,
) -> list[str]:
    """The lines of the leaderboard's table, the rows of the methods in ``new`` marked.

    In plain text they carry an asterisk (and a last line explains it), in Markdown they are bold. ``top`` cuts the
    table to so many rows and every row of ``new``.
    """
    rows = website_rows(board, metadata, columns)
    is_new = [(row.ta_name, row.ta_suite) in new for row in _shown(board).itertuples()]
    kept = [(row, mark) for at, (row, mark) in enumerate(zip(rows, is_new, strict=True)) if not top or at < top or mark]
    if markdown:
        return _markdown(kept)
    return _text([{"": _NEW if mark else "", **row} for row, mark in kept]) + ([_LEGEND] if any(is_new) else [])


def _shown(board: pd.DataFrame) -> pd.DataFrame:
    return board[board["imputed"] < 1].sort_values("elo", ascending=False, kind="stable")


def _cells(place: int, row: Any, metadata: MethodMetadata | None) -> dict[str, str]:
    imputed = round(100 * float(row.imputed), 2)
    verified = "unknown" if metadata is None else "yes" if metadata.verified else "no"
    return {
        "#": str(place),
        "Model": f"{row.method} [{imputed:.2f}% IMPUTED]" if imputed else str(row.method),
        "Elo": f"{row.elo:.0f}",
        "Elo 95% CI": f"+{row['elo+']:.0f}/-{row['elo-']:.0f}",
        "Score": f"{1 - row['normalized-error']:.3f}",
        "Rank": f"{row['rank']:.2f}",
        "Harmonic Rank": f"{1 / row.mrr:.2f}",
        "Improvability (%)": f"{100 * row.improvability:.3f}",
        "Median Train Time (s/1K)": f"{row.median_time_train_s_per_1K:.2f}",
        "Median Predict Time (s/1K)": f"{row.median_time_infer_s_per_1K:.3f}",
        "Verified": verified,
        "Imputed (%)": f"{imputed:.2f}",
        "Imputed": "yes" if imputed else "no",
        "Hardware": "unknown" if metadata is None else metadata.compute.upper(),
    }


def _text(rows: list[dict[str, str]]) -> list[str]:
    if not rows:
        return []
    columns = list(rows[0])
    widths = {column: max(len(column), *(len(row[column]) for row in rows)) for column in columns}

    def line(cells: Mapping[str, str]) -> str:
        parts = [
            f"{cells[column]:>{widths[column]}}" if _is_number(column) else f"{cells[column]:<{widths[column]}}"
            for column in columns
        ]
        return "  ".join(parts).rstrip()

    return [line({column: column for column in columns}), *(line(row) for row in rows)]


def _markdown(rows: list[tuple[dict[str, str], bool]]) -> list[str]:
    if not rows:
        return []
    columns = list(rows[0][0])
    rules = ["---:" if _is_number(column) else ":---" for column in columns]
    lines = [columns, rules]
    for row, mark in rows:
        cells = [row[column].replace("|", "\\|") for column in columns]
        lines.append([f"**{cell}**" for cell in cells] if mark else cells)
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _is_number(column: str) -> bool:
    return "CI" not in column and any(word in column for word in _NUMBERS)
