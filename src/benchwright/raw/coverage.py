"""Which splits a method's configs have results on, and which of them each lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchwright.contract import Problem, counted, some
from benchwright.raw.facts import ResultFacts
from benchwright.raw.finding import RawFile

_MOST_LINES = 8
_MOST_SPLITS = 4
_MOST_SPAN = 100


class Split(NamedTuple):
    """One split of a dataset."""

    dataset: str
    repeat: int
    fold: int

    def __str__(self) -> str:
        return f"{self.dataset} {self.repeat}_{self.fold}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The splits of each config, by config; ``grid`` are all that there should be, sorted."""

    of_config: Mapping[str, frozenset[Split]]
    grid: tuple[Split, ...]

    @property
    def splits(self) -> tuple[Split, ...]:
        """The splits that any config has, sorted."""
        return tuple(sorted(frozenset().union(*self.of_config.values())))

    @property
    def lost(self) -> list[Split]:
        """The splits that no config has."""
        there = set(self.splits)
        return [split for split in self.grid if split not in there]

    @property
    def missing(self) -> dict[str, list[Split]]:
        """The splits that a config lacks, for the configs that lack any."""
        lacking = {config: [split for split in self.grid if split not in own] for config, own in self.of_config.items()}
        return {config: splits for config, splits in lacking.items() if splits}

    @property
    def datasets(self) -> int:
        """How many datasets there are results on."""
        return len({split.dataset for split in self.splits})

    @property
    def folds(self) -> int:
        """How many pairs of repeat and fold there are, which result tables call folds."""
        return len({split[1:] for split in self.splits})

    @property
    def extent(self) -> str:
        """How much of the grid is covered by any config, and the first splits that are not."""
        lost = self.lost
        there = f"{len(self.grid) - len(lost)} of {len(self.grid)} splits (dataset x fold)"
        gaps = f"; missing: {some(map(str, lost), _MOST_SPLITS)}" if lost else ""
        return f"{counted(self.datasets, 'dataset')}, {there}{gaps}"

    def problem(self, method: str) -> Problem | None:
        """What is to be said of a method whose results leave holes in the grid; it fails nothing."""
        if not self.lost:
            return None
        fix = "set the run up and run it again: that fits what is missing; a leaderboard imputes what stays missing"
        return Problem("splits-missing", method, self.extent, "results on every split", fix)

    def lines(self) -> list[str]:
        """What a person needs to hear: each config where they are few or incomplete, at most eight lines."""
        missing = self.missing
        named = list(self.of_config) if len(self.of_config) <= _MOST_LINES else list(missing)
        width = max(map(len, named[:_MOST_LINES]), default=0)
        lines = [
            f"{config.ljust(width)}  {len(self.of_config[config])} of {len(self.grid)}{_without(missing.get(config))}"
            for config in named[:_MOST_LINES]
        ]
        complete = len(self.of_config) - len(missing)
        if len(named) < len(self.of_config):
            lines.insert(0, f"{counted(complete, 'config')} on all {len(self.grid)} splits")
        if len(named) > _MOST_LINES:
            lines.append(f"and {len(named) - _MOST_LINES} more that lack splits")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The sizes of the grid, result counts by config, and what each lacks as ``dataset repeat_fold``."""
        return {
            "splits": len(self.grid),
            "lost": [str(split) for split in self.lost],
            "configs": {config: len(own) for config, own in self.of_config.items()},
            "missing": {config: [str(split) for split in splits] for config, splits in self.missing.items()},
        }


def coverage(results: Iterable[ResultFacts], files: Iterable[RawFile] = ()) -> Coverage:
    """The coverage of one method's results, in a tree with ``files``, usable or not, of this method and of others.

    A dataset should have results on the product of its repeats and all folds. Its repeats are those that any file of
    its task's folders is of; the folds are those of all these datasets, since an arena repeats small datasets more
    often, and gives all the same folds. A dataset that no result is of is not missed here: only an arena knows of it.
    """
    of_config: dict[str, set[Split]] = defaultdict(set)
    datasets: dict[str, set[str]] = defaultdict(set)
    repeats: dict[str, set[int]] = defaultdict(set)
    folds: set[int] = set()
    for result in results:
        file = result.file
        of_config[result.framework].add(Split(result.dataset, file.repeat, file.fold))
        datasets[file.task_key].add(result.dataset)
        repeats[result.dataset].add(file.repeat)
        folds.add(file.fold)
    for file in files:
        for dataset in datasets.get(file.task_key, ()):
            repeats[dataset].add(file.repeat)
            folds.add(file.fold)
    every = _without_gaps(folds)
    grid = [
        Split(dataset, repeat, fold)
        for dataset, own in sorted(repeats.items())
        for repeat in _without_gaps(own)
        for fold in every
    ]
    return Coverage({config: frozenset(of_config[config]) for config in sorted(of_config)}, tuple(grid))


def _without_gaps(numbers: Collection[int]) -> Sequence[int]:
    """All numbers from the first to the last; those that are there where one is far off, and so no count."""
    first, last = min(numbers), max(numbers)
    return range(first, last + 1) if last - first < _MOST_SPAN else sorted(numbers)


def _without(splits: list[Split] | None) -> str:
    return f", without {some(map(str, splits), _MOST_SPLITS)}" if splits else ""
