"""Where a run landed: its results beside the arena's reference methods, rated and tabled subset by subset."""

from benchwright.leaderboard.evaluate import EvalConfig, run_eval
from benchwright.leaderboard.evaluation import Evaluation, SkippedSubset, SubsetEvaluation
from benchwright.leaderboard.position import Position
from benchwright.leaderboard.run_methods import EvalMethod
from benchwright.leaderboard.table import format_leaderboard

__all__ = [
    "EvalConfig",
    "EvalMethod",
    "Evaluation",
    "Position",
    "SkippedSubset",
    "SubsetEvaluation",
    "format_leaderboard",
    "run_eval",
]
