"""Write a subset's pages: each one HTML file that opens from disk, offline, and asks nothing of any server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.files import write_text
from benchwright.leaderboard.entrants import VARIANTS, Entrant, entrants
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.families import FAMILIES
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.pages.board import COLUMNS, board_rows
from benchwright.leaderboard.pages.duels import duel_data
from benchwright.leaderboard.pages.points import TIMES, Time, point_data
from benchwright.leaderboard.pages.render import render
from benchwright.leaderboard.position import few_datasets, size_of
from benchwright.leaderboard.style import FAMILY_COLOURS, NEW_COLOUR

_TITLES = {
    "leaderboard.html": "Leaderboard",
    "pareto_front_explorer.html": "Inference time",
    "pareto_front_explorer_time_train.html": "Training time",
    "winrate_explorer.html": "Win rates",
}
_TIME_OF_PAGE: dict[str, Time] = {
    "pareto_front_explorer.html": "time_infer",
    "pareto_front_explorer_time_train.html": "time_train",
}


def write_pages(
    folder: Path,
    subset: SubsetEvaluation,
    metadata: Mapping[Source, MethodMetadata],
    new: Collection[Source],
    *,
    arena: str,
) -> list[Path]:
    """Write the four pages of ``subset`` into ``folder``, each atomically, and return their paths.

    ``leaderboard.html``, ``pareto_front_explorer.html`` (inference time), ``pareto_front_explorer_time_train.html`` and
    ``winrate_explorer.html``. They link one another and the CSV files beside them. ``new`` are the run's own methods,
    ``arena`` is the arena's title. Needs plotly and jinja2.
    """
    field = entrants(subset, metadata, new)
    shared = _shared(subset, field, arena)
    duels = duel_data(subset, field)
    pages = {
        "leaderboard.html": render(
            "leaderboard.html.j2",
            shared | {"here": "leaderboard.html", "columns": COLUMNS, "rows": board_rows(subset, field, metadata)},
        ),
        "winrate_explorer.html": render(
            "winrates.html.j2",
            shared | {"here": "winrate_explorer.html", "data": duels},
            charts=len(duels["methods"]) > 1,
        ),
    }
    for name, time in _TIME_OF_PAGE.items():
        points = point_data(subset, field, metadata, time)
        values = {"here": name, "data": points, "noun": TIMES[time].lower()}
        pages[name] = render("pareto.html.j2", shared | values, charts=bool(points["points"]))
    for name in _TITLES:
        write_text(folder / name, pages[name])
    return [folder / name for name in _TITLES]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A check box over the chart or table: what it shows or hides, and how that is drawn."""

    key: str
    title: str
    colour: str


def _shared(subset: SubsetEvaluation, field: Sequence[Entrant], arena: str) -> dict[str, Any]:
    """What the templates of all pages need."""
    board = subset.leaderboard
    present = {entrant.family for entrant in field if not entrant.new}
    families = [_Choice(family, family, FAMILY_COLOURS[family]) for family in FAMILIES if family in present]
    if any(entrant.new for entrant in field):
        families.insert(0, _Choice("new", "This run", NEW_COLOUR))
    return {
        "arena": arena,
        "subset": subset,
        "size": size_of(subset),
        "few": few_datasets(subset),
        "pages": _TITLES,
        "entrants": field,
        "families": families,
        "variants": [name for name in (*VARIANTS, "") if any(entrant.variant == name for entrant in field)],
        "unranked": [str(label) for label in board.loc[board["imputed"] >= 1, "method"]],
    }
