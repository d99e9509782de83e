"""A mini task: its frame, its fixed folds, and the digest that tells when either has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchwright.mini.generated import Columns
from benchwright.mini.stable_random import StableRandom

FOLDS = 3
TARGET = "target"
METRICS = {"binary": "roc_auc", "multiclass": "log_loss", "regression": "rmse"}
"""The benchmark's metric for each problem type."""

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class MiniTask:
    """A small task made on demand; ``build`` returns its columns, the target among them.

    Columns of strings become categorical ones. ``name`` is the name the benchmark's runner knows the task by.
    """

    name: str
    problem_type: Literal["binary", "multiclass", "regression"]
    build: Callable[[], Columns]
    seed: int

    @property
    def hash(self) -> str:
        """The SHA-256 of the name in hex: the runner derives both identifiers from it."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def key(self) -> str:
        """The name of its results' folder and of its data set in result rows: ``{name}-{first 12 of the hash}``."""
        return f"{self.name}-{self.hash[:12]}"

    @property
    def tid(self) -> int:
        """The integer id: the hash modulo 10**10."""
        return int(self.hash, 16) % 10**10

    @property
    def metric(self) -> str:
        """The metric of its problem type."""
        return METRICS[self.problem_type]

    @cached_property
    def columns(self) -> Columns:
        """The columns as arrays; made once."""
        return self.build()

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[TARGET])

    @property
    def features(self) -> list[str]:
        """The names of the features, in column order."""
        return [name for name in self.columns if name != TARGET]

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical features."""
        return [name for name in self.features if self.columns[name].dtype == object]

    @property
    def classes(self) -> int | None:
        """How many classes the target has; ``None`` for regression."""
        return None if self.problem_type == "regression" else len(set(self.columns[TARGET]))

    def frame(self) -> Any:
        """The task as a pandas frame with a running index: floats, categoricals, and the target last."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Categorical(values) if values.dtype == object else values
                for name, values in self.columns.items()
            }
        )

    def folds(self) -> list[Fold]:
        """Three pairs of sorted row positions (train, test); every row is in one test set.

        The rows, grouped by class (regression: in one group), are put into a random order within their group and dealt
        to the folds in turn, so each fold holds a third of each class to within a row.
        """
        target = self.columns[TARGET]
        order = StableRandom(self.seed).order(self.rows)
        if self.problem_type != "regression":
            codes = np.unique(target.astype(str), return_inverse=True)[1]
            order = order[np.argsort(codes[order], kind="stable")]
        fold_of = np.empty(self.rows, dtype=np.int64)
        fold_of[order] = np.arange(self.rows) % FOLDS
        return [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(FOLDS)]

    def digest(self) -> str:
        """The SHA-256 over names, values and folds: equal exactly when the task is the one the references ran on."""
        state = hashlib.sha256()
        for name, values in self.columns.items():
            state.update(f"\n{name}\n".encode())
            if values.dtype == object:
                state.update("\n".join("?" if value is None else value for value in values).encode())
            else:
                state.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        for train, test in self.folds():
            state.update(np.concatenate([train, test]).astype("<i8").tobytes())
        return state.hexdigest()
