"""Scratch folders that outlive nobody: each holds a lock of its owner, which the kernel releases with its end.

An owner that is killed, such as a fork server together with all its items, cannot clear up. Its folder then has a lock
that nobody holds, and the next set-up or fork server on the machine removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "bw-"
"""Short: sockets below the folder have to fit the kernel's 107 bytes."""
_LOCK_NAME = "benchwright.lock"


def new_scratch(base: Path | None = None) -> Path:
    """A new folder with a lock that this process and those it forks hold until the last of them ends.

    It lies below ``base``, or where temporary files go.
    """
    return _locked(base)[0]


@contextlib.contextmanager
def passing_scratch() -> Iterator[Path]:
    """A folder where temporary files go, which is gone with the block, or removed later if this process is killed."""
    folder, lock = _locked(None)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(base: Path | None) -> tuple[Path, int | None]:
    """A new folder, and the descriptor of its lock, if it could have one."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    fresh = folder / f"{_LOCK_NAME}.new"
    lock = None
    # A file system without locks costs the clearing up after a kill, not the run.
    with contextlib.suppress(OSError):
        lock = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The name comes after the lock, so that nobody meets the one without the other.
        fresh.rename(folder / _LOCK_NAME)
    return folder, lock


def remove_abandoned(base: Path | None = None) -> None:
    """Remove this user's scratch folders whose processes are all gone. What cannot be removed stays."""
    for folder in Path(base or tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def remove_if_empty(folder: Path) -> None:
    """Remove a scratch folder that holds nothing but its lock."""
    with contextlib.suppress(OSError):
        if [path.name for path in folder.iterdir()] == [_LOCK_NAME]:
            (folder / _LOCK_NAME).unlink()
        folder.rmdir()
