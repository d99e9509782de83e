"""One item of work: one experiment on one split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One experiment (a config's unique name) on one split of one dataset.

    ``task_key`` is the folder name of the dataset's results, see ``Split``.
    """

    experiment: str
    dataset: str
    repeat: int
    fold: int
    task_key: str

    def label(self) -> str:
        """The coordinates as logs print them."""
        return f"experiment={self.experiment} dataset={self.dataset} repeat={self.repeat} fold={self.fold}"

    def to_dict(self) -> dict[str, Any]:
        """The item in a job file's form."""
        return {
            "experiment": self.experiment,
            "dataset": self.dataset,
            "repeat": self.repeat,
            "fold": self.fold,
            "task_key": self.task_key,
        }
