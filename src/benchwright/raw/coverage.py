"""Which splits a method's configs have results on, and which of them each lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.raw.facts import ResultFacts

_MOST_LINES = 8
_MOST_SPLITS = 4
_Split = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The splits (dataset, split index) of each config, by config; ``splits`` are all that any of them has, sorted."""

    of_config: Mapping[str, frozenset[_Split]]
    splits: tuple[_Split, ...]

    @property
    def missing(self) -> dict[str, list[_Split]]:
        """The splits that a config lacks and another one has, for the configs that lack any."""
        lacking = {
            config: [split for split in self.splits if split not in own] for config, own in self.of_config.items()
        }
        return {config: splits for config, splits in lacking.items() if splits}

    @property
    def datasets(self) -> int:
        """How many datasets there are results on."""
        return len({dataset for dataset, _ in self.splits})

    @property
    def folds(self) -> int:
        """How many split indices there are, which result tables call folds."""
        return len({split for _, split in self.splits})

    def lines(self) -> list[str]:
        """What a person needs to hear: each config where they are few or incomplete, at most eight lines."""
        missing = self.missing
        named = list(self.of_config) if len(self.of_config) <= _MOST_LINES else list(missing)
        width = max(map(len, named[:_MOST_LINES]), default=0)
        lines = [
            f"{config.ljust(width)}  {len(self.of_config[config])} of {len(self.splits)}{_without(missing.get(config))}"
            for config in named[:_MOST_LINES]
        ]
        complete = len(self.of_config) - len(missing)
        if len(named) < len(self.of_config):
            lines.insert(0, f"{complete} {'config' if complete == 1 else 'configs'} on all {len(self.splits)} splits")
        if len(named) > _MOST_LINES:
            lines.append(f"and {len(named) - _MOST_LINES} more that lack splits")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Result counts by config, and the splits that each lacks as ``dataset/split``."""
        return {
            "configs": {config: len(own) for config, own in self.of_config.items()},
            "missing": {
                config: [f"{dataset}/{split}" for dataset, split in splits] for config, splits in self.missing.items()
            },
        }


def coverage(results: Iterable[ResultFacts]) -> Coverage:
    """The coverage of one method's results. What no config has is not missed here: only an arena knows of it."""
    of_config: dict[str, set[_Split]] = defaultdict(set)
    for result in results:
        of_config[result.framework].add((result.dataset, result.split))
    every = sorted(set().union(*of_config.values()))
    return Coverage({config: frozenset(of_config[config]) for config in sorted(of_config)}, tuple(every))


def _without(splits: list[_Split] | None) -> str:
    if not splits:
        return ""
    shown = ", ".join(f"{dataset} split {split}" for dataset, split in splits[:_MOST_SPLITS])
    more = f" and {len(splits) - _MOST_SPLITS} more" if len(splits) > _MOST_SPLITS else ""
    return f", without {shown}{more}"
