"""A lock that names its holder and dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem


class FileLock:
    """An exclusive lock on a file, taken without waiting and released when the process ends, however it ends.

    ``purpose`` says what the holder does ("setup of xgboost_30112026"). Use as a context manager.

    Raises on entering:
        Failure: someone else holds it; the problem names process, host and since when (code ``locked``, exit 5).
    """

    def __init__(self, path: Path | str, purpose: str) -> None:
        self.path = Path(path)
        self.purpose = purpose
        self._handle: int | None = None

    def __enter__(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._describe_holder(handle)
            os.close(handle)
            raise Failure(
                Problem(
                    "locked",
                    str(self.path),
                    f"{holder} is at work here",
                    "one at a time",
                    "wait for it to end, or stop it, then run this again",
                ),
                exit=Exit.REFUSED,
            ) from None
        note = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "purpose": self.purpose,
        }
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(note).encode(), 0)
        self._handle = handle
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def fileno(self) -> int:
        """The number of the open file, while it is held: a process that inherits it holds the lock as well."""
        assert self._handle is not None
        return self._handle

    def is_held(self) -> bool:
        """Whether someone holds it at this moment; nothing is written."""
        try:
            handle = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    @staticmethod
    def _describe_holder(handle: int) -> str:
        note: dict[str, object] = {}
        with contextlib.suppress(ValueError):
            note = json.loads(os.pread(handle, 4096, 0))
        if not note:
            return "another process"
        return f"{note.get('purpose')} (process {note.get('pid')} on {note.get('host')}, since {note.get('since')})"
