"""An edit of a source file: planned as data, written whole, and only over the bytes it was planned from."""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import write_bytes
from benchwright.publish.targets import Target


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """A planned edit: the file's bytes as they were read and as they will be. Nothing to do when they are equal."""

    target: Target
    before: bytes
    after: bytes
    encoding: str

    @property
    def changes_file(self) -> bool:
        """Whether the file does not say all of it already."""
        return self.before != self.after

    def diff(self) -> list[str]:
        """The unified diff, without line ends."""
        before, after = (content.decode(self.encoding) for content in (self.before, self.after))
        return unified_diff(before, after, self.target.label)


def apply_edit(edit: SourceEdit) -> bool:
    """Write the edit; whether there was anything to write. The file holds the old content or the new, never a part.

    Raises:
        Failure: the file is no longer what the plan was made from (exit 5).
        OSError: it cannot be written.
    """
    if not edit.changes_file:
        return False
    replace_unchanged(edit.target.path, edit.before, edit.after)
    return True


def replace_unchanged(path: Path, before: bytes, after: bytes) -> None:
    """Write ``after`` over a file that still holds ``before``; it holds the one or the other, never a part.

    Raises:
        Failure: the file holds something else (exit 5).
        OSError: it cannot be written, or is gone.
    """
    with _locked(path.parent):
        if path.read_bytes() != before:
            found = "changed since it was read"
            problem = Problem("file-changed", str(path), found, "the file of the plan", "run this again")
            raise Failure(problem, exit=Exit.REFUSED)
        for left_by_a_kill in path.parent.glob(f".{path.name}.*.tmp"):
            left_by_a_kill.unlink()
        write_bytes(path, after)


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: a form feed or a line separator does not end one."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def unified_diff(before: str, after: str, name: str) -> list[str]:
    """The difference between two states of a file, without line ends."""
    old, new = lines_of(before), lines_of(after)
    return list(difflib.unified_diff(old, new, fromfile=f"a/{name}", tofile=f"b/{name}", lineterm=""))


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One editor at a time in a folder, so that none writes over another's work; leaves nothing there."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
