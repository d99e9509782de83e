"""Result files as the runner sees them: complete or not, set aside when damaged, swept of half-written leftovers."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from pathlib import Path
from typing import BinaryIO, cast

_GZIP_MAGIC = b"\x1f\x8b"
_PICKLE_PROTOCOL = 0x80
_PICKLE_STOP = b"."
_READ_SIZE = 2**20
_SMALLEST = 32
_USUAL_RATIO = 12  # genuine results shrink 1.1 to 3 times
_OVERHEAD = 64  # of gzip's header and trailer; what does not shrink beyond that is read in full


def is_complete(path: Path) -> bool:
    """Whether a result file is there and whole: gzip's checksum holds, and the pickle inside has its two ends.

    A plain pickle has no checksum; its ends alone are looked at. Nothing is unpickled.

    Raises:
        OSError: it cannot be read (no permission, a disk that does not answer), so that nobody knows.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            return _has_both_ends(cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, gzip.BadGzipFile, EOFError, zlib.error):
        return False


def seems_complete(path: Path) -> bool:
    """A cheap look at a result's ends: gzip's closing length must fit the file's.

    A cut leaves a random length there, which fits once in 100,000 times. What does not fit is read in full.

    Raises:
        OSError: as `is_complete`.
    """
    try:
        file = os.open(path, os.O_RDONLY)  # no file object: there are hundreds of thousands of results
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        size = os.fstat(file).st_size
        if size >= _SMALLEST and os.pread(file, 2, 0) == _GZIP_MAGIC:
            length = int.from_bytes(os.pread(file, 4, size - 4), "little")
            if size - _OVERHEAD <= length <= _USUAL_RATIO * size:
                return True
    except IsADirectoryError:
        return False
    finally:
        os.close(file)
    return is_complete(path)


def _has_both_ends(file: BinaryIO) -> bool:
    first = last = file.read(_READ_SIZE)
    while True:
        piece = file.read(_READ_SIZE)
        if not piece:
            break
        last = piece
    return len(first) > 2 and first[0] == _PICKLE_PROTOCOL and last.endswith(_PICKLE_STOP)


def set_aside(path: Path) -> Path:
    """Move a damaged result out of the way, to the first free ``<name>.damaged``, ``<name>.damaged.2``, ..."""
    count = 1
    while True:
        target = path.with_name(f"{path.name}.damaged" + (f".{count}" if count > 1 else ""))
        if not target.exists():
            path.rename(target)
            return target
        count += 1


def sweep(path: Path) -> None:
    """Remove what a killed writer of ``path`` left: temporary files beside it, then a folder that is empty."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            leftover.unlink()
    with contextlib.suppress(OSError):
        path.parent.rmdir()
