"""The memory of the cache check: which result files were read in full, each by its size, mtime and inode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchwright.files import write_bytes
from benchwright.raw import RawFile

_Stamp = tuple[int, int, int]


class Memory:
    """The files read before, by their place in the tree: size, modification time and inode."""

    def __init__(self, before: dict[str, _Stamp]) -> None:
        self.before = before
        self.after: dict[str, _Stamp] = {}

    def knows(self, file: RawFile) -> bool:
        """Whether this very file was read before; what is not asked for is forgotten in the end."""
        place = _place(file)
        stamp = self.before.get(place)
        if stamp is None or stamp != _stamp(file):
            return False
        self.after[place] = stamp
        return True

    def learn(self, file: RawFile) -> None:
        """Remember a file that is whole."""
        self.after[_place(file)] = _stamp(file)


@contextlib.contextmanager
def remembered(path: Path) -> Iterator[Memory]:
    """The memory of earlier checks, saved at the end, also of a check that is interrupted."""
    memory = Memory(_read(path))
    try:
        yield memory
    except BaseException:
        _save(path, memory.before | memory.after, memory.before)
        raise
    _save(path, memory.after, memory.before)


def _read(path: Path) -> dict[str, _Stamp]:
    """The stored memory; a file that is missing or damaged costs a second look at the results and no more."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, _Stamp])
    except (OSError, msgspec.DecodeError):
        return {}


def _save(path: Path, stamps: dict[str, _Stamp], before: dict[str, _Stamp]) -> None:
    if stamps != before:
        write_bytes(path, msgspec.json.encode(stamps))


def _place(file: RawFile) -> str:
    return f"{file.method}/{file.task_key}/{file.repeat}_{file.fold}"


def _stamp(file: RawFile) -> _Stamp:
    return file.size, file.mtime_ns, file.inode
