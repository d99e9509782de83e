"""Folders as archives on their way to another machine: the same bytes for the same content, and safe to unpack."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterable
from pathlib import Path

from benchwright.contract import Failure, Problem
from benchwright.files import atomic_writer


def pack(folder: Path, target: Path, members: Iterable[str] | None = None) -> None:
    """Write ``folder`` as a ``.tar.gz``, or of it only ``members``, by their relative paths.

    Times, owners and the order of the file system stay out of it. What is neither file, folder nor link is left out.
    """
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if members is None else sorted(members)
    with (
        atomic_writer(target) as file,
        gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in names:
            archive.add(folder / name, arcname=name, recursive=False, filter=_anonymous)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a ``.tar.gz`` below ``folder``.

    Raises:
        Failure: it is damaged, or would write elsewhere (code ``bad-archive``, exit 1).
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive, "r:gz") as opened:
            opened.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile) as error:
        raise Failure(
            Problem(
                "bad-archive",
                str(archive),
                f"cannot be unpacked: {error}",
                "an archive that setup wrote",
                "run setup again: it says how to close this launch, and packs anew what is missing",
            )
        ) from None


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if not (member.isfile() or member.isdir() or member.issym()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member
