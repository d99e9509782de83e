"""The raw results in an artifact may be the only ones: what takes its place must have them too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchwright import __version__
from benchwright.contract import Exit, Failure, Problem, some
from benchwright.files import digest
from benchwright.files.run_paths import RESULT_NAME
from benchwright.processing.layout import RAW, SIDECAR
from benchwright.processing.sidecar import FileFacts, read_sidecar
from benchwright.raw.finding import RawFile


def refuse_lost_raw(present: Path, coming: Mapping[str, FileFacts]) -> None:
    """Refuse to put files ``coming`` in the place of the artifact ``present`` if raw results of that one would be lost.

    A result counts as kept where its copy is the same; in an artifact of another version of this program, or of another
    program, where there is one for the same config and split.

    Raises:
        Failure: some would be lost (code ``raw-would-be-lost``, exit 5).
    """
    copies = [path.relative_to(present).as_posix() for path in sorted((present / RAW).rglob(RESULT_NAME))]
    if not copies:
        return
    recorded = _recorded(present)
    lost = [name for name in copies if name not in coming or recorded.get(name, coming[name]) != coming[name]]
    if lost:
        raise Failure(
            Problem(
                "raw-would-be-lost",
                str(present),
                f"{len(lost)} of its {len(copies)} raw results are not in the new artifact: {some(lost)}",
                "the same results, or more of them",
                "give another run another suite; or --replace, where they are kept elsewhere or not wanted",
            ),
            exit=Exit.REFUSED,
        )


def refuse_lost_input(files: Iterable[RawFile], present: Path, coming: Mapping[str, FileFacts]) -> None:
    """Refuse to put files ``coming`` in the place of the artifact ``present`` if results among ``files`` would be lost.

    Those that lie in the artifact are its own input: each must be among what comes, byte for byte.

    Raises:
        Failure: some would be lost (code ``input-would-be-lost``, exit 5).
    """
    root = os.path.realpath(present)
    folders: dict[str, str] = {}
    inside, lost = 0, []
    for file in files:
        if file.folder not in folders:
            folders[file.folder] = os.path.realpath(file.folder)
        if not folders[file.folder].startswith(f"{root}/"):
            continue
        inside += 1
        name = f"{folders[file.folder]}/{file.split_name}/{RESULT_NAME}".removeprefix(f"{root}/")
        if name not in coming or coming[name] != FileFacts(file.size, digest(file.path)):
            lost.append(name)
    if lost:
        raise Failure(
            Problem(
                "input-would-be-lost",
                str(present),
                f"{len(lost)} of the {inside} results to be processed lie in the artifact that would be replaced, and "
                f"are not kept there as they are: {some(lost)}",
                "results that are kept elsewhere",
                "copy them out of the cache and name the copy, or keep them with --cache-raw under the same names",
            ),
            exit=Exit.REFUSED,
        )


def _recorded(present: Path) -> Mapping[str, FileFacts]:
    """The facts of an artifact's files, where copies of the same result would have the same bytes."""
    if not (present / SIDECAR).is_file():
        return {}
    try:
        sidecar = read_sidecar(present)
    except Failure:
        return {}
    return sidecar.files if sidecar.versions.get("benchwright") == __version__ else {}
