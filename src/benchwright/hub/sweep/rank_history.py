"""Ranks over time: a CSV with a line for each result and day on which a sweep knew where it is shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, said
from benchwright.files import read_bytes, write_text
from benchwright.hub.sweep.classes import SweptPull
from benchwright.hub.sweep.sight import Hidden, Shown
from benchwright.hub.views import VIEWS, View

_COLUMNS = (
    "day",
    "repo",
    "num",
    "dataset",
    "task",
    "benchmark",
    "value",
    "class",
    "rank",
    "max_params",
    "base_only",
    "rank_of_all",
)
_BASE_ONLY = {"yes": True, "no": False}
_MOST_BYTES = 2**28


@dataclass(frozen=True)
class RankPoint:
    """Where a result stood on a day (UTC, ``YYYY-MM-DD``).

    ``rank`` is that in ``view``, which shows it; None: no view did. ``widest`` is its rank among all models, where that
    is known. ``kind`` is the class of the result, or ``merged``.
    """

    day: str
    repo: str
    num: int
    dataset: str
    task: str
    benchmark: str
    value: str
    kind: str
    rank: int | None
    view: View | None
    widest: int | None

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        """A later sweep of the same day has the same, and takes the point's place."""
        return self.day, self.repo, self.num, self.dataset, self.task


def points(swept: Iterable[SweptPull], day: str) -> list[RankPoint]:
    """A point for each result whose place is known: none for what is unknown, closed or not previewed."""
    found = []
    for pull in swept:
        for one in pull.results:
            seen, result = one.facts.sight, one.facts.result
            if isinstance(seen, Shown | Hidden):
                rank, view = (seen.rank, seen.view) if isinstance(seen, Shown) else (None, None)
                kind = "merged" if pull.kind == "merged" else one.kind
                place = (pull.facts.repo, pull.facts.num, result.dataset, result.task_id, one.facts.name)
                found.append(RankPoint(day, *place, result.value_text, kind, rank, view, seen.widest))
    return found


def read_history(path: Path) -> list[RankPoint]:
    """The points of a file; none where there is no file.

    Raises:
        Failure: it cannot be read (exit 3), or it is not of our form: each line that is not (exit 2).
    """
    try:
        text = read_bytes(path, limit=_MOST_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        problem = Problem(
            "history-unreadable",
            str(path),
            f"cannot be read ({said(error)})",
            "a file that can be",
            "mend the rights of the file, or name another with --ranks",
        )
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    found, problems = [], []
    lines = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if tuple(lines.fieldnames or ()) != _COLUMNS:
            raise csv.Error("other columns")
        for line in lines:
            try:
                found.append(_point(line))
            except (ValueError, TypeError, KeyError):
                problems.append(_not_ours(path, lines.line_num, "a line that no sweep writes"))
    except csv.Error as error:
        problems.append(_not_ours(path, lines.line_num, str(error)))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return found


def write_history(path: Path, known: Iterable[RankPoint], new: Iterable[RankPoint]) -> list[RankPoint]:
    """Write points beside those that are known, in the place of those of the same day; returns all, by day.

    Raises:
        OSError: the file cannot be written; it is as it was.
    """
    by_key = {one.key: one for one in [*known, *new]}
    found = [by_key[key] for key in sorted(by_key)]
    text = io.StringIO(newline="")
    lines = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    lines.writeheader()
    lines.writerows(_line(one) for one in found)
    write_text(path, text.getvalue())
    return found


def _line(one: RankPoint) -> dict[str, Any]:
    view = (one.view.max_params or "all", "yes" if one.view.base_only else "no") if one.view else ("", "")
    place = (one.day, one.repo, one.num, one.dataset, one.task, one.benchmark, one.value, one.kind)
    return dict(zip(_COLUMNS, (*place, one.rank, *view, one.widest), strict=True))


def _point(line: Mapping[str, str]) -> RankPoint:
    """The point of a line.

    Raises:
        ValueError, TypeError, KeyError: it is none.
    """
    if not all(line[name] for name in _COLUMNS[:8]) or None in line:
        raise ValueError(line)
    date.fromisoformat(line["day"])
    texts = (line["dataset"], line["task"], line["benchmark"], line["value"], line["class"])
    view = None
    if line["rank"]:
        size = line["max_params"]
        view = View(None if size == "all" else size, _BASE_ONLY[line["base_only"]])
        VIEWS.index(view)
    rank, widest = (int(line[name]) if line[name] else None for name in ("rank", "rank_of_all"))
    return RankPoint(line["day"], line["repo"], int(line["num"]), *texts, rank, view, widest)


def _not_ours(path: Path, number: int, found: str) -> Problem:
    fix = "correct it, or move the file away to begin a new one"
    return Problem("bad-history", f"{path}:{number}", found, f"a CSV with {', '.join(_COLUMNS)}", fix)
