"""What an evaluation leaves behind: the report, tables, figures and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.arena import MethodMetadata
from benchwright.contract import Progress
from benchwright.files import write_text
from benchwright.leaderboard.evaluation import Evaluation, SubsetEvaluation
from benchwright.leaderboard.frame import COLUMNS, IDENTITY
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.report import report_markdown
from benchwright.leaderboard.winrates import best_variants

if TYPE_CHECKING:
    import pandas as pd


def write_outputs(
    evaluation: Evaluation,
    formats: Sequence[str],
    *,
    focus_new: bool,
    pages: bool = True,
    progress: Progress | None = None,
) -> list[Path]:
    """Write everything that an evaluation leaves behind, each file atomically, and return the paths.

    ``report.md``, and for each subset its tables, its figures in every one of ``formats`` and its pages. ``progress``
    counts subsets.
    """
    known = (evaluation.metadata, evaluation.new)
    files: list[Path] = []
    for done, subset in enumerate(evaluation.subsets):
        if progress is not None:
            progress(done, len(evaluation.subsets), note=f"drawing {subset.label}")
        folder = evaluation.folder(subset)
        files += write_tables(evaluation, subset)
        if formats:
            from benchwright.leaderboard.figures import write_figures

            files += write_figures(folder, subset, *known, arena=evaluation.arena, formats=formats, focus_new=focus_new)
        if pages:
            from benchwright.leaderboard.pages import write_pages

            files += write_pages(folder, subset, *known, arena=evaluation.arena)
    if progress is not None:
        progress(len(evaluation.subsets), len(evaluation.subsets))
    write_text(evaluation.report, report_markdown(evaluation, files))
    return [evaluation.report, *files]


def write_tables(evaluation: Evaluation, subset: SubsetEvaluation) -> list[Path]:
    """Write a subset's CSV files, and return their paths.

    ``leaderboards/<label>.csv``, and in the subset's folder ``tabarena_leaderboard.csv`` (the same table),
    ``results_per_split.csv`` (the complete grid, imputed rows marked), ``method_info.csv`` (what is known of each
    method) and ``winrate_matrix.csv`` (the variants that stand for their methods). Methods are named by their labels.
    """
    folder = evaluation.folder(subset)
    results = subset.results[list(COLUMNS)].assign(method=subset.results["method"].map(subset.labels))
    winrates = best_variants(subset.winrates, subset.leaderboard, subset.labels)
    tables = {
        evaluation.output_dir / "leaderboards" / f"{subset.label}.csv": subset.leaderboard.to_csv(index=False),
        folder / "tabarena_leaderboard.csv": subset.leaderboard.to_csv(index=False),
        folder / "results_per_split.csv": results.to_csv(index=False),
        folder / "method_info.csv": method_info(subset.leaderboard, evaluation.metadata).to_csv(index=False),
        folder / "winrate_matrix.csv": winrates.to_csv(),
    }
    for path, text in tables.items():
        write_text(path, text)
    return list(tables)


def method_info(board: pd.DataFrame, metadata: Mapping[Source, MethodMetadata]) -> pd.DataFrame:
    """One row per method variant, sorted by label: its identity, then the fields of its method's metadata.

    A method without metadata keeps its row, the fields empty.
    """
    import pandas as pd

    identity = board[["method", *IDENTITY]]
    known = ("method", "suite", "method_type")
    fields = [
        {key: _cell(value) for key, value in metadata[source].to_dict().items() if key not in known}
        if (source := (row.ta_name, row.ta_suite)) in metadata
        else {}
        for row in identity.itertuples()
    ]
    described = pd.concat([identity, pd.DataFrame(fields, index=identity.index)], axis=1)
    return described.sort_values(["method", "ta_suite"], kind="stable", ignore_index=True)


def _cell(value: object) -> object:
    """A list as the published file spells it."""
    return tuple(value) if isinstance(value, list) else value
