"""Rows become the result tables of the public pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Problem
from benchwright.processing.naming import processed_name, variant
from benchwright.processing.split import ENSEMBLE_SIZES, Row, TunedRow

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ResultTables:
    """The tables of one method, and what was found on the way that does not make them wrong.

    ``model_results`` has a row a config (or the baseline) and split, ``hpo_results`` (None for a baseline) one a
    variant and split; both are sorted by dataset and split index. Errors are lower-is-better in the metric's own unit,
    times seconds.
    """

    model_results: pa.Table
    hpo_results: pa.Table | None
    findings: tuple[Problem, ...] = ()


def model_results(rows: Sequence[Row], metadata: MethodMetadata, config_type: str | None) -> pa.Table:
    """One row a result, sorted by dataset, split and name. ``config_type`` is None for a baseline."""
    from benchwright.processing import schemas

    values = [
        {
            **_core(row),
            "method": processed_name(row.framework, row.prefix, metadata),
            "metric_error_val": row.metric_error_val,
            "method_type": row.kind,
            "config_type": config_type,
        }
        for row in rows
    ]
    values.sort(key=lambda value: (value["dataset"], value["fold"], value["method"]))
    schema = schemas.MODEL_RESULTS_BASELINE if config_type is None else schemas.MODEL_RESULTS_CONFIG
    return _table(values, schema, metadata)


def hpo_results(
    defaults: Sequence[Row], tuned: Sequence[TunedRow], metadata: MethodMetadata, config_type: str
) -> pa.Table:
    """Default, tuned and ensembled rows, in this order within a split, sorted by dataset and split.

    ``defaults`` are the rows of the default config. A method that cannot be tuned has default rows alone, without the
    columns that describe the tuning.
    """
    from benchwright.processing import schemas

    values = [
        {
            **_core(row),
            "method": variant(config_type, "default"),
            "metric_error_val": row.metric_error_val,
            "method_type": "config",
            "method_subtype": "default",
            "method_metadata": None,
        }
        for row in defaults
    ] + [
        {
            **_core(row),
            "method": variant(config_type, row.subtype),
            "metric_error_val": row.metric_error_val,
            "method_type": "hpo",
            "method_subtype": row.subtype,
            "method_metadata": {
                "n_iterations": ENSEMBLE_SIZES[row.subtype],
                "n_configs": None,
                "time_limit": None,
                "config_type": config_type,
                "fit_order": "original",
            },
        }
        for row in tuned
    ]
    variants = ["default", *ENSEMBLE_SIZES]
    values.sort(key=lambda value: (value["dataset"], value["fold"], variants.index(value["method_subtype"])))
    for value in values:
        value.update(config_type=config_type, imputed=False, impute_method=None)
    schema = schemas.HPO_RESULTS_TUNED if metadata.can_hpo else schemas.HPO_RESULTS_DEFAULT
    return _table(values, schema, metadata)


def _core(row: Row | TunedRow) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "fold": row.split,
        "metric_error": row.metric_error,
        "time_train_s": row.time_train_s,
        "time_infer_s": row.time_infer_s,
        "metric": row.metric,
        "problem_type": row.problem_type,
    }


def _table(values: Sequence[Mapping[str, Any]], schema: pa.Schema, metadata: MethodMetadata) -> pa.Table:
    from benchwright.processing.columns import table_of

    origin = {"ta_name": metadata.method, "ta_suite": metadata.suite}
    return table_of([{**value, **origin} for value in values], schema)
