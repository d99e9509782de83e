"""How tuning goes with the number of configs: ensembles over subsets of them, as the public pipeline draws these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchwright.arena import MethodMetadata
from benchwright.processing.ensemble import EnsembleSelection, MetricRows
from benchwright.processing.ensemble.rows import Float32, Float64, Indices
from benchwright.processing.naming import processed_name

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
