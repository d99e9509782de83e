"""The benchmarks that evaluations are run on: shipped as data, and added to by a file of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.harbor.job import Job
from benchwright.harbor.taxonomy import read_yaml

SHIPPED = Path(__file__).with_name("benchmarks.yaml")
REPEATS = 3
_HASH = re.compile(r"[0-9a-f]{32,64}")
"""A snapshot of a dataset, whose name says nothing of the benchmark."""
_FIELDS = {
    "tasks": "a whole number above 0",
    "repeats": "a whole number above 0",
    "aliases": "a list of names",
    "id": "text, in quotes",
    "datasets": "a list of names",
}

_FIX = "correct it in the file"


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

        Letters' case, ``-`` or ``_``, and ``@version`` make no difference. The folders of a Hub cache
        (``datasets--ORG--NAME/snapshots/HASH``) count as their repository.
        """
        for part in reversed(Path(name.partition("@")[0]).parts or ("",)):
            if _HASH.fullmatch(part) or part == "snapshots":
                continue
            words = part.removeprefix("datasets--").split("--")
            return self._by_name.get(_folded("/".join(words))) or self._by_name.get(_folded(words[-1]))
        return None

    def in_run_tag(self, tag: str) -> Benchmark | None:
        """The benchmark whose name stands as words of its own in a run's tag; None where none or several do.

        The longest name wins over those that it contains, aliases of fewer than six letters are no evidence.
        """
        folded = f"_{_folded(tag)}_"
        named = [name for name in self._by_name if len(name) >= 6 and f"_{name}_" in folded]
        longest = [name for name in named if not any(name != other and name in other for other in named)]
        found = {self._by_name[name].name: self._by_name[name] for name in longest}
        return next(iter(found.values())) if len(found) == 1 else None


def benchmark_of(job: Job, benchmarks: Benchmarks) -> Benchmark | None:
    """The benchmark of a job: by its datasets, else by ``meta.env``, else by its run tag; None where they do not tell.

    Where a source names two benchmarks, it does not tell, and no further one is asked.
    """
    trials = {key.rpartition("__")[2] for key in job.evals}
    meta = [job.meta.get(name, "") for name in ("BENCHMARK_NAME", "REPO_ID")]
    for names in (job.config.datasets, trials, meta):
        found = {one.name: one for name in names if name and (one := benchmarks.resolve(name))}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return benchmarks.in_run_tag(job.name)


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
        yield Problem("usage", where, repr(facts)[:80], "a mapping such as {tasks: 100}", _FIX)
        return
    for field, value in facts.items():
        if field not in _FIELDS:
            yield Problem("usage", f"{where}: {field}", "no such field", f"one of {', '.join(_FIELDS)}", _FIX)
        elif not _fits(field, value):
            yield Problem("usage", f"{where}: {field}", repr(value)[:80], _FIELDS[field], _FIX)


def _fits(field: str, value: object) -> bool:
    if field in ("tasks", "repeats"):
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if field == "id":
        return isinstance(value, str)
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
