"""``hpo_trajectories.parquet`` from the outcomes of the passes on each split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.arena import MethodMetadata
from benchwright.processing.trajectories import MEMBERS, Outcomes, passes

if TYPE_CHECKING:
    import pyarrow as pa


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
