"""One method of a tree, inspected: what its results imply, how that compares, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Problem
from benchwright.raw.comparison import ComparedField, compare, unofficial
from benchwright.raw.consistency import inconsistencies
from benchwright.raw.finding import RawFile
from benchwright.raw.inference import Inferred, infer
from benchwright.raw.losses import lost_tasks
from benchwright.raw.methods import RawMethod
from benchwright.raw.snippet import snippet

_DANGEROUS = "dangerous-pickle"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known of a method's results.

    ``inferred`` is None where no result can be used. ``compared`` is empty where nothing was declared to compare with.
    ``unusable`` are the problems of files that give no result, and of datasets that have no other; ``inconsistent``
    those of results that cannot all be right, ``unofficial`` that the results do not have the expected protocol,
    ``incomplete`` that there are splits without a result, ``doubtful`` what fails no result. ``declared_as`` is the
    reference of what it was compared with.
    """

    method: RawMethod
    inferred: Inferred | None
    compared: tuple[ComparedField, ...]
    unusable: tuple[Problem, ...]
    inconsistent: tuple[Problem, ...]
    unofficial: Problem | None
    incomplete: Problem | None
    doubtful: tuple[Problem, ...]
    declared_as: str = ""

    @property
    def refused(self) -> bool:
        """Whether the method must not be processed. Results that are merely lost are left to its findings."""
        return (
            self.inferred is None
            or bool(self.inconsistent)
            or self.unofficial is not None
            or any(row.fails for row in self.compared)
            or any(problem.code == _DANGEROUS for problem in self.unusable)
        )

    @property
    def against(self) -> tuple[Problem, ...]:
        """What keeps the method from being processed whatever is declared, and what is lost of it."""
        unofficial = () if self.unofficial is None else (self.unofficial,)
        return (*unofficial, *self.inconsistent, *self.unusable)

    @property
    def remarks(self) -> tuple[Problem, ...]:
        """What is to be said of it beside that."""
        return (*(() if self.incomplete is None else (self.incomplete,)), *self.doubtful)

    @property
    def corrections(self) -> list[str]:
        """The edits of the declaration, as ``FIELD=VALUE``, that would mend what fails."""
        return [row.correction for row in self.compared if row.correction]

    def to_dict(self) -> dict[str, Any]:
        """The inspection as plain values."""
        inferred = self.inferred
        return {
            "method": self.method.name,
            "declared_as": self.declared_as or None,
            "files": len(self.method.results) + len(self.method.unusable),
            "unusable": len(self.method.unusable),
            "inferred": None if inferred is None else inferred.to_dict(),
            "protocols": None if inferred is None else inferred.protocols.to_dict(),
            "coverage": None if inferred is None else inferred.coverage.to_dict(),
            "snippet": None if inferred is None else snippet(inferred),
            "comparison": [row.to_dict() for row in self.compared],
        }


def inspect(
    method: RawMethod,
    metadata: MethodMetadata | None = None,
    *,
    declared_as: str = "",
    tree: Sequence[RawFile] | None = None,
    accept: Collection[str] = (),
    accept_all: bool = False,
    protocol_declarable: bool = True,
    expected: str | None = None,
) -> Inspection:
    """Inspect a method's results; with ``metadata``, against it (see ``compare``), which is ``declared_as``.

    ``tree`` are all files that it lies among. ``expected`` names the arena whose official protocol they must have.
    """
    unusable = tuple(problem for each in method.unusable for problem in each.problems)
    if not method.results:
        return Inspection(method, None, (), unusable, (), None, None, (), declared_as)
    unusable += tuple(_lost_datasets(method))
    inferred = infer(method, tree)
    rows: Sequence[ComparedField] = ()
    if metadata is not None:
        options = {"accept_all": accept_all, "protocol_declarable": protocol_declarable}
        rows = compare(inferred, metadata, accept=accept, **options)
    return Inspection(
        method=method,
        inferred=inferred,
        compared=tuple(rows),
        unusable=unusable,
        inconsistent=tuple(inconsistencies(method.results)),
        unofficial=None if expected is None else unofficial(inferred.protocols, expected, method.name),
        incomplete=inferred.coverage.problem(method.name),
        doubtful=tuple(
            Problem("doubtful-result", result.file.place, warning)
            for result in method.results
            for warning in result.warnings
        ),
        declared_as=declared_as,
    )


def _lost_datasets(method: RawMethod) -> Iterator[Problem]:
    """Datasets of which the method has files and no result: its coverage does not know of them."""
    for task, found in lost_tasks(method.files, {result.file.task_key for result in method.results}).items():
        yield Problem("dataset-lost", f"{method.name}: {task}", found, "at least one", "run its items again")
