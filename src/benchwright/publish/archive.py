"""A folder as a zip stream: the same bytes for the same files, in bounded memory."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Failure, Problem
from benchwright.objects.keys import is_key
from benchwright.processing.zip_entry import zip_entry

_PIECE = 2**20
_LEVEL = 1
"""Deflate's fastest, as ``tabarena`` uses it: predictions are nearly incompressible."""
_GZIP = b"\x1f\x8b"
_GROWTH = 1.05
"""How much deflate may add, as ``zipfile`` reckons when it decides whether an entry needs 64-bit sizes."""

Advance = Callable[[int], None]
"""Told of each piece of work, by its size in bytes, once it is done."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its path below the folder, with ``/`` between the parts, and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Archive:
    """A folder that is to become a zip, with its files in the order of their names' bytes."""

    folder: Path
    members: tuple[Member, ...]

    @property
    def size(self) -> int:
        """The bytes of all files before they are packed."""
        return sum(member.size for member in self.members)


@dataclass(frozen=True, slots=True)
class Measured:
    """A zip's size in bytes, its SHA-256 in hex, and the SHA-256 of each file in it by name."""

    size: int
    sha256: str
    files: dict[str, str]


def survey_folder(folder: Path) -> Archive:
    """The files below a folder.

    Raises:
        Failure: links, what is no regular file, and names that no object may have (code ``odd-file``), each named; the
            folder itself may be no link either.
        OSError: there is no such folder, or it cannot be read.
    """
    if (problem := odd_file(folder)) is not None:
        raise Failure(problem)
    members: list[Member] = []
    problems: list[Problem] = []
    waiting = [(folder, "")]
    while waiting:
        place, base = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                name = f"{base}{entry.name}"
                status = entry.stat(follow_symlinks=False)
                odd = _odd_kind(status.st_mode) or (None if is_key(name) else "a name that no object may have")
                if odd is not None:
                    problems.append(_odd_file(Path(entry.path), odd))
                elif stat.S_ISDIR(status.st_mode):
                    waiting.append((Path(entry.path), f"{name}/"))
                else:
                    members.append(Member(name, status.st_size))
    if problems:
        raise Failure(sorted(problems, key=lambda problem: problem.where))
    return Archive(folder, tuple(sorted(members, key=lambda member: member.name.encode())))


def odd_file(path: Path) -> Problem | None:
    """What keeps a path from being published: a link, or what is neither file nor folder. None where nothing is there.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        odd = _odd_kind(path.lstat().st_mode)
    except FileNotFoundError:
        return None
    return None if odd is None else _odd_file(path, odd)


def zip_chunks(
    archive: Archive, digests: MutableMapping[str, str] | None = None, advance: Advance | None = None
) -> Iterator[bytes]:
    """The zip in pieces of about a mebibyte.

    ``digests`` receives each file's SHA-256 by name; ``advance`` is told how many bytes of the files were read.

    Entries are relative to the folder, sorted, all with the same date and mode, deflated at level 1; files that are
    zips or gzipped pickles already are stored. So the bytes depend on the files and on the ``zlib`` that packs them.
    As in every zip that is written to a stream, sizes and checksums follow each entry.

    Raises:
        Failure: a file has another size than when it was surveyed (code ``content-changed``).
        OSError: one cannot be read.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as target:
        for member in archive.members:
            digest = hashlib.sha256()
            with open(archive.folder / member.name, "rb") as source:
                head = source.read(_PIECE)
                entry = _entry(member, head)
                with target.open(entry, "w", force_zip64=member.size * _GROWTH > zipfile.ZIP64_LIMIT) as packed:
                    read = 0
                    while head:
                        read += len(head)
                        if read > member.size:
                            break
                        digest.update(head)
                        packed.write(head)
                        yield sink.taken()
                        if advance is not None:
                            advance(len(head))
                        head = source.read(_PIECE)
            if read != member.size:
                raise _changed(archive.folder / member.name, member.size)
            if digests is not None:
                digests[member.name] = digest.hexdigest()
    yield sink.taken()


def measure(archive: Archive, advance: Advance | None = None) -> Measured:
    """What the zip will be, without keeping it.

    Raises:
        Failure: as ``zip_chunks`` does.
    """
    digest, size = hashlib.sha256(), 0
    files: dict[str, str] = {}
    for chunk in zip_chunks(archive, files, advance):
        digest.update(chunk)
        size += len(chunk)
    return Measured(size, digest.hexdigest(), files)


class _Sink:
    """Where ``zipfile`` writes to: a file without a position, which is a stream to it; all is kept until taken."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, content: bytes) -> int:
        self._waiting += content
        return len(content)

    def flush(self) -> None:
        """Nothing waits elsewhere."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        content = bytes(self._waiting)
        self._waiting.clear()
        return content


def _entry(member: Member, head: bytes) -> zipfile.ZipInfo:
    entry = zip_entry(member.name)
    if member.name.endswith(".zip") or (member.name.endswith(".pkl") and head.startswith(_GZIP)):
        entry.compress_type = zipfile.ZIP_STORED
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # ZipFile.open has no argument for it
    return entry


def _odd_kind(mode: int) -> str | None:
    if stat.S_ISLNK(mode):
        return "a link"
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "no regular file"


def _odd_file(path: Path, found: str) -> Problem:
    fix = "remove it, or process the results again"
    return Problem("odd-file", str(path), found, "files and folders alone", fix)


def _changed(path: Path, size: int) -> Failure:
    fix = "let the program that writes there end, then run this again"
    return Failure(Problem("content-changed", str(path), "changed while it was read", f"{size:,} bytes", fix))
