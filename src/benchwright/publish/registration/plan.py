"""A method's registration in an arena's collection: checked against what is there, and planned as an edit."""

from __future__ import annotations

from pathlib import Path

from benchwright.arena import did_you_mean
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.publish.registration.arenas import SUPERSEDED, Arena
from benchwright.publish.registration.entries import Entry
from benchwright.publish.registration.groups import group_at, group_for, groups_of, place_in
from benchwright.publish.registration.imports import Imported, import_of, new_import
from benchwright.publish.registration.places import Places, find_places, index_at
from benchwright.publish.registration.registration import Registration
from benchwright.publish.registration.steps import Steps, carried_out, prove


def plan_registration(
    arena: Arena,
    method: str,
    *,
    repository: Path | None = None,
    replaces: str | None = None,
    group: str | None = None,
) -> Registration:
    """The edit that enters ``method`` (``MODULE:ATTR``) in the arena's collection, or puts it in place of ``replaces``.

    ``group`` is the comment to enter it below (see ``group_for``). The new text has been proved: it compiles, and an
    import, an entry and a superseded entry are all that it has more or other. The edit changes nothing when the method
    is registered so already.

    Raises:
        Failure: something that was named is not there or not ready (exit 2, or 5 where it may not be edited), or the
            collection has this method already in another way (exit 1).
    """
    if group is not None and replaces is not None:
        found = "given beside --replaces, which keeps the old entry's place"
        raise usage_error("--group", found, "one of the two", "leave --group out")
    places = find_places(arena, method, replaces, repository)
    file = places.file
    present = index_at(places.live, places.method)
    if present is not None:
        _refuse_half_a_swap(places, places.live[present])
        steps = Steps(places.live[present].name, None, present)
        return Registration.of(arena, places, steps, file.source, group=group_at(file.live, present).title)
    old = index_at(places.live, places.replaced)
    problems = [*_conflicts(places, old), *_unready(places, old)]
    if problems:
        raise Failure(problems, exit=Exit.NO)
    entry, new = _named(places)
    if old is not None:
        steps = Steps(entry, new, old, replaced=places.live[old].name, superseded_at=len(places.superseded))
        heading = group_at(file.live, old)
    else:
        heading = group_for(groups_of(file.live), places.metadata, group)
        index, below = place_in(heading, file.live, places.live, Entry(entry, (), places.metadata))
        steps = Steps(entry, new, index, below)
    after = file.edited(carried_out(file, steps))
    prove(file, after, steps)
    replaced = None if old is None else places.live[old]
    caveats = _caveats(arena, places, replaced)
    return Registration.of(arena, places, steps, after.source, group=heading.title, old=replaced, caveats=caveats)


def _caveats(arena: Arena, places: Places, old: Entry | None) -> tuple[str, ...]:
    hosted = "the entry resolves to downloadable artifacts only once the real upload has run"
    if places.metadata.cache_type == "local":
        hosted += f"; {places.method} still has cache_type 'local', which is no remote store"
    swapped = [] if old is None else [f"{arena.after_swap}; {old.reference} stays reachable through {SUPERSEDED}"]
    return (hosted, *swapped)


def _named(places: Places) -> tuple[str, Imported | None]:
    """The entry's name, and the import that it needs; None where it has one, or its own module is the collection's."""
    method, file = places.method, places.file
    if method.module == file.source.target.module:
        return method.attribute, None
    there = import_of(file, method.module, method.attribute)
    if there is not None:
        return there.bound, None
    new = new_import(file, method.module, method.attribute)
    return new.bound, new


def _refuse_half_a_swap(places: Places, present: Entry) -> None:
    if places.replaced is not None and index_at(places.superseded, places.replaced) is None:
        found = f"registered already, as {present.name}, and {places.replaced} is not in {SUPERSEDED}"
        fix = "to swap, roll the entry back first; to leave it, drop --replaces"
        problem = Problem("registered", str(places.method), found, "a method that is not registered yet", fix)
        raise Failure(problem, exit=Exit.NO)


def _conflicts(places: Places, old: int | None) -> list[Problem]:
    """Entries of the same method that the new one cannot stand beside."""
    problems = []
    method, at = places.metadata.method, str(places.method)
    superseded = index_at(places.superseded, places.method)
    if superseded is not None:
        found = f"in {SUPERSEDED}, as {places.superseded[superseded].name}"
        fix = "roll back the method that replaced it, or take it out of that list"
        problems.append(Problem("superseded", at, found, "a method that was not replaced", fix))
    for number, entry in enumerate((*places.live, *places.superseded)):
        if entry.metadata is None or number - len(places.live) == superseded:
            continue
        if entry.metadata.key == places.metadata.key:
            found = f"method {method!r} of suite {entry.metadata.suite!r} is registered as {entry.name}"
            fix = f"give the new run a suite of its own, or keep {entry.reference}"
            problems.append(Problem("registered-otherwise", at, found, "a (method, suite) that is not there yet", fix))
        elif entry.metadata.method == method and number < len(places.live) and number != old:
            found = f"method {method!r} is live with suite {entry.metadata.suite!r}, as {entry.name}"
            fix = f"for a rerun that takes its place, add --replaces {entry.reference}"
            problems.append(Problem("method-live", at, found, "one entry a method", fix))
    return problems


def _unready(places: Places, old: int | None) -> list[Problem]:
    """What a swap lacks, and a declaration that the list would come before."""
    problems = []
    file, method = places.file, places.method
    label = file.source.target.label
    if places.replaced is not None:
        gone = index_at(places.superseded, places.replaced) is not None
        if old is None or gone:
            found = f"in {SUPERSEDED} already" if gone else f"not in the live list of {label}"
            known = [entry.reference for entry in places.live]
            fix = "name a live entry, or none" if gone else did_you_mean(str(places.replaced), known)
            problems.append(Problem("not-live", str(places.replaced), found, "a live entry", fix))
        if file.superseded is None:
            found = f"no list {SUPERSEDED}, which would keep the replaced entry reachable"
            fix = f"add {SUPERSEDED}: list[MethodMetadata] = [] below the collection, then run this again"
            problems.append(Problem("no-superseded", label, found, "one", fix))
    if method.module == file.source.target.module and places.declaration.line > file.live.first_line:
        found = f"declared below the list, which starts at line {file.live.first_line}"
        where = method.at(places.declaration.line)
        problems.append(Problem("declared-below", where, found, "a declaration above it", "move it up"))
    return problems
