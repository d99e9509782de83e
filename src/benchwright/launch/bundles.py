"""Bundles: the items of one array task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchwright.arena import Item, Split
from benchwright.launch.plan import SchedulerSetup

ALONE = 1


@dataclass(frozen=True)
class Bundles:
    """Bundles of one size: they share a job file, since one array has one time limit."""

    size: int
    bundles: tuple[tuple[Item, ...], ...]


def make_bundles(items: Sequence[Item], setup: SchedulerSetup, splits: Iterable[Split]) -> list[Bundles]:
    """Cut ``items`` into bundles, in order, the smallest size first.

    A dataset's size is the one that ``bundle_size_per_dataset`` gives it, else 1 when it is large, else
    ``bundle_size``. Items of one size are cut into consecutive chunks, across datasets.
    """
    large = large_datasets(setup, splits)
    by_size: dict[int, list[Item]] = {}
    for item in items:
        size = _size(item.dataset, setup.bundle_size_per_dataset, ALONE if item.dataset in large else setup.bundle_size)
        by_size.setdefault(size, []).append(item)
    return [
        Bundles(size, tuple(tuple(chosen[start : start + size]) for start in range(0, len(chosen), size)))
        for size, chosen in sorted(by_size.items())
    ]


def large_datasets(setup: SchedulerSetup, splits: Iterable[Split]) -> set[str]:
    """The datasets above either limit: columns, or rows of training and test together."""
    return {
        split.dataset
        for split in splits
        if split.n_features > setup.large_dataset_n_features
        or split.train_rows + split.test_rows > setup.large_dataset_n_samples
    }


def _size(dataset: str, explicit: Mapping[str, int], otherwise: int) -> int:
    return explicit.get(dataset, otherwise)
