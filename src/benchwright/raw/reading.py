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
_PIECE = 2**20
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
        raise _not_its_length(content)
    if declared > MAX_BYTES or (declared > _BOMB_BYTES and declared > _BOMB_RATIO * len(content)):
        raise BadStream("too-large", f"{declared:,} bytes out of {len(content):,}", "a result of plausible size")
    stream = isal_zlib.decompressobj(GZIP_WINDOW)
    try:
        data = stream.decompress(content, declared + 1)
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub takes the class for an instance
        raise _damaged(error) from None
    if not stream.eof:
        raise _not_its_length(content)
    if stream.unused_data:
        raise _more(stream.unused_data)
    return data


def _not_its_length(content: bytes) -> BadStream:
    """What is wrong with gzip that does not end with its length: cut off, something behind it, or damaged there.

    It is unpacked, a piece at a time, and nothing of that is kept.
    """
    stream = isal_zlib.decompressobj(GZIP_WINDOW)
    most = min(MAX_BYTES, max(_BOMB_BYTES, _BOMB_RATIO * len(content)))
    left, packed = most, content
    try:
        while packed and left > 0:
            left -= len(stream.decompress(packed, _PIECE))
            packed = stream.unconsumed_tail
    except isal_zlib.error as error:  # type: ignore[misc]
        return _damaged(error)
    if stream.eof:
        return _more(stream.unused_data)
    if left <= 0:
        return BadStream("too-large", f"more than {most:,} bytes out of {len(content):,}", "a result of plausible size")
    return BadStream("truncated", "gzip that ends early", "a complete gzip file")


def _damaged(error: Exception) -> BadStream:
    return BadStream("damaged", f"damaged gzip: {error}", "an intact gzip file")


def _more(behind: bytes) -> BadStream:
    return BadStream("trailing-data", f"{len(behind):,} bytes after the gzip data", "one gzip member")


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
