"""Atomic writes: a temporary name in the same folder, synced, then renamed over the target."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_NEW_FILE_MODE = 0o666


@contextlib.contextmanager
def atomic_writer(path: Path | str) -> Iterator[BinaryIO]:
    """A binary file that takes ``path``'s place only once it is complete.

    Missing parent folders are made. A reader sees the old content or the new, never a part; an exception or a kill
    leaves the target as it was. An existing target keeps its permissions.

    Raises:
        OSError: the folder cannot be written, or the disk is full. The temporary file is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file, naming_full_disks(path):
            yield file
            file.flush()
            os.fchmod(file.fileno(), _mode_for(path))
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def naming_full_disks(path: Path | str) -> Iterator[None]:
    """Have the refusal of a full disk, which the system leaves without a name, name the ``path`` being written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:
            error.filename = str(path)
        raise


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write ``content`` atomically."""
    with atomic_writer(path) as file:
        file.write(content)


def write_text(path: Path | str, content: str) -> None:
    """Write ``content`` atomically as UTF-8."""
    write_bytes(path, content.encode())


def write_json(path: Path | str, content: Any, *, indent: int | None = None) -> None:
    """Write ``content`` atomically as JSON with a final newline; NaN and infinities are refused (ValueError)."""
    write_text(path, json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def _mode_for(path: Path) -> int:
    """The permissions a file at ``path`` should have: its present ones, or what the umask grants a new file."""
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable; file systems that cannot sync a folder are taken as they are."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
