"""The golden data of the published evaluation, and the small arena it belongs to."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.arena import ArenaSpec, MethodCollection, MethodMetadata, Resources, Split, TaskSet

DATA = Path(__file__).parent.parent / "data"
GOLDEN = DATA / "bencheval_golden"
ROWS = {
    "local_breast_cancer-498b8450f429": [(160.0, 80.0)] * 3,
    "local_wine-0ae0b9dbb2cc": [(118.0, 60.0), (119.0, 59.0), (119.0, 59.0)],
    "local_diabetes-a3d1e20e7ed9": [(160.0, 80.0)] * 3,
}
"""Train and test rows of each split behind ``reporter/input.csv``."""
SCORING = {
    "local_breast_cancer-498b8450f429": ("binary", "roc_auc", 2),
    "local_wine-0ae0b9dbb2cc": ("multiclass", "log_loss", 3),
    "local_diabetes-a3d1e20e7ed9": ("regression", "rmse", None),
}


def task_set() -> TaskSet:
    return TaskSet(
        Split(
            dataset=dataset,
            task_key=dataset,
            tid=number,
            repeat=0,
            fold=fold,
            split=fold,
            problem_type=SCORING[dataset][0],
            metric=SCORING[dataset][1],
            n_features=10,
            n_classes=SCORING[dataset][2],
            train_rows=train,
            test_rows=test,
            categorical_share=0.0,
        )
        for number, (dataset, sizes) in enumerate(ROWS.items())
        for fold, (train, test) in enumerate(sizes)
    )


def local_arena() -> ArenaSpec:
    return ArenaSpec(
        name="local",
        title="the local arena",
        tasks=task_set(),
        calibration_method="RF (default)",
        fillna_method="RF (default)",
        default_subsets=((), ("classification",), ("regression",), ("medium",)),
        validation_protocol="8x1",
        resources=Resources(time_limit=60),
    )


CACHE = DATA / "tabarena_cache" / "artifacts" / "local-2026-11-29" / "methods"


class LocalArena:
    """The small arena with genuine methods' tables for reference results."""

    def __init__(self, spec: ArenaSpec, methods: tuple[str, ...] = ("RandomForest", "LinearModel")) -> None:
        self.spec = spec
        self.methods = methods

    def reference_methods(self) -> MethodCollection:
        return MethodCollection(MethodMetadata.from_yaml(CACHE / name) for name in self.methods)

    def reference_results(self) -> pa.Table:
        tables = [pq.read_table(CACHE / name / "results" / "hpo_results.parquet") for name in self.methods]
        # All-null columns are typed differently from file to file.
        dropped = ("method_metadata", "impute_method")
        kept = [table.drop_columns([name for name in dropped if name in table.column_names]) for table in tables]
        return pa.concat_tables(kept, promote_options="permissive")
