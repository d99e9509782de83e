"""A result file's bytes: bounded, from a regular file only, out of gzip where it is gzip."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from isal import isal_zlib  # half the time of zlib, which is two fifths of the time of a load

from benchwright.raw.opcodes import BadStream, check_protocol

INPUT_CHANGED = "input-changed"
GZIP_MAGIC = b"\x1f\x8b"
MAX_BYTES = 2**30
"""The largest pickle that is read. Eight children on 150,000 rows and ten classes make 22 MB."""
_BOMB_BYTES = 64 * 2**20
_BOMB_RATIO = 200
"""Predictions hardly compress (1.1 to 3 times in genuine files); deflate's limit is 1,032 times."""
HIGHEST_RATIO = 1_032
_SMALLEST_GZIP = 18
GZIP_WINDOW = 31
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""Without O_NONBLOCK, opening a named pipe would wait for ever."""


def read_file(path: Path | str, version: tuple[int, int] | None = None) -> bytes:
    """A result file's bytes as they are: gzip or a pickle. ``version`` is the size and time that it was seen with.

    Raises:
        BadStream: it is empty, no regular file or too large (codes ``empty-file``, ``not-a-file``, ``too-large``), by
            its first bytes neither gzip nor a pickle (``not-a-pickle``, ``unsupported-pickle``), not there
            (``missing``) or cannot be read (``unreadable``); or it changed since it was seen (`INPUT_CHANGED`).
    """
    try:
        return _read(path, version)
    except OSError as error:
        if version is not None and isinstance(error, FileNotFoundError):
            raise BadStream(INPUT_CHANGED, "gone since it was found", "the file that was inspected") from None
        raise unreadable(error) from None


def unpacked(content: bytes) -> bytes:
    """The pickle in a file's bytes, which are gzip or plain by the first two.

    Raises:
        BadStream: as `gunzip`.
    """
    return gunzip(content) if content[:2] == GZIP_MAGIC else content


def gunzip(content: bytes) -> bytes:
    """The content of one gzip member, checked against its length and its CRC.

    The length at the end of the file bounds the work: a stream that holds more is stopped there.

    Raises:
        BadStream: damaged gzip, or out of proportion (codes ``truncated``, ``damaged``, ``trailing-data``,
            ``too-large``).
    """
    if len(content) < _SMALLEST_GZIP:
        raise BadStream("truncated", f"gzip cut off at {len(content)} bytes", "a complete gzip file")
    declared = int.from_bytes(content[-4:], "little")
    if declared > HIGHEST_RATIO * len(content):
        raise BadStream("truncated", "gzip without a plausible length at its end", "a complete gzip file")
    if declared > MAX_BYTES or (declared > _BOMB_BYTES and declared > _BOMB_RATIO * len(content)):
        raise BadStream("too-large", f"{declared:,} bytes out of {len(content):,}", "a result of plausible size")
    stream = isal_zlib.decompressobj(GZIP_WINDOW)
    try:
        data = stream.decompress(content, declared + 1)
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub takes the class for an instance
        raise BadStream("damaged", f"damaged gzip: {error}", "an intact gzip file") from None
    if not stream.eof:
        raise BadStream("truncated", "gzip that ends early or lies about its length", "a complete gzip file")
    if stream.unused_data:
        raise BadStream("trailing-data", f"{len(stream.unused_data):,} bytes after the gzip data", "one gzip member")
    return data


def unreadable(error: OSError) -> BadStream:
    """What an error of the operating system says about a result file."""
    if isinstance(error, FileNotFoundError):
        return BadStream("missing", "no such file", "a result")
    return BadStream("unreadable", f"cannot be read: {error.strerror}", "a readable file")


def _read(path: Path | str, version: tuple[int, int] | None) -> bytes:
    handle = os.open(path, OPEN_FLAGS)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise BadStream("not-a-file", "not a regular file", "a regular file")
        if version not in (None, (status.st_size, status.st_mtime_ns)):
            raise BadStream(INPUT_CHANGED, "written to since it was found", "the file that was inspected")
        if status.st_size > MAX_BYTES:
            raise BadStream("too-large", f"{status.st_size:,} bytes", f"at most {MAX_BYTES:,}")
        head = os.pread(handle, 2, 0)
        if not head:
            raise BadStream("empty-file", "an empty file", "a complete result")
        if head != GZIP_MAGIC:
            check_protocol(head)
        pieces = []
        left = status.st_size
        while left > 0 and (piece := os.read(handle, left)):
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
    finally:
        os.close(handle)
