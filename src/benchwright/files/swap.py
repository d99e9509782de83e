"""Put a finished folder in the place of another, whole: a reader sees the old one or the new, never a part of each."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from benchwright.files.atomic import sync_folder

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
"""renameat2(2): https://man7.org/linux/man-pages/man2/rename.2.html"""
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTTY, errno.EOPNOTSUPP})


def swap_in(new: Path, target: Path) -> None:
    """Make ``target`` the folder ``new``, which must be on the same file system; what was there is removed.

    The change is one step where the file system can exchange two names. Elsewhere the old folder is first renamed to
    ``<new>.old``, beside ``new``, where a kill between the two renames leaves it.

    Raises:
        OSError: the folders are on different file systems, or cannot be renamed. ``target`` is as it was.
    """
    target = target.resolve()
    aside = new.with_name(f"{new.name}.old")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        new.rename(target)
    elif not _exchange(new, target):
        target.rename(aside)
        try:
            new.rename(target)
        except BaseException:
            aside.rename(target)
            raise
    sync_folder(target.parent)
    for old in (new, aside):
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _renameat2() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
