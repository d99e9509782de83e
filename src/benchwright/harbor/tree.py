"""How a job's files are read, wherever they are; ``Folder`` reads them on a file system."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from benchwright.contract import Exit, Failure, Problem, said, usage_error

Stamp = bytes
"""What changes with a file's content: its size, the times when its content and its inode changed, and the inode."""
_STAMP = struct.Struct("<3qQ")
ABSENT: Stamp = bytes(_STAMP.size)
"""The stamp of no file."""
_UNSETTLED: Stamp = b"\xff" * _STAMP.size
_SETTLED_NS = 10 * 10**9
_LAST_NS = 2**63 - 1

MOST_BYTES = 2**30
_PASSING = {errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EAGAIN, errno.EHOSTDOWN, errno.ECONNRESET}
"""What a file system says that is not reached for the moment, as NFS and GPFS do."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The names of the folders and of the files in a folder, hidden ones left out, each sorted."""

    folders: tuple[str, ...]
    files: frozenset[str]


class Content(NamedTuple):
    """A file's bytes, None where they are more than was asked for, and its stamp at the time.

    The stamp is ``ABSENT`` where the place has none: what is read there is not remembered.
    """

    data: bytes | None
    stamp: Stamp


class Odd(Exception):
    """There is something by that name, and it can be no result; the text says what it is."""


class Tree(Protocol):
    """A job's folder. Paths are relative to it, with ``/``.

    Every call may raise ``Failure``: no permission (exit 3), a place that does not answer (exit 4).
    """

    @property
    def where(self) -> str:
        """Where it is, fit to be printed."""

    def listing(self) -> Listing:
        """What is in the folder itself."""

    def read(self, path: str, most: int = MOST_BYTES) -> Content | None:
        """The content of a file of up to ``most`` bytes, None where there is none by that name.

        Raises:
            Odd: it is no regular file, or has more than 1 GiB.
        """

    def exists(self, path: str) -> bool:
        """Whether there is something by that name."""


class Folder:
    """A job's folder on a file system, held open meanwhile: a renamed one stays the same one.

    Use as a context manager. Links are followed; what is no regular file is not opened for reading.

    Raises on entering:
        Failure: there is no such folder (exit 2), or it may not be read (exit 3).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1

    def __enter__(self) -> Folder:
        try:
            self._handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise unreadable(str(self.path), error) from None
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @property
    def where(self) -> str:
        """See ``Tree.where``."""
        return str(self.path)

    def listing(self) -> Listing:
        """See ``Tree.listing``."""
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(self._handle) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        (folders if _is_folder(entry) else files).append(entry.name)
        except OSError as error:
            raise unreadable(self.where, error) from None
        return Listing(tuple(sorted(folders)), frozenset(files))

    def stamps(self, paths: Iterable[str]) -> list[Stamp]:
        """The stamps of files, of folders too, whose stamp changes with the names in them; ``.`` is this one.

        Raises:
            Failure: as ``Tree`` says.
        """
        handle, found = self._handle, []
        for path in paths:
            try:
                now = os.stat(path, dir_fd=handle)
                found.append(_STAMP.pack(now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino))
            except struct.error:
                found.append(_stamp(now))
            except (FileNotFoundError, NotADirectoryError):
                found.append(ABSENT)
            except OSError as error:
                raise unreadable(f"{self.where}/{path}", error) from None
        return found

    def read(self, path: str, most: int = MOST_BYTES) -> Content | None:
        """See ``Tree.read``."""
        try:
            # a named pipe would keep an ordinary open waiting for ever
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=self._handle)
            try:
                return _content(handle, most)
            finally:
                os.close(handle)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise Odd("a link that leads nowhere") from None
            raise unreadable(f"{self.where}/{path}", error) from None

    def exists(self, path: str) -> bool:
        """See ``Tree.exists``."""
        try:
            os.stat(path, dir_fd=self._handle)
        except OSError:
            return False
        return True


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one; what may not be looked at counts as one, and says so when it is read."""
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return False
        if error.errno in (errno.EACCES, errno.EPERM):
            return True
        raise


def unreadable(where: str, error: OSError) -> Failure:
    """What to say of a place that does not let itself be read: the machine lacks something (3), or try again (4)."""
    if error.errno in _PASSING:
        fix = "the file system does not answer for the moment: run this again"
        return Failure(Problem("unreachable", where, said(error), "an answer", fix), exit=Exit.REMOTE)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return usage_error(where, said(error), "the folder of a Harbor job", "name a folder that can be read")
    fix = "ask its owner for permission to read, or run this as someone who has it"
    return Failure(Problem("unreadable", where, said(error), "permission to read", fix), exit=Exit.ENVIRONMENT)


def written(stamps: Iterable[Stamp]) -> datetime | None:
    """When the newest of some files was last written; None without one, and where no calendar has that time."""
    times = [_STAMP.unpack(stamp)[1] for stamp in stamps if stamp != ABSENT]
    try:
        return datetime.fromtimestamp(max(times) / 1e9, UTC) if times else None
    except (ValueError, OverflowError):
        return None


def is_young(stamp: Stamp, now: int) -> bool:
    """Whether a file was written within ten seconds of a time in ns: it may be written still."""
    changed: int = _STAMP.unpack(stamp)[1]
    return abs(now - changed) < _SETTLED_NS


def settled(stamp: Stamp, now: int) -> Stamp:
    """The stamp to remember at a time in ns: that of no file at all where the file is younger than ten seconds.

    Such a file may change again within the same tick of the clock, and its stamp would not tell.
    """
    return _UNSETTLED if _STAMP.unpack(stamp)[1] > now - _SETTLED_NS else stamp


def _content(handle: int, most: int) -> Content:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise Odd("no regular file")
    if status.st_size > MOST_BYTES:
        raise Odd(f"{status.st_size:,} bytes, more than 1 GiB")
    if status.st_size > most:
        return Content(None, _stamp(status))
    data = os.read(handle, status.st_size + 1)
    while piece := len(data) < status.st_size and os.read(handle, status.st_size - len(data)):
        data += piece
    return Content(data, _stamp(status))


def _stamp(status: os.stat_result) -> Stamp:
    """The stamp of a file; of a time after 2262 or before 1678 no more than that."""
    times = (max(-_LAST_NS, min(time, _LAST_NS)) for time in (status.st_mtime_ns, status.st_ctime_ns))
    return _STAMP.pack(status.st_size, *times, status.st_ino)
