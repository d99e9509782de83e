"""The columns of result tables: names, order and types of the public pipeline's Parquet files."""

from __future__ import annotations

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
_HPO_METADATA = pa.struct(
    [
        ("n_iterations", pa.int64()),
        ("n_configs", pa.null()),
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
    [*_CORE, *_VARIANT, ("impute_method", pa.float64()), ("method_metadata", _HPO_METADATA), *_ORIGIN]
)
"""Up to three rows a split: default, tuned, tuned and ensembled."""
