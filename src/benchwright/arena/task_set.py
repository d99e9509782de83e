"""An arena's splits as one value that can be narrowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.arena.split import Split
from benchwright.arena.subsets import VOCABULARIES, Expression
from benchwright.arena.task_subset import TaskSubset
from benchwright.contract import Failure, Problem, did_you_mean, usage_error


@dataclass(frozen=True, slots=True, init=False)
class TaskSet:
    """Splits in order, without repetition, and the vocabulary in which their subsets are named.

    Raises:
        Failure: two splits have the same dataset, repeat and fold, or the vocabulary is not known.
    """

    splits: tuple[Split, ...]
    vocabulary: str = "tabarena"

    def __init__(self, splits: Iterable[Split], vocabulary: str = "tabarena") -> None:
        object.__setattr__(self, "splits", tuple(splits))
        object.__setattr__(self, "vocabulary", vocabulary)
        if vocabulary not in VOCABULARIES:
            fix = did_you_mean(vocabulary, VOCABULARIES)
            raise usage_error("vocabulary", repr(vocabulary), " or ".join(map(repr, VOCABULARIES)), fix)
        seen: set[tuple[str, int, int]] = set()
        problems = []
        for split in self.splits:
            if split.coordinates in seen:
                where = f"dataset={split.dataset} repeat={split.repeat} fold={split.fold}"
                fix = "take one of them out"
                problems.append(Problem("repeated-split", where, "appears twice", "each split once", fix))
            seen.add(split.coordinates)
        if problems:
            raise Failure(problems)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets' names in order of appearance."""
        return tuple(dict.fromkeys(split.dataset for split in self.splits))

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.splits)

    def where(self, predicate: Callable[[Split], bool]) -> TaskSet:
        """The splits for which ``predicate`` holds."""
        return TaskSet(filter(predicate, self.splits), self.vocabulary)

    def select(self, scope: TaskSubset | Expression | Mapping[str, Any] | None) -> TaskSet:
        """The splits within a scope: a ``TaskSubset``, an expression, a stored mapping, or None for all.

        Raises:
            Failure: the scope names what is not there, see ``TaskSubset`` and ``subsets`` (exit 2).
        """
        return TaskSet(TaskSubset.of(scope).narrow(self.splits, self.vocabulary), self.vocabulary)


def select_splits(task_set: TaskSet, expression: Expression) -> TaskSet:
    """The splits of ``task_set`` that a subset expression selects; raises like ``TaskSet.select``."""
    return task_set.select(expression)
