"""The values that a declaration should have after the changes, and whether it may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.changes import USED_BY_PROCESSING, Change, same_value
from benchwright.publish.declarations import Declaration
from benchwright.publish.destination import destination_of
from benchwright.publish.registration import registered_in
from benchwright.publish.suite import run_registered, suite_declared, suite_is_method

_PLACE = ("cache_type", "cache_kwargs")
_OF_THE_RUN = (
    *(field for field in USED_BY_PROCESSING if field != "suite"),
    "validation_protocol",
    *_PLACE,
)
"""What a run's results decide, once it has its suite, and where they are."""
_OPEN: tuple[Any, ...] = (None, "local", {})
"""The values of these fields that say nothing yet."""
UNVERIFIED = Change("verified", False)
"""What every declaration should say until someone has verified the results; written where nothing is declared."""


def wanted_values(declaration: Declaration, changes: Sequence[Change]) -> dict[str, Any]:
    """The values of the call's own keywords after the changes; what already holds is left as it is declared.

    A registered run counts as verified where it does not declare the opposite, and no edit of that run changes it.
    """
    wanted = declaration.values
    asked = {change.field for change in changes}
    for change in changes:
        field = change.field
        if change.to_default:
            wanted.pop(field, None)
        declared = field in wanted or change.to_default or _comes_from_elsewhere(declaration, field)
        present = wanted.get(field, declaration.supplied(field))
        if not (declared and same_value(field, present, change.value)):
            wanted[field] = change.value
    if not declaration.declares(UNVERIFIED.field) and UNVERIFIED.field not in asked:
        another_run = wanted.get("suite") != declaration.values.get("suite")
        if another_run or registered_in(declaration.target) is None:
            wanted[UNVERIFIED.field] = UNVERIFIED.value
    return wanted


def _comes_from_elsewhere(declaration: Declaration, field: str) -> bool:
    """Whether ``**`` or the descriptor says something of ``field``, so that repeating it would be noise."""
    return field in declaration.unpacked or field in declaration.described


def check_values(
    declaration: Declaration, wanted: Mapping[str, Any], changes: Sequence[Change], *, force: bool = False
) -> None:
    """Raise unless the call can be given ``wanted`` and declares a method that may be.

    Raises:
        Failure: a value is not written in the call, or without ``force`` the suite would become another one, or a
            registered run would have other results, or have them elsewhere (exit 5); a value breaks a rule of
            ``MethodMetadata``, or is of a field that the checkout does not know (exit 2): all of it at once.
    """
    problems = _unreachable(declaration, wanted)
    if not force:
        problems += [*_other_suite(declaration, wanted), *_other_results(declaration, wanted)]
    exit = Exit.REFUSED if problems else Exit.USAGE
    try:
        metadata = declaration.metadata(wanted)
    except Failure as failure:
        problems += failure.problems
    else:
        if metadata.suite == metadata.method and any(change.field in ("suite", "method") for change in changes):
            where = f"MethodMetadata {metadata.method!r}: suite"
            fix = "name the run, as in suite=tabarena-2026-06-30"
            problems.append(suite_is_method(where, repr(metadata.suite), fix))
        problems += _no_store(metadata, changes)
    problems += _unknown_there(declaration, wanted)
    if problems:
        raise Failure(problems, exit=exit)


def _no_store(metadata: MethodMetadata, changes: Sequence[Change]) -> Sequence[Problem]:
    """What keeps a place that is asked for from being a store's, which an upload would be the first to tell."""
    if metadata.cache_type == "local" or not any(change.field in _PLACE for change in changes):
        return ()
    try:
        destination_of(metadata, None)
    except Failure as failure:
        return failure.problems
    return ()


def _other_suite(declaration: Declaration, wanted: Mapping[str, Any]) -> list[Problem]:
    """A suite in the place of another one. One that is the method's name, or has no letter or digit, names no run."""
    old = declaration.values.get("suite", declaration.supplied("suite"))
    method = declaration.values.get("method", declaration.supplied("method"))
    named = isinstance(old, str) and old != method and any(character.isalnum() for character in old)
    if not named or wanted.get("suite", old) == old:
        return []
    return [suite_declared(f"{declaration.target}: suite", old)]


def _other_results(declaration: Declaration, wanted: Mapping[str, Any]) -> list[Problem]:
    """Fields of a registered run's results, and of their place, that would say otherwise; they may be filled in."""
    try:
        old, new = declaration.metadata(), declaration.metadata(wanted)
    except Failure:  # the values are refused for what they are
        return []
    changed = [field for field in _OF_THE_RUN if getattr(old, field) not in (*_OPEN, getattr(new, field))]
    arena = registered_in(declaration.target) if changed else None
    if arena is None:
        return []
    return [run_registered(f"{declaration.target}: {', '.join(changed)}", old.suite, arena.name)]


def _unknown_there(declaration: Declaration, wanted: Mapping[str, Any]) -> list[Problem]:
    """New fields that the checkout's own ``MethodMetadata`` lacks: with one of them the module would not import."""
    known = declaration.known_fields
    new = [field for field in wanted if known is not None and field not in known and not declaration.declares(field)]
    expected = f"a field of the MethodMetadata in {declaration.target.repository}"
    fix = "leave it out, or bring the checkout up to date"
    where = str(declaration.target)
    return [
        Problem("metadata-unknown-there", where, f"no field {field} in that version", expected, fix) for field in new
    ]


def _unreachable(declaration: Declaration, wanted: Mapping[str, Any]) -> list[Problem]:
    """Fields to be changed whose value is not written in this call."""
    problems = []
    at = declaration.target.at
    for field in {**declaration.values, **wanted}:
        argument, unpacked = declaration.arguments.get(field), declaration.unpacked.get(field)
        if unpacked is not None and field in wanted:
            found = f"{field} comes from {unpacked.source}, which other methods may share"
            problems.append(
                Problem("not-editable", at(unpacked.line), found, f"{field}= in the call", "edit it by hand")
            )
        elif (
            argument is not None
            and argument.what
            and (field not in wanted or not same_value(field, argument.value, wanted[field]))
        ):
            found = f"{field} is {argument.what}"
            problems.append(Problem("not-editable", at(argument.line), found, "a literal", "edit it by hand"))
    return problems
