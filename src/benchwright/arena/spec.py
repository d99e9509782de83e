"""An arena: its tasks, its rules, and where its reference results come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from benchwright.arena.collection import MethodCollection
from benchwright.arena.subsets import Expression
from benchwright.arena.task_set import TaskSet

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class Resources:
    """What one config gets: seconds for its fit, CPU cores, GPUs and GB of memory; None means what the machine has."""

    time_limit: float
    num_cpus: int | None = None
    num_gpus: int = 0
    memory_limit: float | None = None


@dataclass(frozen=True, slots=True)
class ArenaSpec:
    """An arena's tasks and rules.

    ``calibration_method`` is the row whose Elo is set to 1000, ``fillna_method`` the row that stands in for missing
    results, ``default_subsets`` what a leaderboard is computed for (``()`` is the whole arena), and
    ``validation_protocol`` the key that an official result has to record.
    """

    name: str
    title: str
    tasks: TaskSet
    calibration_method: str
    fillna_method: str
    default_subsets: tuple[Expression, ...]
    validation_protocol: str
    resources: Resources


class ArenaSource(Protocol):
    """An arena with its reference results."""

    @property
    def spec(self) -> ArenaSpec:
        """The tasks and rules; needs no network."""
        ...

    def reference_methods(self) -> MethodCollection:
        """The methods on the arena's leaderboard; needs no network."""
        ...

    def reference_results(self) -> pyarrow.Table:
        """The reference methods' result rows: the columns of ``hpo_results`` or ``model_results``.

        Raises:
            Failure: they are not on this machine and cannot be fetched (exit 3).
        """
        ...
