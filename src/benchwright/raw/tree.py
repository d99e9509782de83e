"""The methods of a tree of results, inspected together: which of them the answer is about, and what there is to say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import prefix_of
from benchwright.contract import Exit, Failures, Outcome, Problem, Progress
from benchwright.raw import inspection_text
from benchwright.raw.finding import EmptyFolder, Found
from benchwright.raw.inspection import Inspection, inspect, lost_dataset
from benchwright.raw.losses import empty_tasks, unaccepted
from benchwright.raw.methods import RawMethod, method_declared, method_named, read_declared, read_methods

Mend = Callable[[str, str], str]
"""The command that brings to a declaration (``MODULE:ATTR``) a correction (``FIELD=VALUE``)."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the declaration at ``reference`` says of a method, and how far it speaks.

    That is whether it could name a validation protocol, and whether it names the device.
    """

    reference: str
    metadata: MethodMetadata
    protocol_declarable: bool = True
    compute_declared: bool = True


@dataclass(frozen=True, slots=True)
class TreeInspection:
    """The methods of a tree.

    ``judged`` are those that were asked for, each compared with its declaration where there is one. ``others`` lie
    beside a declared one, and ``tree`` are the problems of files that belong to no method.
    """

    judged: tuple[Inspection, ...]
    others: tuple[Inspection, ...]
    tree: tuple[Problem, ...]

    @property
    def refused(self) -> bool:
        """Whether something keeps a method from being processed."""
        return any(each.refused for each in self.judged)

    @property
    def corrections(self) -> dict[str, list[str]]:
        """The edits that would mend what fails, as ``FIELD=VALUE``, by the reference of their declaration."""
        return {each.declared_as: each.corrections for each in self.judged if each.corrections}

    def differences(self, mend: Mend) -> list[Problem]:
        """What the comparisons fail for, and after that what they warn of."""
        rows = [
            (each.declared_as, row)
            for each in self.judged
            for row in each.compared
            if row.match != "yes" and row.severity != "context"
        ]
        return [
            row.problem(reference, mend(reference, row.correction)) if row.correction else row.problem(reference)
            for reference, row in sorted(rows, key=lambda found: not found[1].fails)
        ]

    def problems(self, mend: Mend) -> list[Problem]:
        """All that is wrong, what keeps a method from being processed first."""
        problems = [*self.differences(mend), *(problem for each in self.judged for problem in each.against), *self.tree]
        problems += [problem for each in self.others for problem in each.unusable]
        return problems + [problem for each in self.judged for problem in each.remarks]

    def details(self, *, whole: bool = True) -> list[str]:
        """The report on every method, for a person; see `inspection_text.details`."""
        return inspection_text.details(self.judged, self.others, whole=whole)

    def to_dict(self) -> list[dict[str, Any]]:
        """Each method as plain values."""
        return [each.to_dict() for each in (*self.judged, *self.others)]

    def outcome(
        self, mend: Mend, next: Sequence[str] = (), *, accepted: Collection[str] = (), whole: bool = True
    ) -> Outcome:
        """The inspection in a script's form. Lost results fail it too, but for those whose codes are ``accepted``.

        The screen has no room for all of a tree.
        """
        lost = [*self.tree, *(problem for each in self.judged for problem in each.unusable)]
        clean = not self.refused and not unaccepted(lost, accepted)
        details = self.details(whole=whole)
        # A declaration to paste is of use as a whole alone, and the end of a report is never cut.
        alone = len(self.judged) == 1 and not self.others and not self.judged[0].declared_as
        return Outcome(
            summary=inspection_text.summary(self.judged, self.others),
            data={"methods": self.to_dict(), "artifact": None},
            details=() if alone else details,
            problems=self.problems(mend),
            next=next,
            closing=details if alone else (),
            exit=Exit.DONE if clean else Exit.NO,
        )


def inspect_tree(
    found: Found,
    declared: Sequence[Declared] = (),
    *,
    name: str | None = None,
    alone: bool = False,
    accept: Collection[str] = (),
    accept_all: bool = False,
    expected: str | None = None,
    progress: Progress | None = None,
) -> TreeInspection:
    """Inspect the methods of a tree: all, that of a ``name``, or those that are ``declared``.

    The others are inspected beside declared methods, unless a single one is to be read ``alone``. ``progress`` counts
    files; for the rest see `inspect`.

    Raises:
        Failure: there is no method of that name, or none can be told to be a declared one (exit 2, all of them).
    """
    methods: Mapping[str, RawMethod] = {}
    if name:
        methods = read_methods(found.files, only=[name], progress=progress)
        wanted = [method_named(name, methods, found.files)] * max(len(declared), 1)
    elif declared and alone:
        wanted = [read_declared(found.files, each.metadata, progress=progress) for each in declared]
    else:
        methods = read_methods(found.files, progress=progress)
        wanted = _declared_in(methods, declared) if declared else list(methods.values())
    options: dict[str, Any] = {"accept": accept, "accept_all": accept_all, "expected": expected, "tree": found.files}
    empty = _empty_by_method(found, [*methods.values(), *wanted])
    if declared:
        judged = [
            inspect(
                method,
                each.metadata,
                empty=empty.get(method.name, ()),
                declared_as=each.reference,
                protocol_declarable=each.protocol_declarable,
                compute_declared=each.compute_declared,
                **options,
            )
            for method, each in zip(wanted, declared, strict=True)
        ]
    else:
        judged = [inspect(method, empty=empty.get(method.name, ()), **options) for method in wanted]
    others = [inspect(method, tree=found.files) for method in methods.values() if method not in wanted]
    lost = [] if declared or name else list(_nobodys(empty, methods))
    return TreeInspection(tuple(judged), tuple(others), (*found.problems, *lost))


def _empty_by_method(found: Found, methods: Sequence[RawMethod]) -> dict[str, list[EmptyFolder]]:
    """The folders without a result, by the names of the methods whose configs' folders they lie in."""
    owners = {result.framework: method.name for method in methods for result in method.results}
    empty: dict[str, list[EmptyFolder]] = {}
    for each in found.empty:
        empty.setdefault(owners.get(each.method) or prefix_of(each.method, {}), []).append(each)
    return empty


def _nobodys(empty: Mapping[str, Sequence[EmptyFolder]], methods: Mapping[str, RawMethod]) -> Iterator[Problem]:
    """The datasets of methods of which there is no file at all."""
    for name in sorted(empty.keys() - methods.keys()):
        for task, found in empty_tasks(empty[name], ()).items():
            yield lost_dataset(name, task, found)


def _declared_in(methods: Mapping[str, RawMethod], declared: Sequence[Declared]) -> list[RawMethod]:
    """The method that each declaration is of."""
    found = []
    failures = Failures()
    for each in declared:
        with failures.collected():
            found.append(method_declared(each.metadata, methods))
    failures.settle()
    return found
