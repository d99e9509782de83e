"""How tuning goes with the number of configs: ensembles over subsets of them, as the public pipeline draws these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import processed_name
from benchwright.processing.ensemble import EnsembleSelection, MetricRows
from benchwright.processing.ensemble.rows import Float32, Float64, Indices

if TYPE_CHECKING:
    import pyarrow as pa

MEMBERS = 40
_SIZES = (1, 2, 5, 10, 25, 50, 100, 150)
_SEEDS = 20


@dataclass(frozen=True, slots=True)
class Pass:
    """One subset of ``n_configs`` of a method's configs, drawn with ``seed``."""

    n_configs: int
    seed: int


def passes(count: int) -> list[Pass]:
    """The passes over ``count`` configs: sizes up to all of them, and 20 seeds where a subset depends on one.

    It does not where only the default takes part, or all do.
    """
    sizes = sorted({size for size in _SIZES if size < count} | {count})
    return [Pass(size, seed) for size in sizes for seed in range(1 if size in (1, count) else _SEEDS)]


def orders(count: int, default: int) -> list[Indices]:
    """The configs of each pass in the order in which they are considered, as positions among ``count`` sorted ones.

    The default comes first, then the others as ``numpy``'s generator of the pass's seed permutes them.
    """
    rest = np.delete(np.arange(count), default)
    permuted = {seed: np.random.default_rng(seed).permuted(rest) for seed in range(_SEEDS)}
    return [np.concatenate([[default], permuted[each.seed]])[: each.n_configs] for each in passes(count)]


@dataclass(frozen=True, slots=True)
class TrajectoryPlan:
    """What the passes of every split have in common: all ``configs`` of the method, by their raw names, sorted."""

    configs: tuple[str, ...]
    metadata: MethodMetadata

    def default(self, prefix: str) -> int | None:
        """The position of the default config, given the prefix that raw names have; None where it is not there.

        A lone config is the default where none is declared.
        """
        if self.metadata.config_default is None:
            return 0 if len(self.configs) == 1 else None
        names = [processed_name(config, prefix, self.metadata) for config in self.configs]
        wanted = self.metadata.config_default
        return names.index(wanted) if wanted in names else None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The configs that have results on one split: their ``positions`` among all of the method's, and times in s."""

    positions: Sequence[int]
    time_train_s: Sequence[float]
    time_infer_s: Sequence[float]


Outcomes = Float64
"""(passes, 4): test error, validation error, time of training and of inference in seconds; NaN where no config is."""


def run_passes(
    plan: Sequence[Indices], candidates: Candidates, ensembles: EnsembleSelection, test: MetricRows, mixed: Float32
) -> Outcomes:
    """The outcome of every pass of ``plan`` on one split; configs without a result there are passed over.

    ``mixed`` (m, n) are reduced predictions on test rows, in the order of ``candidates``.
    """
    present = {position: number for number, position in enumerate(candidates.positions)}
    outcomes = []
    for order in plan:
        taking_part = [present[position] for position in order.tolist() if position in present]
        if not taking_part:
            outcomes.append((np.nan,) * 4)
            continue
        selection = ensembles.select(taking_part, size=MEMBERS)
        outcomes.append(
            (
                selection.error_test(test, mixed),
                selection.error_val,
                sum(candidates.time_train_s[number] for number in taking_part),
                sum(candidates.time_infer_s[number] for number in selection.members.tolist()),
            )
        )
    return np.array(outcomes)


@dataclass(frozen=True, slots=True)
class SplitTrajectory:
    """The outcomes (passes, 4) of all passes on one split."""

    dataset: str
    split: int
    problem_type: str
    metric: str
    outcomes: Outcomes


def hpo_trajectories(
    splits: Sequence[SplitTrajectory], n_configs: int, metadata: MethodMetadata, config_type: str
) -> pa.Table:
    """One row a pass and split, pass by pass, within it by dataset and split; none where no config has a result."""
    import pyarrow as pa

    from benchwright.processing import schemas
    from benchwright.processing.columns import array_of, table_of

    splits = sorted(splits, key=lambda each: (each.dataset, each.split))
    plan = passes(n_configs)
    outcomes = np.stack([each.outcomes for each in splits], axis=1)  # (passes, splits, 4)
    rows = np.argwhere(np.isfinite(outcomes[..., 0]))
    of_pass, of_split = rows[:, 0], rows[:, 1]
    numbers = outcomes[of_pass, of_split]
    own = [splits[number] for number in of_split]
    sizes = np.array([each.n_configs for each in plan])[of_pass]
    count = len(rows)
    columns: dict[str, Any] = {
        "dataset": [split.dataset for split in own],
        "fold": [split.split for split in own],
        "problem_type": [split.problem_type for split in own],
        "metric": [split.metric for split in own],
        "metric_error": numbers[:, 0],
        "metric_error_val": numbers[:, 1],
        "time_train_s": numbers[:, 2],
        "time_infer_s": numbers[:, 3],
        "imputed": [False] * count,
        "impute_method": [None] * count,
        "method_type": ["hpo"] * count,
        "method_subtype": ["tuned_ensemble"] * count,
        "config_type": [config_type] * count,
        "method": [f"HPO-N{size}-{config_type}" for size in sizes.tolist()],
        "n_configs": sizes,
        "n_iterations": [MEMBERS] * count,
        "seed": np.array([each.seed for each in plan])[of_pass],
        "ta_name": [metadata.method] * count,
        "ta_suite": [metadata.suite] * count,
        "always_include_default": [True] * count,
        "time_limit": [None] * count,
        "fit_order": ["random"] * count,
    }
    about = list(schemas.HPO_TRAJECTORIES.field("method_metadata").type)
    parts = [array_of(columns[field.name], field.type) for field in about]
    columns["method_metadata"] = pa.StructArray.from_arrays(parts, fields=about)
    return table_of(columns, schemas.HPO_TRAJECTORIES)
