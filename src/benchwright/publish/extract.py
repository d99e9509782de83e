"""Unpacking a zip that may be hostile: into its folder alone, files alone, and never more than it declares."""

from __future__ import annotations

import hashlib
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, some
from benchwright.files import naming_full_disks
from benchwright.objects.keys import is_key
from benchwright.processing.layout import SIDECAR
from benchwright.processing.sidecar import FileFacts
from benchwright.publish.archive import Advance

_PIECE = 2**20
_LOCAL_HEADER = 30
"""Bytes before an entry's name in the zip: APPNOTE.TXT 4.3.7,
https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT"""
_MOST_TIMES = 200
"""How many times its own size a zip may unpack to. JSON of many configs comes to some 50; deflate allows 1,032."""
_ALWAYS_ALLOWED = 64 * 2**20
_ENCRYPTED = 0x1
_LISTED = f"the files that {SIDECAR} lists"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What ``zipfile`` raises on a file that is no zip, or not a whole one."""


def extract_zip(
    path: Path,
    folder: Path,
    where: str,
    advance: Advance = lambda size: None,
    *,
    listed: Mapping[str, FileFacts] | None = None,
) -> None:
    """Unpack a zip into ``folder``, which must be new; ``where`` names it in problems.

    Every entry is judged before the first is written: names that leave the folder, links and other odd entries, two
    entries of one name or of one place in the file, and more content than such a zip can honestly hold are refused;
    so is a zip without files, and one whose files are not those that are ``listed``, where that is known. ``advance``
    is told of the zip's own bytes, as they are unpacked.

    Raises:
        Failure: it is refused, damaged (codes ``bad-zip``, ``damaged-zip``, exit 1), or larger than the free disk
            space (``disk-full``, exit 3).
    """
    with _opened(path, where) as source:
        entries = _judged(source, path, where, listed)
        folder.mkdir(parents=True)
        needed, free = sum(entry.file_size for entry in entries), shutil.disk_usage(folder).free
        if needed > free:
            problem = Problem("disk-full", str(folder), f"{free:,} bytes free", f"{needed:,} bytes", "free some space")
            raise Failure(problem, exit=Exit.ENVIRONMENT)
        found = {}
        for entry in entries:
            target = folder / entry.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with naming_full_disks(target), open(target, "xb") as file:
                for piece in _content(source, entry, where):
                    file.write(piece)
                    digest.update(piece)
            found[entry.filename] = digest.hexdigest()
            advance(entry.compress_size)
        advance(path.stat().st_size - sum(entry.compress_size for entry in entries))
    _check_digests(found, listed, where)


def check_zip(path: Path, where: str, *, listed: Mapping[str, FileFacts] | None = None) -> None:
    """Read every entry of a zip, and compare it with its checksum and with what is ``listed``; nothing is written.

    Raises:
        Failure: as ``extract_zip`` does.
    """
    found = {}
    with _opened(path, where) as source:
        for entry in _judged(source, path, where, listed):
            digest = hashlib.sha256()
            for piece in _content(source, entry, where):
                digest.update(piece)
            found[entry.filename] = digest.hexdigest()
    _check_digests(found, listed, where)


def _opened(path: Path, where: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise _damaged(where, error) from None


def _judged(
    source: zipfile.ZipFile, path: Path, where: str, listed: Mapping[str, FileFacts] | None
) -> list[zipfile.ZipInfo]:
    """The files of a zip, when nothing is wrong with any entry."""
    entries = [entry for entry in source.infolist() if not _is_folder(entry)]
    found = dict.fromkeys(what for entry in source.infolist() if (what := _wrong_with(entry)) is not None)
    names = {entry.filename for entry in entries}
    if not entries:
        found["no file in it"] = None
    if len(names) != len(entries):
        found["two entries of one name"] = None
    if any(parent in names for name in names for parent in _parents(name)):
        found["a name that is both a file and a folder"] = None
    size = path.stat().st_size
    if _overlap(entries, source.start_dir):
        found["entries that share their bytes"] = None
    if sum(entry.file_size for entry in entries) > max(_ALWAYS_ALLOWED, size * _MOST_TIMES):
        found[f"more than {_MOST_TIMES} times its {size:,} bytes when unpacked"] = None
    if found:
        raise Failure([_refused(where, what, "files below one folder") for what in found])
    if listed is not None and (other := _unlike({entry.filename: entry.file_size for entry in entries}, listed)):
        raise Failure([_refused(where, what, _LISTED) for what in other])
    return entries


def _unlike(sizes: Mapping[str, int], listed: Mapping[str, FileFacts]) -> list[str]:
    """How files, by their sizes in bytes, are not those that are listed."""
    kinds: list[tuple[str, Sequence[str]]] = [
        ("not listed", sorted(sizes.keys() - listed.keys())),
        ("not in it", sorted(listed.keys() - sizes.keys())),
        ("of another size", sorted(name for name in sizes.keys() & listed.keys() if sizes[name] != listed[name].size)),
    ]
    return [f"{kind}: {some(names)}" for kind, names in kinds if names]


def _check_digests(found: Mapping[str, str], listed: Mapping[str, FileFacts] | None, where: str) -> None:
    changed = sorted(name for name in found if listed is not None and found[name] != listed[name].sha256)
    if changed:
        raise Failure(_refused(where, f"other content: {some(changed)}", _LISTED))


def _refused(where: str, found: str, expected: str) -> Problem:
    return Problem("bad-zip", where, found, expected, "do not unpack it; ask who uploaded it")


def _wrong_with(entry: zipfile.ZipInfo) -> str | None:
    """What makes an entry one that no artifact has."""
    name = entry.filename.removesuffix("/") if _is_folder(entry) else entry.filename
    if not is_key(name) or entry.orig_filename != entry.filename:
        return f"the name {entry.orig_filename[:80]!a}"
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return f"{name[:80]}: a link or no regular file"
    if entry.flag_bits & _ENCRYPTED:
        return f"{name[:80]}: encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"{name[:80]}: compression method {entry.compress_type}"
    return None


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.endswith("/")


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _overlap(entries: list[zipfile.ZipInfo], end: int) -> bool:
    """Whether an entry shares bytes with another one or with the directory at ``end``, or begins before the file.

    A name has at least as many bytes as letters, whatever its encoding.
    """
    reached = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < reached:
            return True
        reached = entry.header_offset + _LOCAL_HEADER + len(entry.filename) + entry.compress_size
    return reached > end


def _content(source: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> Iterator[bytes]:
    """An entry's content in pieces of at most a mebibyte, its checksum compared at the end."""
    try:
        with source.open(entry) as file:
            read = 0
            while piece := file.read(_PIECE):
                read += len(piece)
                yield piece
        if read != entry.file_size:
            raise zipfile.BadZipFile(f"{entry.filename}: {read:,} of {entry.file_size:,} bytes")
    except _DAMAGED as error:
        raise _damaged(where, error) from None


def _damaged(where: str, error: Exception) -> Failure:
    said = str(error) or type(error).__name__
    fix = "run this again; if it stays so, it must be uploaded anew"
    return Failure(Problem("damaged-zip", where, said[:200], "a whole zip", fix))
