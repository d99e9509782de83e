"""Workspaces of genuine results, and their evaluation beside the other genuine methods."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from leaderboard_data import DATA, LocalArena, local_arena

from benchwright.leaderboard import EvalConfig, EvalMethod, Evaluation, run_eval

BENCHMARK = "booster_30112026"


@dataclass(frozen=True)
class Workspace:
    workspace: Path

    @property
    def data(self) -> Path:
        return self.workspace / "output" / BENCHMARK / "data"

    def result(self, experiment: str, task: str, split: str) -> Path:
        return self.data / experiment / task / split / "results.pkl"


def workspace(folder: Path, *experiments: str) -> Workspace:
    """A workspace with the genuine results of the experiments whose names start so."""
    made = Workspace(folder)
    for source in sorted((DATA / "tabarena_raw" / "data").iterdir()):
        if source.name.startswith(experiments):
            shutil.copytree(source, made.data / source.name)
    return made


def evaluate(where: Workspace, *methods: EvalMethod, **settings: object) -> Evaluation:
    defaults = {"arena": LocalArena(local_arena()), "figure_output_dir": where.workspace / "out", "n_bootstraps": 3}
    undrawn = {"figure_file_type": (), "interactive_pages": False}
    return run_eval(EvalConfig(BENCHMARK, methods=methods, path_setup=where, **{**defaults, **undrawn, **settings}))
