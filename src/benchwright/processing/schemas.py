"""The columns of result tables: names, order and types of the public pipeline's Parquet files."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

_CORE = [
    ("dataset", pa.string()),
    ("fold", pa.int64()),  # the split index, not the raw fold
    ("method", pa.string()),
    ("metric_error", pa.float64()),
    ("time_train_s", pa.float64()),
    ("time_infer_s", pa.float64()),
    ("metric", pa.string()),
    ("problem_type", pa.string()),
    ("metric_error_val", pa.float64()),
    ("method_type", pa.string()),
]
_FAMILY = [("config_type", pa.string())]
_VARIANT = [("method_subtype", pa.string()), *_FAMILY, ("imputed", pa.bool_())]


def _about_tuning(n_configs: pa.DataType) -> pa.DataType:
    return pa.struct(
        [
            ("n_iterations", pa.int64()),
            ("n_configs", n_configs),
            ("time_limit", pa.null()),
            ("config_type", pa.string()),
            ("fit_order", pa.string()),
        ]
    )


_ORIGIN = [("ta_name", pa.string()), ("ta_suite", pa.string())]

MODEL_RESULTS_BASELINE = pa.schema([*_CORE, *_ORIGIN])
"""One row a split."""
MODEL_RESULTS_CONFIG = pa.schema([*_CORE, *_FAMILY, *_ORIGIN])
"""One row a config and split."""
HPO_RESULTS_DEFAULT = pa.schema([*_CORE, *_VARIANT, *_ORIGIN])
"""One row a split, for a method of which one config was run."""
HPO_RESULTS_TUNED = pa.schema(
    [*_CORE, *_VARIANT, ("impute_method", pa.float64()), ("method_metadata", _about_tuning(pa.null())), *_ORIGIN]
)
"""Up to three rows a split: default, tuned, tuned and ensembled."""
HPO_TRAJECTORIES = pa.schema(
    [
        ("dataset", pa.string()),
        ("fold", pa.int64()),
        ("metric_error", pa.float64()),
        ("metric", pa.string()),
        ("time_train_s", pa.float64()),
        ("time_infer_s", pa.float64()),
        ("problem_type", pa.string()),
        ("metric_error_val", pa.float64()),
        ("imputed", pa.bool_()),
        ("impute_method", pa.float64()),
        ("method_type", pa.string()),
        ("method_subtype", pa.string()),
        ("config_type", pa.string()),
        ("method_metadata", _about_tuning(pa.int64())),
        ("method", pa.string()),
        ("n_configs", pa.int64()),
        ("n_iterations", pa.int64()),
        ("seed", pa.int64()),
        *_ORIGIN,
        ("always_include_default", pa.bool_()),
    ]
)
"""One row a pass and split, pass by pass."""

_STORED = [
    ("dataset", pa.string()),
    ("fold", pa.int64()),
    ("framework", pa.string()),
    ("metric_error", pa.float64()),
    ("metric", pa.string()),
    ("time_train_s", pa.float64()),
    ("time_infer_s", pa.float64()),
]
_VALIDATED = ("metric_error_val", pa.float64())
_STORED_TASK = ("task", pa.string())


def stored_configs(resources: Mapping[str, pa.DataType]) -> pa.Schema:
    """One row a config and split, with those of `split.RESOURCES` that are recorded, whole numbers or not."""
    return pa.schema(
        [*_STORED, ("problem_type", pa.string()), _VALIDATED, ("tid", pa.int64()), *resources.items(), _STORED_TASK]
    )


def stored_baselines(*, validated: bool) -> pa.Schema:
    """One row a split; ``validated`` if results record a validation error."""
    own = [_VALIDATED] if validated else []
    return pa.schema([*_STORED, *own, _STORED_TASK, ("tid", pa.int64()), ("problem_type", pa.string())])


def _without_rows(*names: str) -> pa.Schema:
    return pa.schema([(name, pa.int64() if name == "tid" else pa.null()) for name in names])


NO_CONFIGS = _without_rows(
    *("dataset", "fold", "framework", "metric_error", "metric_error_val", "metric", "problem_type"),
    *("time_train_s", "time_infer_s", "tid", "task"),
)
NO_BASELINES = _without_rows(
    *("dataset", "fold", "framework", "metric_error", "metric", "time_train_s", "time_infer_s"),
    *("tid", "problem_type", "task"),
)
"""The other of the two tables, which has no rows."""
