"""A local artifact beside a hosted one: the objects that it consists of, or the files that these made."""

from __future__ import annotations

import filecmp
from collections.abc import Collection, Mapping
from pathlib import Path

from benchwright.contract import Failure
from benchwright.files import digest
from benchwright.processing import layout
from benchwright.processing.sidecar import FileFacts, read_sidecar
from benchwright.publish.archive import measure, odd_file, survey_folder
from benchwright.publish.hosted import ZIPS, HostedObject


def differing(folder: Path, objects: Mapping[str, HostedObject]) -> list[str]:
    """The names of the hosted objects that the local artifact does not hold; their digests must be known.

    Where both have the same sidecar, the zips' files are compared with the digests in it, whatever packed the zips.
    Elsewhere each folder is packed again, and the zips are compared.
    """
    alone = [name for name in objects if name not in ZIPS]
    different = [name for name in alone if not _is_file(folder / name, objects[name])]
    listed = _listed(folder) if layout.SIDECAR in objects and layout.SIDECAR not in different else None
    for name in objects.keys() & ZIPS.keys():
        below = folder / ZIPS[name]
        try:
            same = _is_zip(below, objects[name]) if listed is None else _is_listed(below, ZIPS[name], listed)
        except (Failure, OSError):  # links, files without permission, no folder at all: not what is hosted
            same = False
        if not same:
            different.append(name)
    return sorted(different)


def different_files(new: Path, old: Path, without: Collection[str] = ()) -> list[str]:
    """The files that two artifact folders do not have in common, and what is no plain file in the old one.

    What is below the folders in ``without`` does not count.
    """
    try:
        sizes = [_sizes(folder, without) for folder in (new, old.resolve())]
    except Failure as failure:
        return [Path(problem.where).relative_to(old.resolve()).as_posix() for problem in failure.problems]
    names = sorted(sizes[0].keys() | sizes[1].keys())
    return [
        name
        for name in names
        if sizes[0].get(name) != sizes[1].get(name) or not filecmp.cmp(new / name, old / name, shallow=False)
    ]


def _sizes(folder: Path, without: Collection[str]) -> dict[str, int]:
    left_out = tuple(f"{name}/" for name in without)
    return {
        member.name: member.size for member in survey_folder(folder).members if not member.name.startswith(left_out)
    }


def _is_file(path: Path, facts: HostedObject) -> bool:
    return (
        path.is_file() and odd_file(path) is None and path.stat().st_size == facts.size and digest(path) == facts.sha256
    )


def _is_zip(folder: Path, facts: HostedObject) -> bool:
    measured = measure(survey_folder(folder))
    return (measured.size, measured.sha256) == (facts.size, facts.sha256)


def _listed(folder: Path) -> Mapping[str, FileFacts] | None:
    try:
        return read_sidecar(folder).files
    except Failure:
        return None


def _is_listed(folder: Path, below: str, listed: Mapping[str, FileFacts]) -> bool:
    """Whether a folder has the files that the sidecar lists below it, and no others."""
    members = survey_folder(folder).members
    wanted = {name.removeprefix(f"{below}/"): facts for name, facts in listed.items() if name.startswith(f"{below}/")}
    if {member.name: member.size for member in members} != {name: facts.size for name, facts in wanted.items()}:
        return False
    return all(digest(folder / name) == facts.sha256 for name, facts in wanted.items())
