"""One method of a tree, inspected: what its results imply, how that compares, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Problem, some
from benchwright.files.run_paths import RESULT_NAME
from benchwright.raw.comparison import ComparedField, compare, disputed, unofficial
from benchwright.raw.consistency import inconsistencies
from benchwright.raw.finding import EmptyFolder, RawFile
from benchwright.raw.inference import Inferred, infer
from benchwright.raw.losses import empty_tasks, lost_tasks
from benchwright.raw.methods import RawMethod
from benchwright.raw.protocols import Protocols
from benchwright.raw.snippet import snippet

_DANGEROUS = "dangerous-pickle"
_MOST_SPLITS = 8


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known of a method's results.

    ``inferred`` is None where no result can be used. ``compared`` is empty where nothing was declared to compare with.
    ``unusable`` are the problems of files that give no result, and of datasets that have no other; ``inconsistent``
    those of results that cannot all be right, ``unofficial`` that the results do not have the expected protocol, or
    record another than they show, ``incomplete`` that there are splits without a result, ``doubtful`` what fails no
    result. ``declared_as`` is the reference of what it was compared with. ``empty`` are the datasets of which there are
    folders without any file, with what to say of each; ``begun`` names the splits that have a folder and no file in
    others.
    """

    method: RawMethod
    inferred: Inferred | None
    compared: tuple[ComparedField, ...]
    unusable: tuple[Problem, ...]
    inconsistent: tuple[Problem, ...]
    unofficial: tuple[Problem, ...]
    incomplete: Problem | None
    doubtful: tuple[Problem, ...]
    declared_as: str = ""
    empty: Mapping[str, str] = field(default_factory=dict)
    begun: Problem | None = None

    @property
    def refused(self) -> bool:
        """Whether the method must not be processed. Results that are merely lost are left to its findings."""
        return (
            self.inferred is None
            or bool(self.inconsistent)
            or bool(self.unofficial)
            or any(row.fails for row in self.compared)
            or any(problem.code == _DANGEROUS for problem in self.unusable)
        )

    @property
    def against(self) -> tuple[Problem, ...]:
        """What keeps the method from being processed whatever is declared, and what is lost of it."""
        return (*self.unofficial, *self.inconsistent, *self.unusable)

    @property
    def remarks(self) -> tuple[Problem, ...]:
        """What is to be said of it beside that."""
        return (*(each for each in (self.incomplete, self.begun) if each is not None), *self.doubtful)

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
    empty: Sequence[EmptyFolder] = (),
    accept: Collection[str] = (),
    accept_all: bool = False,
    protocol_declarable: bool = True,
    compute_declared: bool = True,
    expected: str | None = None,
) -> Inspection:
    """Inspect a method's results; with ``metadata``, against it (see ``compare``), which is ``declared_as``.

    ``tree`` are all files that it lies among, ``empty`` its folders without any. ``expected`` names the arena whose
    official protocol they must have.
    """
    unusable = tuple(problem for each in method.unusable for problem in each.problems)
    if not method.results:
        return Inspection(method, None, (), unusable, (), (), None, (), declared_as)
    lost = empty_tasks(empty, {file.task_key for file in method.files})
    unusable += tuple(_lost_datasets(method, lost))
    inferred = infer(method, tree)
    against, doubtful = _of_protocols(inferred.protocols, expected, method.name)
    rows: Sequence[ComparedField] = ()
    if metadata is not None:
        rows = compare(
            inferred,
            metadata,
            accept=accept,
            accept_all=accept_all,
            protocol_declarable=protocol_declarable,
            compute_declared=compute_declared,
        )
    return Inspection(
        method=method,
        inferred=inferred,
        compared=tuple(rows),
        unusable=unusable,
        inconsistent=tuple(inconsistencies(method.results)),
        unofficial=against,
        incomplete=inferred.coverage.problem(method.name),
        doubtful=(*doubtful, *_doubtful(method)),
        declared_as=declared_as,
        empty=lost,
        begun=_begun(method.name, [each for each in empty if each.split and each.task_key not in lost]),
    )


def _of_protocols(
    protocols: Protocols, expected: str | None, where: str
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """What the protocols fail for, where those of an arena are ``expected``, and what is doubtful of them otherwise."""
    disputes = tuple(disputed(protocols, where))
    return ((), disputes) if expected is None else ((*unofficial(protocols, expected, where), *disputes), ())


def _doubtful(method: RawMethod) -> Iterator[Problem]:
    for result in method.results:
        for warning in result.warnings:
            fix = "look at this result, and run its item again if it is wrong"
            yield Problem("doubtful-result", result.file.place, warning, fix=fix)


def _lost_datasets(method: RawMethod, empty: Mapping[str, str]) -> Iterator[Problem]:
    """Datasets of which the method has files or folders and no result: its coverage does not know of them."""
    lost = lost_tasks(method.files, {result.file.task_key for result in method.results})
    for task, found in sorted({**lost, **empty}.items()):
        yield lost_dataset(method.name, task, found)


def lost_dataset(method: str, task: str, found: str) -> Problem:
    """A dataset without any result of a method."""
    return Problem("dataset-lost", f"{method}: {task}", found, "at least one", "run its items again")


def _begun(method: str, splits: Sequence[EmptyFolder]) -> Problem | None:
    """The splits whose folders were made and hold no result, while the dataset has others."""
    if not splits:
        return None
    what = "1 folder of a split" if len(splits) == 1 else f"{len(splits):,} folders of splits"
    found = f"{what} without {RESULT_NAME}: {some((each.place for each in splits), _MOST_SPLITS)}"
    return Problem("split-empty", method, found, "a result in each", "run their items again")
