"""The files of a pull request: which results go into which, under names that nothing else has."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from benchwright.contract import Failure, Problem
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.entries import Entry
from benchwright.hub.model_repo import RESULTS_FOLDER
from benchwright.hub.spec import Result


def entry_of(result: Result, benchmark: Benchmark) -> Entry:
    """A result as an entry, in the source's digits and the board's unit, under the benchmark's present id."""
    return Entry(
        benchmark.dataset,
        result.task_id,
        result.value,
        result.board_text,
        result.date,
        result.source.url,
        result.source.name,
        result.notes,
    )


def paths_for(
    results: Sequence[tuple[Result, Benchmark]], taken: Collection[str], kept: Mapping[tuple[str, str], str]
) -> tuple[str, ...]:
    """The path of each result's file, none of them in ``taken``, whatever its case.

    It has the name that the spec gives; else the one that (dataset, task) has in ``kept``; else the dataset's own, or
    that with its owner or a number.

    Raises:
        Failure: a name in the spec is taken (code ``filename-taken``).
    """
    used = {path.lower(): "" for path in taken}
    named = {dataset: path for (dataset, _), path in kept.items()}
    paths, problems = [], []
    for result, benchmark in results:
        if result.filename is not None:
            path = f"{RESULTS_FOLDER}/{result.filename}"
            if used.get(path.lower()) == "":
                fix = "give it another filename, or none"
                problems.append(Problem("filename-taken", result.place, f"{path} is there already", "a new file", fix))
        elif (path := kept.get((benchmark.dataset, result.task_id)) or named.get(benchmark.dataset, "")) == "":
            path = next(one for one in _names(benchmark.dataset) if one.lower() not in used)
            named[benchmark.dataset] = path
        used.setdefault(path.lower(), benchmark.dataset)
        paths.append(path)
    if problems:
        raise Failure(problems)
    return tuple(paths)


def grouped(paths: Sequence[str], entries: Sequence[Entry]) -> Mapping[str, tuple[Entry, ...]]:
    """The entries of each file, in their order."""
    files: dict[str, list[Entry]] = {}
    for path, entry in zip(paths, entries, strict=True):
        files.setdefault(path, []).append(entry)
    return {path: tuple(held) for path, held in files.items()}


def _names(dataset: str) -> Iterator[str]:
    owner, _, name = dataset.lower().partition("/")
    yield f"{RESULTS_FOLDER}/{name}.yaml"
    yield f"{RESULTS_FOLDER}/{owner}-{name}.yaml"
    for number in itertools.count(2):
        yield f"{RESULTS_FOLDER}/{name}-{number}.yaml"
