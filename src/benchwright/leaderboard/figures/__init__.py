"""A leaderboard's figures: what tuning brings, who beats whom, quality against time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.entrants import entrants
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.figures.canvas import Setting, drawing, save
from benchwright.leaderboard.figures.pareto import pareto
from benchwright.leaderboard.figures.tuning_impact import tuning_impact
from benchwright.leaderboard.figures.winrate_matrix import winrate_matrix
from benchwright.leaderboard.labels import Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_figures"]


def write_figures(
    folder: Path,
    subset: SubsetEvaluation,
    metadata: Mapping[Source, MethodMetadata],
    new: Collection[Source],
    *,
    arena: str,
    formats: Sequence[str] = ("pdf", "png"),
    focus_new: bool = True,
) -> list[Path]:
    """Draw one subset's figures into ``folder`` in every one of ``formats`` ("pdf", "png", "svg"); return their paths.

    ``tuning-impact-elo``, ``tuning-impact-elo-horizontal``, ``winrate_matrix`` and
    ``pareto_front_{elo,improvability}_vs_time_{train,infer}``. ``new`` are the run's own methods; with ``focus_new``
    the Pareto figures name them in a box even off the front. A figure with nothing to show says so.

    Raises:
        OSError: the folder cannot be written. Every file is written atomically.
    """
    field = entrants(subset, metadata, new)
    setting = Setting(arena, subset.label, subset.n_datasets, subset.n_splits)
    figures: dict[str, Callable[[], Figure]] = {
        "tuning-impact-elo": partial(tuning_impact, field, setting, horizontal=False),
        "tuning-impact-elo-horizontal": partial(tuning_impact, field, setting, horizontal=True),
        "winrate_matrix": partial(winrate_matrix, field, subset.winrates, subset.leaderboard, setting),
    }
    for quality in ("elo", "improvability"):
        for time in ("train", "infer"):
            figures[f"pareto_front_{quality}_vs_time_{time}"] = partial(
                pareto, field, setting, quality=quality, time=time, focus_new=focus_new
            )
    files: list[Path] = []
    with drawing():
        for name, draw in figures.items():
            files += save(draw(), folder, name, formats)
    return files
