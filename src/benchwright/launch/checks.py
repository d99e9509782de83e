"""Checks of the values that a plan holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.contract import Problem
from benchwright.launch.plan import ModelJob, is_choice

_AT_LEAST: Mapping[str, int] = {
    "num_cpus": 1,
    "num_gpus": 0,
    "bundle_size": 1,
    "parallel": 1,
    "large_dataset_n_features": 0,
    "large_dataset_n_samples": 0,
}
_POSITIVE = ("time_limit", "memory_limit", "fake_memory_for_estimates")
_MAY_BE_NONE = ("num_cpus", "num_gpus", *_POSITIVE)
_MODEL = 'a registered name, or (name, "all" or a number of random configs)'


def value_problems(values: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Fields of a resources or scheduler set-up whose values cannot be meant."""
    for name, value in values.items():
        if value is None and name in _MAY_BE_NONE:
            continue
        if name in _AT_LEAST and not _is_whole(value, _AT_LEAST[name]):
            yield Problem("usage", f"{where}: {name}", repr(value), f"a whole number of at least {_AT_LEAST[name]}")
        elif name in _POSITIVE and not _is_positive(value):
            yield Problem("usage", f"{where}: {name}", repr(value), "a number above 0")
        elif name == "time_limit_with_preprocessing" and not isinstance(value, bool):
            yield Problem("usage", f"{where}: {name}", repr(value), "True or False")
        elif name == "bundle_size_per_dataset":
            yield from _size_problems(value, f"{where}: {name}")


def model_problems(job: ModelJob, where: str) -> Iterator[Problem]:
    """Models of a job that are none."""
    if not job.choices:
        yield Problem("no-models", f"{where}.models", "none", _MODEL)
    for choice in job.choices:
        if not is_choice(choice) or (isinstance(choice[1], int) and choice[1] < 0):
            yield Problem("usage", f"{where}.models", repr(choice), _MODEL)


def _size_problems(sizes: object, where: str) -> Iterator[Problem]:
    if not isinstance(sizes, Mapping):
        yield Problem("usage", where, repr(sizes), "a mapping of datasets to bundle sizes")
        return
    for dataset, size in sizes.items():
        if not _is_whole(size, 1):
            yield Problem("usage", f"{where}[{dataset!r}]", repr(size), "a whole number of at least 1")


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
