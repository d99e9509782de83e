"""Load result files: one, a stream of them, or all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem
from benchwright.raw.alignment import align, unwrap
from benchwright.raw.finding import RawFile
from benchwright.raw.integrity import RERUN
from benchwright.raw.opcodes import BadStream
from benchwright.raw.reading import read_file, unpacked
from benchwright.raw.result import Result
from benchwright.raw.safe_pickle import loads

_DISTRUST = "do not load it with anything else; ask whoever made it, and run this item again"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A result, and what it was read from: the file's bytes and the mapping in it, with stand-ins for objects."""

    result: Result
    source: Mapping[Any, Any]
    content: bytes


def load_result(path: Path | str) -> Result:
    """One aligned result, loaded without running or importing anything that the file names.

    Raises:
        Failure: with every problem of the file (exit 1). Nothing else is raised, whatever the file holds.
    """
    return load_file(path).result


def load_file(path: Path | str, version: tuple[int, int] | None = None) -> LoadedFile:
    """One aligned result beside what the file holds, for who copies results.

    ``version`` is `RawFile.version` of the file that is meant.

    Raises:
        Failure: as `load_result`; or it is not that file any more (code ``input-changed``).
    """
    path = Path(path)
    try:
        content = read_file(path, version)
        loaded = loads(unpacked(content))
    except BadStream as error:
        fix = _DISTRUST if error.code == "dangerous-pickle" else RERUN
        raise Failure(Problem(error.code, str(path), error.found, error.expected, fix)) from None
    return LoadedFile(align(loaded, path), unwrap(loaded) or {}, content)


def iter_results(files: Iterable[RawFile | Path | str], on_problem: Callable[[Problem], None]) -> Iterator[Result]:
    """The results in ``files``, one at a time and in their order; what is wrong goes to ``on_problem``.

    Memory stays flat: nothing is kept of a result but its coordinates. Of two files for one result (framework,
    dataset, split) the first counts and the second is a problem (``duplicate-result``).
    """
    seen: dict[tuple[str, str, int], RawFile | Path | str] = {}
    for file in files:
        try:
            result = load_result(_path(file))
        except Failure as failure:
            for problem in failure.problems:
                on_problem(problem)
            continue
        first = seen.setdefault((result.framework, result.dataset, result.split), file)
        if first is not file:
            on_problem(
                Problem(
                    "duplicate-result",
                    str(result.path),
                    f"{result.framework} on {result.dataset}, split {result.split}, is also in {_path(first)}",
                    "one file a result",
                    "move the file that does not belong to this run out of its tree",
                )
            )
            continue
        yield result


def load_results(
    files: Iterable[RawFile | Path | str], on_problem: Callable[[Problem], None] | None = None
) -> tuple[list[Result], list[Problem]]:
    """All results in ``files`` with their arrays, and all problems (which go to ``on_problem`` at once as well)."""
    problems: list[Problem] = []

    def note(problem: Problem) -> None:
        problems.append(problem)
        if on_problem is not None:
            on_problem(problem)

    return list(iter_results(files, note)), problems


def _path(file: RawFile | Path | str) -> Path:
    return file.path if isinstance(file, RawFile) else Path(file)
