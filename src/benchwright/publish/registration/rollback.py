"""A registration undone: the text is looked for from which registering again leads to the text that is there.

Nothing is remembered between the two. An entry and its import have one place to go from, but there may be two layouts
that they can have come into: an import that is one name a line was so before, or was on one line and grew too long.
Both are tried; where both lead here, the last commit without the registration tells which it was.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.registration.arenas import SUPERSEDED, Arena
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.groups import group_at
from benchwright.publish.registration.imports import import_of, without_import
from benchwright.publish.registration.places import Places, find_places, index_at
from benchwright.publish.registration.predecessor import Around, commits_around, superseded_by
from benchwright.publish.registration.registration import Registration
from benchwright.publish.registration.steps import Steps, carried_out, prove


def plan_rollback(
    arena: Arena, method: str, *, repository: Path | None = None, replaces: str | None = None
) -> Registration:
    """The edit that takes ``method`` (``MODULE:ATTR``) out of the arena's collection as its registration put it in.

    ``replaces``, or else what it took the place of (see ``superseded_by``), goes back there. An import that nothing
    else in the module uses goes with the entry. The edit changes nothing when the method is not registered.

    Raises:
        Failure: something that was named is not there (exit 2), was superseded since (exit 1), what it replaced is not
            known, or the file is not what a registration leaves, so that what was there before is not (exit 5).
    """
    places = find_places(arena, method, replaces, repository)
    source = places.file.source
    index = index_at(places.live, places.method)
    if index is None:
        _refuse_superseded(places)
        return Registration.of(arena, places, Steps(places.method.attribute, None, 0), source, group="", undoes=True)
    _refuse_comment(places.file, index)
    around = commits_around(places, index)
    proven = {
        before.source.content: (before, steps)
        for before, steps in _befores(places, index, superseded_by(places, index, around))
        if carried_out(before, steps) == source.text
    }
    before, steps = _only(places, proven, around)
    prove(before, places.file, steps)
    old = None if steps.replaced is None else places.superseded[steps.superseded_at]
    group = group_at(places.file.live, index).title
    return Registration.of(arena, places, steps, before.source, group=group, old=old, undoes=True)


def _refuse_superseded(places: Places) -> None:
    if index_at(places.superseded, places.method) is not None:
        found, fix = f"in {SUPERSEDED}: another method replaced it", "roll back that one first"
        raise Failure(Problem("superseded", str(places.method), found, "a live entry", fix), exit=Exit.NO)


def _refuse_comment(file: CollectionFile, index: int) -> None:
    if file.live.tail(index):
        found, fix = f"a comment beside {file.live.names[index]}", "take the comment away, then run this again"
        raise file.source.refused(file.live.row(index).line, found, "the entry alone", fix)


def _befores(places: Places, index: int, superseded_at: int | None) -> Iterator[tuple[CollectionFile, Steps]]:
    """The texts that may have been there before, each with the steps that would lead here."""
    file, live = places.file, places.file.live
    imported = import_of(file, places.method.module, places.method.attribute)
    below = live.row(index).line - 1 - live.first_line if live.stacked else None
    replaced = None if superseded_at is None else places.superseded[superseded_at].name
    for text in _without_entry(file, index, superseded_at):
        rest = file.edited(text)
        gone = None if imported is None or _is_used(rest, imported.bound) else imported
        steps = Steps(live.names[index], gone, index, below, replaced, superseded_at or 0)
        for candidate in (text,) if gone is None else without_import(rest, gone):
            yield rest.edited(candidate), steps


def _without_entry(file: CollectionFile, index: int, superseded_at: int | None) -> tuple[str, ...]:
    superseded = file.superseded
    if superseded_at is None or superseded is None:
        return file.live.without(index)
    old = file.live.with_other(index, superseded.names[superseded_at], tail=superseded.tail(superseded_at))
    swapped = file.edited(old).superseded
    assert swapped is not None
    return swapped.without(superseded_at)


def _is_used(file: CollectionFile, name: str) -> bool:
    """Whether anything but its import mentions a name, be it as a text (``__all__``)."""
    nodes = list(ast.walk(file.source.tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return name in names or name in {node.value for node in nodes if isinstance(node, ast.Constant)}


def _only(
    places: Places, proven: Mapping[bytes, tuple[CollectionFile, Steps]], around: Around | None
) -> tuple[CollectionFile, Steps]:
    """The one text that there was before, with the steps from it."""
    path = str(places.file.source.target.path)
    expected, fix = "one text to go back to", "take the entry and its import out by hand"
    if not proven:
        raise Failure(Problem("not-undone", path, "not as a registration leaves it", expected, fix), exit=Exit.REFUSED)
    if len(proven) > 1 and around is None:
        found = "names one a line that may have been on one line before, and no commit from before says which"
        fix = f"git revert the commit that registered it, or {fix}"
        raise Failure(Problem("not-undone", path, found, expected, fix), exit=Exit.REFUSED)
    there = Counter(around.before.source.content.splitlines() if around else [])
    shared = {content: (Counter(content.splitlines()) & there).total() for content in proven}
    # Where the commit has neither layout, registrations made that import, and they use one line while they can.
    return proven[max(proven, key=lambda content: (shared[content], -content.count(b"\n")))]
