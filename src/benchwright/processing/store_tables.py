"""The tables of the processed store beside its predictions: configs, baselines, hyperparameters and what names them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import processed_name
from benchwright.processing.layout import (
    BASELINES,
    CONFIGS,
    CONTEXT,
    HYPERPARAMETERS,
    PREDICTIONS,
    PROCESSED,
    STORE_METADATA,
    TASK_METADATA,
)
from benchwright.processing.split import RESOURCES, Row
from benchwright.processing.stored_split import FILES_OF_LABELS, FILES_OF_PREDICTIONS

if TYPE_CHECKING:
    import pyarrow as pa


_FIELDS = (
    "dataset", "metric_error", "metric", "time_train_s", "time_infer_s", "problem_type", "metric_error_val", "tid",
    "num_cpus", "num_gpus", "disk_usage",
)  # fmt: skip


def stored_tables(rows: Sequence[Row], metadata: MethodMetadata) -> dict[str, pa.Table]:
    """``configs.parquet`` and ``baselines.parquet``, by their paths in the artifact; sorted by dataset, split, name."""
    from benchwright.processing import schemas
    from benchwright.processing.columns import table_of

    named = [(processed_name(row.framework, row.prefix, metadata), row) for row in rows]
    named.sort(key=lambda pair: (pair[1].dataset, pair[1].split, pair[0]))
    ordered = [row for _, row in named]
    columns = {name: [getattr(row, name) for row in ordered] for name in _FIELDS} | {
        "fold": [row.split for row in ordered],
        "framework": [name for name, _ in named],
        "task": [f"{row.tid}_{row.split}" for row in ordered],
    }
    if metadata.method_type == "config":
        recorded = {name: columns[name] for name in RESOURCES if any(v is not None for v in columns[name])}
        schema = schemas.stored_configs({name: _number_type(values) for name, values in recorded.items()})
        return {CONFIGS: table_of(columns, schema), BASELINES: _without_rows(schemas.NO_BASELINES)}
    validated = any(value is not None for value in columns["metric_error_val"])
    schema = schemas.stored_baselines(validated=validated)
    return {CONFIGS: _without_rows(schemas.NO_CONFIGS), BASELINES: table_of(columns, schema)}


def _without_rows(schema: pa.Schema) -> pa.Table:
    """What ``empty_table`` makes, which imports pandas for it."""
    from benchwright.processing.columns import table_of

    return table_of(dict.fromkeys(schema.names, ()), schema)


def _number_type(values: Sequence[Any]) -> pa.DataType:
    import pyarrow as pa

    return pa.int64() if all(isinstance(value, int) for value in values) else pa.float64()


def store_documents(
    rows: Iterable[Row], splits: Sequence[tuple[str, int]], hyperparameters: Mapping[str, str]
) -> dict[str, str]:
    """The store's JSON files by their paths in the artifact.

    ``splits`` are the (dataset, split) whose predictions are stored, sorted; ``hyperparameters`` the JSON of each
    config.
    """
    configs = {config: json.loads(text) for config, text in sorted(hyperparameters.items())}
    names = {path: path.removeprefix(f"{PROCESSED}/") for path in (CONFIGS, BASELINES, TASK_METADATA, HYPERPARAMETERS)}
    predictions = PREDICTIONS.removeprefix(f"{PROCESSED}/")
    context = {
        "name": None,
        "date": None,
        "description": None,
        # Of all rows: with those of predictions alone, as the public pipeline has it, no baseline can be loaded.
        "folds": sorted({row.split for row in rows}),
        "s3_download_map": None,
        "config_fallback": None,
        "benchmark_paths": {
            "configs": names[CONFIGS],
            "baselines": names[BASELINES],
            "task_metadata": names[TASK_METADATA],
            "metadata_join_column": "dataset",
            "path_pred_proba": f"{predictions}/",
            "datasets": sorted({dataset for dataset, _ in splits}),
            "zs_pp": [
                f"{predictions}/{dataset}/{split}/{file}" for dataset, split in splits for file in FILES_OF_PREDICTIONS
            ],
            "zs_gt": [
                f"{predictions}/{dataset}/{split}/{file}" for dataset, split in splits for file in FILES_OF_LABELS
            ],
            "configs_hyperparameters": [names[HYPERPARAMETERS]],
            # The public pipeline writes the maintainer's folder here, and ignores it on reading.
            "relative_path": None,
        },
    }
    store = {
        "df_configs": names[CONFIGS],
        "df_baselines": names[BASELINES],
        "df_metadata": names[TASK_METADATA],
        "configs_hyperparameters": names[HYPERPARAMETERS],
        "pct": False,
        "score_against_only_baselines": False,
    }
    contents = {HYPERPARAMETERS: configs, CONTEXT: context, STORE_METADATA: store}
    return {path: json.dumps(content, indent=2, allow_nan=False) for path, content in contents.items()}
