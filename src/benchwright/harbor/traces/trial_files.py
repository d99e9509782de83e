"""The files of one trial, read without leaving its folder: an agent wrote some, and what is read is published."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from benchwright.contract import HIDDEN
from benchwright.harbor.traces.unexported import Unexported
from benchwright.harbor.tree import MOST_BYTES, unreadable

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class TrialFiles:
    """A trial's folder, held open meanwhile. Paths are relative to it, with ``/``. Use as a context manager.

    The folder itself may be a link. Below it none is followed: it could lead anywhere on this machine. ``secrets`` are
    hidden in what is read; ``hid`` names the files that had one.

    Every call may raise:
        Unexported: there is something by that name that is not to be read; on entering, there is no such folder.
        Failure: it may not be read (exit 3), or does not come for the moment (exit 4).
    """

    def __init__(self, folder: Path, secrets: Sequence[bytes] = ()) -> None:
        self.hid: set[str] = set()
        self._folder = folder
        self._secrets = secrets
        self._handle = -1

    def __enter__(self) -> TrialFiles:
        try:
            self._handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if error.errno in _ABSENT:
                raise Unexported("its folder went away") from None
            raise unreadable(str(self._folder), error) from None
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def names(self, folder: str) -> list[str]:
        """The names in a folder below, sorted; none where there is no such folder."""
        handle = self._open(folder)
        if handle is None:
            return []
        try:
            if not stat.S_ISDIR(os.fstat(handle).st_mode):
                return []
            with os.scandir(handle) as entries:
                return sorted(entry.name for entry in entries)
        except OSError as error:
            raise unreadable(f"{self._folder}/{folder}", error) from None
        finally:
            os.close(handle)

    def read(self, path: str) -> bytes | None:
        """The content of a file, None where there is none by that name."""
        handle = self._open(path)
        if handle is None:
            return None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Unexported(f"{path} is no regular file")
            if status.st_size > MOST_BYTES:
                raise Unexported(f"{path} has {status.st_size:,} bytes, more than 1 GiB")
            with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
                return self._without_secrets(path, file.read(status.st_size))
        except OSError as error:
            raise unreadable(f"{self._folder}/{path}", error) from None
        finally:
            os.close(handle)

    def _without_secrets(self, path: str, data: bytes) -> bytes:
        for secret in self._secrets:
            if secret in data:
                self.hid.add(path)
                data = data.replace(secret, HIDDEN.encode())
        return data

    def _open(self, path: str) -> int | None:
        """A handle of what the path leads to, one name after another."""
        handle = self._handle
        for name in path.split("/"):
            try:
                below = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=handle)
            except OSError as error:
                if error.errno in _ABSENT:
                    return None
                if error.errno == errno.ELOOP:
                    raise Unexported(f"{path} is a link, which is not followed") from None
                if error.errno == errno.ENXIO:
                    raise Unexported(f"{path} is no regular file") from None
                raise unreadable(f"{self._folder}/{path}", error) from None
            finally:
                if handle != self._handle:
                    os.close(handle)
            handle = below
        return handle
