"""The benchmarks that evaluations are run on: shipped as data, and added to by a file of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.harbor.job import Job
from benchwright.harbor.taxonomy import FIX, read_yaml

SHIPPED = Path(__file__).with_name("benchmarks.yaml")
REPEATS = 3
_HASH = re.compile(r"[0-9a-f]{32,64}", re.IGNORECASE)
"""A snapshot of a dataset, whose name says nothing of the benchmark."""
_NEWEST = re.compile(r"@(head|latest)?$")
"""What a name without a version means, too: the one of the day."""
_NO_DATASET = "adhoc"
"""What Harbor's keys have in place of a dataset, for tasks that were listed one by one."""
_FIELDS = {
    "tasks": "a whole number above 0",
    "repeats": "a whole number above 0",
    "aliases": "a list of names",
    "id": "text, in quotes",
    "datasets": "a list of names",
}


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark by the name that the evaluation database has; ``id`` is how its id there begins.

    It has ``tasks`` tasks, each tried ``repeats`` times. ``datasets`` are the repositories that hold them.
    """

    name: str
    tasks: int
    repeats: int = REPEATS
    aliases: tuple[str, ...] = ()
    id: str | None = None
    datasets: tuple[str, ...] = ()


class Benchmarks:
    """The known benchmarks."""

    def __init__(self, known: Iterable[Benchmark]) -> None:
        self.known = tuple(known)
        self._by_name = {
            _folded(name): benchmark
            for benchmark in self.known
            for name in (*benchmark.aliases, *benchmark.datasets, benchmark.name)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The benchmarks' names, as the evaluation database has them."""
        return tuple(benchmark.name for benchmark in self.known)

    @classmethod
    def load(cls, own: Path | None = None) -> Benchmarks:
        """The shipped benchmarks, and those of a file of the same form, which win.

        Raises:
            Failure: the file cannot be read or is not of that form; every problem of it (exit 2).
        """
        return cls({**_read(SHIPPED), **(_read(own) if own else {})}.values())

    def resolve(self, name: str) -> Benchmark | None:
        """The benchmark that a name, an alias, a dataset's repository or a path to it means; None for none.

        Letters' case, and ``-`` or ``_``, make no difference. ``@version`` does: a name with another version than is
        listed is none of these. The folders of a Hub cache (``datasets--ORG--NAME/snapshots/HASH``) count as their
        repository.
        """
        called = dataset_name(name)
        if called is None:
            return None
        return self._by_name.get(_folded(called)) or self._by_name.get(_folded(called.rpartition("/")[2]))

    def in_run_tag(self, tag: str) -> Benchmark | None:
        """The benchmark whose name stands as words of its own in a run's tag; None where none or several do.

        The longest name wins over those that it contains, aliases of fewer than six letters are no evidence.
        """
        folded = f"_{_folded(tag)}_"
        named = [name for name in self._by_name if len(name) >= 6 and f"_{name}_" in folded]
        longest = [name for name in named if not any(name != other and name in other for other in named)]
        found = {self._by_name[name].name: self._by_name[name] for name in longest}
        return next(iter(found.values())) if len(found) == 1 else None


def dataset_name(place: str) -> str | None:
    """What a dataset is called, by its name or the path to it; None where that is a hash and no folder of a Hub cache.

    A version stays with the name, unless it is whichever is the newest.
    """
    parts = Path(place).parts
    for part in reversed(parts):
        if _HASH.fullmatch(part) or part == "snapshots":
            continue
        if part.startswith("datasets--"):
            return part.removeprefix("datasets--").replace("--", "/")
        repository = len(parts) == 2 and not place.startswith("/")
        return _NEWEST.sub("", place if repository else part) if part == parts[-1] else None
    return None


def dataset_of(job: Job, key: str) -> str:
    """The dataset of one of Harbor's keys, which leave the version out: as the configuration has it, if it does."""
    configured = {one for one in job.config.datasets if key.endswith(f"__{one.partition('@')[0]}")}
    return configured.pop() if len(configured) == 1 else key.rpartition("__")[2]


def benchmark_of(job: Job, benchmarks: Benchmarks) -> Benchmark | None:
    """The benchmark of a job: by its datasets, else by ``meta.env``, else by its run tag; None where they do not tell.

    Further ones are asked only where a source says nothing. A dataset by a name that nobody knows is of a benchmark
    that nobody knows, whatever a run is called; and two benchmarks are none.
    """
    datasets = {*job.config.datasets, *(dataset_of(job, key) for key in job.evals)} - {_NO_DATASET}
    found = [benchmarks.resolve(one) for one in datasets if dataset_name(one) is not None]
    if not found:
        meta = [job.meta.get(name, "") for name in ("BENCHMARK_NAME", "REPO_ID")]
        said = [benchmarks.resolve(one) for one in meta if dataset_name(one) is not None]
        found = [*said[:1], *filter(None, said[1:])]  # the name of a repository may be nobody's for a benchmark
    if not found:
        return benchmarks.in_run_tag(job.name)
    return found[0] if len({one and one.name for one in found}) == 1 else None


def _folded(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name.casefold())


def _read(file: Path) -> dict[str, Benchmark]:
    content = read_yaml(file, "a file of benchmarks of the form that benchmarks.yaml has")
    problems = [problem for name, facts in content.items() for problem in _problems(f"{file}: {name}", name, facts)]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return {name: _benchmark(name, facts) for name, facts in content.items()}


def _benchmark(name: str, facts: Mapping[str, Any]) -> Benchmark:
    fields: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in facts.items()
    }
    return Benchmark(name, **fields)


def _problems(where: str, name: Any, facts: Any) -> Iterator[Problem]:
    if not isinstance(name, str):
        yield Problem(
            "usage", where, f"a name that YAML reads as {type(name).__name__}", "text, in quotes", "put it in quotes"
        )
    if not isinstance(facts, Mapping) or "tasks" not in facts:
        yield Problem("usage", where, repr(facts)[:80], "a mapping such as {tasks: 100}", FIX)
        return
    for field, value in facts.items():
        if field not in _FIELDS:
            yield Problem("usage", f"{where}: {field}", "no such field", f"one of {', '.join(_FIELDS)}", FIX)
        elif not _fits(field, value):
            yield Problem("usage", f"{where}: {field}", repr(value)[:80], _FIELDS[field], FIX)


def _fits(field: str, value: object) -> bool:
    if field in ("tasks", "repeats"):
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if field == "id":
        return isinstance(value, str)
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
