"""What an evaluation found: one leaderboard for each subset, and everything that tables and figures need of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Outcome, Problem
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.position import Position, position_block
from benchwright.leaderboard.table import REPORT, TOP, format_leaderboard

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SubsetEvaluation:
    """The leaderboard of one subset of the arena's splits.

    Every frame names a method variant twice: its index or its ``method`` column holds a name that is unique in the
    evaluation, which ``labels`` translates into what people read (two variants may share a label).

    - ``leaderboard``: one row per variant, sorted by mean rank, indexed by unique name; the published 37 columns, whose
      ``method`` is the label.
    - ``results``: the complete grid behind it, a results frame with the columns of ``with_measures``.
    - ``winrates``: the win-rate matrix of all variants, by unique name.
    - ``positions``: where the run's methods landed, best Elo first. ``absent`` are the labels of those without a result
      of their own in this subset.
    """

    label: str
    leaderboard: pd.DataFrame
    results: pd.DataFrame
    winrates: pd.DataFrame
    labels: Mapping[str, str]
    n_datasets: int
    n_splits: int
    positions: tuple[Position, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True)
class SkippedSubset:
    """A subset without a leaderboard, and why."""

    label: str
    reason: str


@dataclass(frozen=True)
class Evaluation:
    """A run beside its arena's reference methods.

    ``metadata`` describes every method by artifact name and suite, ``new`` are the run's own. ``problems`` are what the
    numbers hide: damaged files, missing and imputed splits, rows left out, equal labels. ``notes`` are what a
    reader has to know of a run that is sound: its scope, and what its tuning chose from. ``files`` are those written:
    the report, then subset by subset tables, figures and pages, the leaderboard first.
    """

    benchmark_name: str
    arena: str
    output_dir: Path
    subsets: tuple[SubsetEvaluation, ...]
    skipped: tuple[SkippedSubset, ...]
    metadata: Mapping[Source, MethodMetadata]
    new: tuple[Source, ...]
    problems: tuple[Problem, ...]
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> Path:
        """Where the report belongs that can be relayed as it stands."""
        return self.output_dir / "report.md"

    def folder(self, subset: SubsetEvaluation) -> Path:
        """Where one subset's tables, figures and pages belong."""
        return self.output_dir / "subsets" / subset.label

    def position_block(self) -> list[str]:
        """The closing block, ``Position of this run's methods``, line by line."""
        lines = position_block(self.subsets)
        return lines + [f"{skipped.label}: skipped, {skipped.reason}" for skipped in self.skipped]

    def leaderboard_table(
        self, label: str, *, columns: Mapping[str, str] | None = None, markdown: bool = False
    ) -> list[str]:
        """One subset's leaderboard as lines of text, the run's rows marked.

        Raises:
            KeyError: there is no leaderboard of that label.
        """
        board = {subset.label: subset.leaderboard for subset in self.subsets}[label]
        return format_leaderboard(board, self.metadata, new=self.new, columns=columns, markdown=markdown)

    def outcome(self) -> Outcome:
        """The evaluation in a script's form: the first subset's top ten and the run's rows, then the closing block.

        Problems do not fail it: the numbers stand, and they say what is behind them.
        """
        if not self.subsets:
            summary = "no leaderboard: every subset was skipped"
            return Outcome(summary, self.to_dict(), problems=self.problems, closing=self.position_block(), exit=Exit.NO)
        first = self.subsets[0]
        table = format_leaderboard(first.leaderboard, self.metadata, new=self.new, columns=REPORT, top=TOP)
        best = first.positions[0] if first.positions else None
        landed = f"{best.label} is {best.place} of {best.of}" if best else "none of the run's methods has a place"
        return Outcome(
            summary=f"{landed} on {first.label} of {self.arena}; the report is {self.report}",
            data=self.to_dict(),
            details=["", f"Leaderboard {first.label}", *table],
            problems=self.problems,
            closing=["", *self.position_block()],
        )

    def to_dict(self) -> dict[str, Any]:
        """The evaluation in the JSON envelope's form: positions and file names, no frames."""
        return {
            "benchmark_name": self.benchmark_name,
            "arena": self.arena,
            "output_dir": str(self.output_dir),
            "report": str(self.report),
            "subsets": [
                {
                    "subset": subset.label,
                    "datasets": subset.n_datasets,
                    "splits": subset.n_splits,
                    "methods": len(subset.leaderboard),
                    "positions": [position.to_dict() for position in subset.positions],
                    "absent": list(subset.absent),
                }
                for subset in self.subsets
            ],
            "skipped": [{"subset": skipped.label, "reason": skipped.reason} for skipped in self.skipped],
            "notes": list(self.notes),
            "files": [str(path) for path in self.files],
        }
