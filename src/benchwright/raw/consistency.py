"""Results of one method that cannot be processed together: of two types, two of one split, of other rows or metrics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from benchwright.arena.names import collisions
from benchwright.contract import Problem
from benchwright.raw.facts import ResultFacts

_Value = TypeVar("_Value")


def inconsistencies(results: Sequence[ResultFacts]) -> Iterator[Problem]:
    """What keeps the results of one method from being processed together: a problem for each that stands apart."""
    yield from name_collisions("configs", {result.framework for result in results})
    yield from name_collisions("datasets", {result.dataset for result in results})
    yield from name_collisions("folders of tasks", {result.file.task_key for result in results})
    yield from _types(results)
    yield from _duplicates(results)
    yield from _other_metrics(results)
    yield from _other_rows(results)


def name_collisions(what: str, names: Iterable[str]) -> Iterator[Problem]:
    """Names that are one where case does not count: an artifact unpacked there would lose files."""
    for group in collisions(names):
        found = f"{' and '.join(map(repr, group))}, which are one name on some systems"
        expected = "names that differ by more than case or the form of accents"
        yield Problem("name-collision", what, found, expected, "rename all but one, and run their items again")


def _types(results: Sequence[ResultFacts]) -> Iterator[Problem]:
    """Results with and without predictions under one name; or several configs of what has no configs."""
    kinds = Counter(result.kind for result in results)
    names = sorted({result.framework for result in results})
    if len(kinds) > 1:
        yield Problem(
            "mixed-types",
            results[0].prefix,
            f"{kinds['config']} results with predictions (a config's) and {kinds['baseline']} without (a baseline's)",
            "results of one type",
            "keep the two in folders of their own; outer fits of a model keep no predictions",
        )
    elif "baseline" in kinds and len(names) > 1:
        yield Problem(
            "several-configs",
            results[0].prefix,
            f"{len(names)} configs without predictions ({', '.join(names[:3])}): a baseline or a system takes its "
            f"method's name, so each would overwrite the one before",
            "one config",
            f"process each as a method of its own, from its own folder: {Path(results[0].file.folder).parent}",
        )


def _duplicates(results: Iterable[ResultFacts]) -> Iterator[Problem]:
    first: dict[tuple[str, str, int], ResultFacts] = {}
    for result in results:
        earlier = first.setdefault((result.framework, result.dataset, result.split), result)
        if earlier is not result:
            yield Problem(
                "duplicate-result",
                result.file.place,
                f"{result.framework} on {result.dataset}, split {result.split}, is also in {earlier.file.place}",
                "one file a result",
                "move the file that does not belong to this run out of its tree",
            )


def _other_metrics(results: Sequence[ResultFacts]) -> Iterator[Problem]:
    by_dataset: dict[str, list[ResultFacts]] = defaultdict(list)
    for result in results:
        by_dataset[result.dataset].append(result)
    for dataset, own in by_dataset.items():
        usual = _usual((result.problem_type, result.metric) for result in own)
        for result in own:
            if (result.problem_type, result.metric) != usual:
                yield Problem(
                    "metric-differs",
                    result.file.place,
                    f"{result.metric} ({result.problem_type}) on {dataset}",
                    f"{usual[1]} ({usual[0]}), as most results there",
                    "run this item again",
                )


def _other_rows(results: Sequence[ResultFacts]) -> Iterator[Problem]:
    by_split: dict[tuple[str, int], list[ResultFacts]] = defaultdict(list)
    for result in results:
        if result.labels is not None:
            by_split[result.dataset, result.split].append(result)
    for (dataset, split), own in by_split.items():
        usual = _usual(result.labels for result in own)
        for result in own:
            if result.labels != usual:
                yield Problem(
                    "rows-differ",
                    result.file.place,
                    f"validation or test rows or labels of its own on {dataset}, split {split}",
                    "those of most configs: an ensemble mixes predictions for the same rows",
                    "run this item again with the split's present data",
                )


def _usual(values: Iterable[_Value]) -> _Value:
    return Counter(values).most_common(1)[0][0]
