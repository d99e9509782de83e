"""What a registered entry took the place of, where nobody names it: told by what was there before, or by its method."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchwright.contract import Exit, Failure, Problem, did_you_mean, some
from benchwright.files.checkout import git
from benchwright.publish.registration.arenas import SUPERSEDED
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.entries import Entry
from benchwright.publish.registration.imports import import_of
from benchwright.publish.registration.places import Places, index_at

_MOST_COMMITS = 100
"""Commits that are looked through for the one before a registration."""


class _Unknown(Exception):
    """The text from before the registration does not tell."""


@dataclass(frozen=True)
class Around:
    """The collection's module right before a registration, in the last commit without it, and right after it."""

    before: CollectionFile
    after: CollectionFile


def commits_around(places: Places, index: int) -> Around | None:
    """The module before and after the live entry at ``index`` came; None where git has no commit from before."""
    source, method, name = places.file.source, places.method, places.live[index].name
    path, after = source.target.path, places.file
    commits = git(path.parent, "log", "--format=%H", f"--max-count={_MOST_COMMITS}", "--", path.name) or b""
    for commit in commits.decode().split():
        content = git(path.parent, "cat-file", "blob", f"{commit}:./{path.name}")
        if content is None:
            return None
        try:
            file = CollectionFile.read(source.target, content)
            if import_of(file, method.module, method.attribute) is None and name not in file.live.names:
                return Around(file, after)
        except Failure:
            return None
        after = file
    return None


def superseded_by(places: Places, index: int, around: Around | None) -> int | None:
    """The number of the superseded entry that the live one at ``index`` replaced; None where it was an addition.

    It is the one that was named. Else the module ``around`` the registration says which entry stood at this place.
    Where that does not tell, it is the last one of the same method; and where there is none either, there must be none
    in the list that another method may have replaced.

    Raises:
        Failure: the one that was named is not there (exit 1), or there are such entries (exit 5).
    """
    if places.replaced is not None:
        named = index_at(places.superseded, places.replaced)
        if named is None:
            found = f"not in {SUPERSEDED}"
            known = [entry.reference for entry in places.superseded]
            fix = did_you_mean(str(places.replaced), known) if known else "leave --replaces out"
            problem = Problem("not-superseded", str(places.replaced), found, "what was replaced", fix)
            raise Failure(problem, exit=Exit.NO)
        return named
    names = [entry.name for entry in places.superseded]
    if around is not None:
        with contextlib.suppress(_Unknown, ValueError):
            stood = _stood_there(around, places.live[index].name)
            return None if stood is None else names.index(stood)
    same = [number for number, entry in enumerate(places.superseded) if _method(entry) == places.metadata.method]
    if same:
        return same[-1]
    live = {_method(entry) for entry in places.live}
    possible = [entry for entry in places.superseded if entry.metadata is None or _method(entry) not in live]
    if possible:
        raise _refused(places, possible)
    return None


def _stood_there(around: Around, name: str) -> str | None:
    """The name that stood, before, where a live entry stands after; None where none did.

    Raises:
        _Unknown: the names that stayed do not tell.
    """
    old, new = around.before.live.names, around.after.live.names
    swapped = _superseded(around.after) - _superseded(around.before)
    kept = set(old) & set(new)
    if [one for one in old if one in kept] != [one for one in new if one in kept] or swapped - set(old):
        raise _Unknown  # put in another order by hand, or replaced more than once meanwhile
    place = sum(one in kept for one in new[: new.index(name)])
    came, gone = _between(new, kept, place), _between(old, kept, place)
    if not gone:
        return None
    if len(came) == len(gone) == 1 and gone[0] in swapped:
        return gone[0]
    raise _Unknown


def _superseded(file: CollectionFile) -> set[str]:
    try:
        return set(file.superseded.names if file.superseded else ())
    except Failure:
        raise _Unknown from None


def _between(names: Sequence[str], kept: Collection[str], place: int) -> list[str]:
    """The names that are not kept, behind so many kept ones."""
    return [
        name
        for number, name in enumerate(names)
        if name not in kept and sum(other in kept for other in names[:number]) == place
    ]


def _method(entry: Entry) -> str | None:
    return None if entry.metadata is None else entry.metadata.method


def _refused(places: Places, possible: Sequence[Entry]) -> Failure:
    references = some([entry.reference for entry in possible], 5)
    found = f"what it replaced is not known, if anything: {references} in {SUPERSEDED} may be it"
    fix = "name it with --replaces MODULE:ATTR; if it replaced none, take the entry and its import out by hand"
    problem = Problem("predecessor-unknown", str(places.method), found, "the entry that goes back to its place", fix)
    return Failure(problem, exit=Exit.REFUSED)
