"""The mini arena as an arena like the others: its rules, its reference methods and their results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.arena import ArenaSpec, MethodCollection, Resources
from benchwright.mini.methods import methods_superseded, mini_method_metadata_collection
from benchwright.mini.table import task_set

if TYPE_CHECKING:
    import pyarrow

NAME = "mini"
SUITE = "mini-arena-1"
"""The suite of the reference results; a change to tasks or references makes a new one."""
RESULTS = Path(__file__).parent / "data" / "reference_results.parquet"
PROTOCOL = "8x1"
RESOURCES = Resources(time_limit=300.0, num_cpus=1, num_gpus=0, memory_limit=None)
"""One core an item: on a few hundred rows a second one costs time, and results do not depend on how many there are."""
REFERENCE_CONFIGS = {"RandomForest": 0, "ExtraTrees": 0, "LightGBM": 9, "LinearModel": 0, "KNeighbors": 0}
"""The reference methods by their registry names, and how many random configs each has beside its default one."""

_SUBSETS = ((), ("binary",), ("multiclass",), ("classification",), ("regression",))


@dataclass(frozen=True)
class MiniSource:
    """The mini arena. Nothing of it needs the network."""

    @cached_property
    def spec(self) -> ArenaSpec:
        """The tasks and rules."""
        return ArenaSpec(
            name=NAME,
            title="Mini arena",
            tasks=task_set(),
            calibration_method="RF (default)",
            fillna_method="RF (default)",
            default_subsets=_SUBSETS,
            validation_protocol=PROTOCOL,
            resources=RESOURCES,
        )

    def reference_methods(self) -> MethodCollection:
        """The five methods that the reference results are of; other registered runs have other suites."""
        registered = (*mini_method_metadata_collection, *methods_superseded)
        return MethodCollection(method for method in registered if method.suite == SUITE)

    def reference_results(self) -> pyarrow.Table:
        """The shipped result rows: a default for each method; LightGBM also tuned, and tuned and ensembled."""
        from pyarrow import parquet

        return parquet.read_table(RESULTS)


def source() -> MiniSource:
    """The mini arena."""
    return MiniSource()
