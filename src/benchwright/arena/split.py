"""One split of one dataset: the unit that a config is fitted and scored on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ProblemType = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What only some arenas record of a dataset; None means unknown, which no subset takes for "no".

    ``task_type`` is ``random``, ``temporal`` or ``grouped``; ``group_labels`` is ``per_group`` or ``per_sample`` and
    stays None where there are no groups. ``columns`` counts the features after preprocessing.
    """

    task_type: str | None = None
    group_labels: str | None = None
    columns: int | None = None
    text_columns: int | None = None
    high_cardinality_columns: int | None = None
    has_categorical: bool | None = None
    has_numerical: bool | None = None
    has_binary: bool | None = None
    has_datetime: bool | None = None
    has_text: bool | None = None
    has_high_cardinality: bool | None = None
    in_core: bool | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """One train and test split.

    ``dataset`` is the name in result rows, ``task_key`` the folder name in the results tree and ``tid`` the integer
    task id. ``split`` is the index that result tables call ``fold``: ``folds * repeat + fold``. ``n_classes`` is None
    for regression. Row counts are floats, since the published ones are exact thirds. ``categorical_share`` is the
    share of categorical features, 0 to 1. ``short_name`` is the dataset's name without a digest, if it differs.
    """

    dataset: str
    task_key: str
    tid: int
    repeat: int
    fold: int
    split: int
    problem_type: ProblemType
    metric: str
    n_features: int
    n_classes: int | None
    train_rows: float
    test_rows: float
    categorical_share: float
    short_name: str | None = None
    traits: Traits = field(default_factory=Traits)

    @property
    def coordinates(self) -> tuple[str, int, int]:
        """Dataset, repeat and fold: what makes a split unique in its arena."""
        return self.dataset, self.repeat, self.fold
