"""Rows become the result tables of the public pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import processed_name
from benchwright.contract import Problem
from benchwright.processing.naming import variant
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

    named = [(processed_name(row.framework, row.prefix, metadata), row) for row in rows]
    named.sort(key=lambda pair: (pair[1].dataset, pair[1].split, pair[0]))
    columns = _core([row for _, row in named]) | {
        "method": [name for name, _ in named],
        "method_type": [row.kind for _, row in named],
        "config_type": [config_type] * len(named),
    }
    schema = schemas.MODEL_RESULTS_BASELINE if config_type is None else schemas.MODEL_RESULTS_CONFIG
    return _table(columns, schema, metadata)


def hpo_results(
    defaults: Sequence[Row], tuned: Sequence[TunedRow], metadata: MethodMetadata, config_type: str
) -> pa.Table:
    """Default, tuned and ensembled rows, in this order within a split, sorted by dataset and split.

    ``defaults`` are the rows of the default config. A method that cannot be tuned has default rows alone, without the
    columns that describe the tuning.
    """
    from benchwright.processing import schemas

    variants = ["default", *ENSEMBLE_SIZES]
    subtyped = [("default", row) for row in defaults] + [(row.subtype, row) for row in tuned]
    subtyped.sort(key=lambda pair: (pair[1].dataset, pair[1].split, variants.index(pair[0])))
    subtypes = [subtype for subtype, _ in subtyped]
    about = {subtype: _about_tuning(size, config_type) for subtype, size in ENSEMBLE_SIZES.items()}
    columns = _core([row for _, row in subtyped]) | {
        "method": [variant(config_type, subtype) for subtype in subtypes],
        "method_type": ["config" if subtype == "default" else "hpo" for subtype in subtypes],
        "method_subtype": subtypes,
        "config_type": [config_type] * len(subtyped),
        "imputed": [False] * len(subtyped),
        "impute_method": [None] * len(subtyped),
        "method_metadata": [about.get(subtype) for subtype in subtypes],
    }
    schema = schemas.HPO_RESULTS_TUNED if metadata.can_hpo else schemas.HPO_RESULTS_DEFAULT
    return _table(columns, schema, metadata)


def _about_tuning(size: int, config_type: str) -> dict[str, Any]:
    return {
        "n_iterations": size,
        "n_configs": None,
        "time_limit": None,
        "config_type": config_type,
        "fit_order": "original",
    }


def _core(rows: Sequence[Row | TunedRow]) -> dict[str, Sequence[Any]]:
    return {
        "dataset": [row.dataset for row in rows],
        "fold": [row.split for row in rows],
        "metric_error": [row.metric_error for row in rows],
        "metric_error_val": [row.metric_error_val for row in rows],
        "time_train_s": [row.time_train_s for row in rows],
        "time_infer_s": [row.time_infer_s for row in rows],
        "metric": [row.metric for row in rows],
        "problem_type": [row.problem_type for row in rows],
    }


def _table(columns: Mapping[str, Sequence[Any]], schema: pa.Schema, metadata: MethodMetadata) -> pa.Table:
    from benchwright.processing.columns import table_of

    count = len(columns["dataset"])
    origin = {"ta_name": [metadata.method] * count, "ta_suite": [metadata.suite] * count}
    return table_of({**columns, **origin}, schema)
