"""The scope of a run: which splits of an arena it covers, as data that a plan can store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from benchwright.arena.split import ProblemType, Split
from benchwright.arena.subsets import Expression, matching, unknown_trait, views
from benchwright.contract import Exit, Failure, Problem, did_you_mean

_SPLIT_INDEX = re.compile(r"r([0-9]+)f([0-9]+)")
_PROBLEM_TYPES: tuple[str, ...] = get_args(ProblemType)
_DTYPE_TRAITS: Mapping[str, str] = {
    "binary": "has_binary",
    "categorical": "has_categorical",
    "datetime": "has_datetime",
    "high_cardinality_categorical": "has_high_cardinality",
    "numerical": "has_numerical",
    "numeric": "has_numerical",
    "text": "has_text",
}
_LISTS = ("problem_types", "dataset_names", "task_ids", "required_dtypes", "forbidden_dtypes")


@dataclass(frozen=True, slots=True)
class TaskSubset:
    """Filters that all have to hold; None is no filter. Fields and meaning are those of ``tabarena``'s class.

    ``subset`` is an expression (see ``subsets``), ``split_indices`` texts like ``r0f2`` or the word ``lite`` (the
    first split), ``dataset_names`` and ``task_ids`` what must be there, ``*_dtypes`` kinds of columns that a dataset
    must all have or not have at all, and ``n_train_samples`` the bounds of a split's training rows: above the first,
    up to the second, None for open.

    Raises:
        Failure: a value has the wrong type or is outside its vocabulary (exit 2), one problem for each.
    """

    subset: Expression | None = None
    problem_types: Sequence[str] | None = None
    split_indices: Sequence[str] | str | None = None
    dataset_names: Sequence[str] | None = None
    task_ids: Sequence[str | int] | None = None
    required_dtypes: Sequence[str] | None = None
    forbidden_dtypes: Sequence[str] | None = None
    n_train_samples: tuple[float | None, float | None] | None = None

    def __post_init__(self) -> None:
        problems = [*self._type_problems(), *self._value_problems()]
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        for entry in fields(self):
            object.__setattr__(self, entry.name, _frozen(getattr(self, entry.name)))

    @classmethod
    def of(cls, value: TaskSubset | Expression | Mapping[str, Any] | None) -> TaskSubset:
        """The scope that a scope, an expression, a stored mapping or None (everything) stands for.

        Raises:
            Failure: a key of the mapping is not a filter, or a value is wrong (exit 2).
        """
        if isinstance(value, TaskSubset):
            return value
        if not isinstance(value, Mapping):
            return cls(subset=value)
        known = [entry.name for entry in fields(cls)]
        problems = [
            Problem("task-subset", f"task subset: {key}", "not a filter", "", did_you_mean(str(key), known))
            for key in value
            if key not in known
        ]
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        return cls(**value)

    def merged_with(self, other: TaskSubset) -> TaskSubset:
        """This scope with the filters that ``other`` sets in place of its own."""
        return replace(self, **other.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The filters that are set, as plain lists, so that ``TaskSubset.of`` reads them back from JSON."""
        return {
            entry.name: _plain(getattr(self, entry.name))
            for entry in fields(self)
            if getattr(self, entry.name) is not None
        }

    def narrow(self, splits: Sequence[Split], vocabulary: str) -> tuple[Split, ...]:
        """The splits within the scope, in their order; ``vocabulary`` names the arena's subsets.

        The filters apply in the order problem types, splits, datasets, task ids, column kinds, rows, subset, so that a
        dataset's size in the subset is that of the splits left.

        Raises:
            Failure: a dataset or task is not among the splits left by the filters before it, a dataset does not record
                what a filter reads, or as for ``matching`` (exit 2).
        """
        left = list(splits)
        if self.problem_types is not None:
            left = [split for split in left if split.problem_type in self.problem_types]
        if self.split_indices is not None:
            wanted = _coordinates(self.split_indices)
            left = [split for split in left if (split.repeat, split.fold) in wanted]
        if self.dataset_names is not None:
            left = _named(left, "dataset_names", [str(name) for name in self.dataset_names], _names_of)
        if self.task_ids is not None:
            left = _named(left, "task_ids", [str(task) for task in self.task_ids], _ids_of)
        for dtype in self.required_dtypes or ():
            left = [split for split, has in _with_dtype(left, "required_dtypes", dtype) if has]
        for dtype in self.forbidden_dtypes or ():
            left = [split for split, has in _with_dtype(left, "forbidden_dtypes", dtype) if not has]
        if self.n_train_samples is not None:
            lower, upper = self.n_train_samples
            left = [
                split
                for split in left
                if (0 if lower is None else lower) < split.train_rows <= (float("inf") if upper is None else upper)
            ]
        return tuple(left) if self.subset is None else matching(left, self.subset, vocabulary)

    def _type_problems(self) -> Iterator[Problem]:
        if self.subset is not None:
            try:
                views(self.subset)
            except Failure as failure:
                yield from failure.problems
        for name in _LISTS:
            value = getattr(self, name)
            allowed, expected = (str | int, "texts or numbers") if name == "task_ids" else (str, "texts")
            if value is not None and not _is_list_of(value, allowed):
                yield _problem(name, repr(value), f"a list of {expected}")
        if self.split_indices is not None and not (
            self.split_indices == "lite" or _is_list_of(self.split_indices, str)
        ):
            yield _problem("split_indices", repr(self.split_indices), "'lite', or a list like ['r0f0', 'r0f1']")
        bounds = self.n_train_samples
        if bounds is not None and not (_is_list_of(bounds, int | float | None) and len(bounds) == 2):
            yield _problem("n_train_samples", repr(bounds), "two numbers, None for an open end")

    def _value_problems(self) -> Iterator[Problem]:
        vocabularies = {
            "problem_types": _PROBLEM_TYPES,
            "required_dtypes": tuple(_DTYPE_TRAITS),
            "forbidden_dtypes": tuple(_DTYPE_TRAITS),
        }
        for name, known in vocabularies.items():
            value = getattr(self, name)
            for word in value if _is_list_of(value, str) else ():
                if word not in known:
                    yield _problem(name, repr(word), "", did_you_mean(word, known))
        for text in (self.split_indices or ()) if _is_list_of(self.split_indices, str) else ():
            if not _SPLIT_INDEX.fullmatch(text):
                yield _problem("split_indices", repr(text), "a text like 'r0f2': repeat 0, fold 2")


def _problem(name: str, found: str, expected: str, fix: str = "correct it there") -> Problem:
    return Problem("task-subset", f"task subset: {name}", found, expected, fix)


def _is_list_of(value: Any, kind: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(entry, kind) for entry in value)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _coordinates(indices: Sequence[str] | str) -> set[tuple[int, int]]:
    if isinstance(indices, str):
        return {(0, 0)}
    matches = filter(None, map(_SPLIT_INDEX.fullmatch, indices))
    return {(int(match[1]), int(match[2])) for match in matches}


def _names_of(split: Split) -> tuple[str, ...]:
    return (split.dataset,) if split.short_name is None else (split.dataset, split.short_name)


def _ids_of(split: Split) -> tuple[str, ...]:
    return str(split.tid), split.task_key


def _named(
    splits: list[Split], name: str, wanted: Sequence[str], names_of: Callable[[Split], tuple[str, ...]]
) -> list[Split]:
    present = {known for split in splits for known in names_of(split)}
    problems = [
        _problem(
            name,
            f"{missing!r} is not among the {len({split.dataset for split in splits})} datasets here",
            "",
            did_you_mean(missing, present),
        )
        for missing in dict.fromkeys(wanted)
        if missing not in present
    ]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return [split for split in splits if not set(wanted).isdisjoint(names_of(split))]


def _with_dtype(splits: list[Split], name: str, dtype: str) -> list[tuple[Split, bool]]:
    """Each split, and whether its dataset has a column of that kind."""
    trait = _DTYPE_TRAITS[dtype]
    found: list[tuple[Split, bool]] = []
    unknown: dict[str, None] = {}
    for split in splits:
        has = getattr(split.traits, trait)
        if has is None and trait == "has_categorical":
            has = split.categorical_share > 0
        if has is None:
            unknown[split.dataset] = None
        found.append((split, bool(has)))
    if unknown:
        raise Failure(unknown_trait(f"task subset: {name}", trait, list(unknown)), exit=Exit.USAGE)
    return found
