"""Find the result files of a run: one walk, small records, everything odd listed."""

from __future__ import annotations

import math
import os
import re
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchwright.contract import Problem, printable, usage_error
from benchwright.files.run_paths import RESULT_NAME
from benchwright.forks import in_order

if TYPE_CHECKING:
    from benchwright.raw.result import Result

_SPLIT = re.compile(r"(0|[1-9][0-9]{0,8})_(0|[1-9][0-9]{0,8})", re.ASCII)
_READABLE = "make it readable, then run this again"
_SECONDS_BEFORE_FORKS = 0.03
"""A walk that takes no longer, as one of some thousand folders on a local disk, is over before processes would pay."""


class RawFile(NamedTuple):
    """One result file of the layout ``<method>/<task_key>/<repeat>_<fold>/results.pkl``.

    ``folder`` is the task's folder, shared by its splits. ``size`` (bytes), ``mtime_ns`` and ``inode`` tell whether a
    file seen earlier is still the same.
    """

    folder: str
    method: str
    task_key: str
    repeat: int
    fold: int
    size: int
    mtime_ns: int
    inode: int

    @property
    def path(self) -> Path:
        """Where the file is."""
        return Path(self.place)

    @property
    def place(self) -> str:
        """The path as text, for who opens hundreds of thousands: a ``Path`` costs a third of the look at the file."""
        return f"{self.folder}/{self.split_name}/{RESULT_NAME}"

    @property
    def version(self) -> tuple[int, int]:
        """What a file's content cannot change without: its size, and when it was written."""
        return self.size, self.mtime_ns

    @property
    def split_name(self) -> str:
        """The name of the split's folder."""
        return f"{self.repeat}_{self.fold}"


class EmptyFolder(NamedTuple):
    """A folder where a result should be and is none: ``split`` of a task, or all of the task where that is empty."""

    folder: str
    method: str
    task_key: str
    split: str = ""

    @property
    def place(self) -> str:
        """Where it is in a run's data folder."""
        return f"{self.method}/{self.task_key}/{self.split}"


@dataclass(frozen=True, slots=True)
class Found:
    """The result files below a folder, sorted by task folder, repeat and fold, and what is wrong with the tree.

    ``empty`` are the folders beside them that hold no result, sorted: work that goes on, or results that are lost.
    """

    files: list[RawFile]
    problems: list[Problem]
    empty: list[EmptyFolder] = field(default_factory=list)


def find_results(root: Path | str) -> Found:
    """The result files below ``root``: a run's folder, its ``data`` folder, or one method's or task's folder.

    A split without a result is no problem of the tree: it may not be done yet. Links are not followed, so the walk ends
    whatever the tree looks like; those to folders, results and nothing are listed. So are results in folders of another
    layout, names that cannot be printed and what cannot be read. Hidden folders are left out. A tree without any result
    is one problem (``no-results``).

    Raises:
        Failure: there is no such folder (code ``no-such-folder``, exit 2).
    """
    if not Path(root).expanduser().absolute().is_dir():
        expected, fix = "a run's folder or its data folder", "correct the path"
        raise usage_error(str(root), "no such folder", expected, fix, code="no-such-folder")
    start = folder_of_results(root)
    walk = _Walk()
    pending = walk.go([str(start)], until=time.monotonic() + _SECONDS_BEFORE_FORKS)
    for files, problems, hollow in in_order(_walk_below, pending):
        walk.files += map(RawFile._make, files)
        walk.problems += problems
        walk.empty += map(EmptyFolder._make, hollow)
    walk.files.sort()
    walk.problems.sort(key=lambda problem: problem.where)
    if not walk.files:
        walk.problems.append(
            Problem(
                "no-results",
                str(start),
                f"no {RESULT_NAME} in <method>/<task>/<repeat>_<fold> folders",
                "the results of a run",
                "name the run's output folder or its data folder",
            )
        )
    depths = {file.folder.count("/") for file in walk.files}
    # Elsewhere than where tasks lie, an empty folder is none of theirs.
    empty = sorted(each for each in walk.empty if each.folder.count("/") in depths)
    return Found(walk.files, walk.problems, empty)


def folder_of_results(root: Path | str) -> Path:
    """The folder that is searched for the results of ``root``: itself, or the ``data`` folder in it."""
    start = Path(root).expanduser().absolute()
    # A folder "data" inside the data folder is one more of its methods.
    return start / "data" if start.name != "data" and (start / "data").is_dir() else start


def takes_in(root: Path | str, folder: Path) -> bool:
    """Whether a search for the results of ``root`` goes through ``folder``, which may not be there yet."""
    start, place = folder_of_results(root).resolve(), folder.expanduser().resolve()
    return place.is_relative_to(start) and not any(part.startswith(".") for part in place.relative_to(start).parts)


def misplaced(result: Result, method: str, split: str) -> Problem | None:
    """What is wrong with a result in the folders of a ``method`` and ``split`` (``<repeat>_<fold>``), if not its own.

    Whoever picked it by its folder would rate someone else's numbers.
    """
    if (result.framework, f"{result.repeat}_{result.fold}") == (method, split):
        return None
    return Problem(
        "misplaced-result",
        str(result.path),
        f"a result of {result.framework}, repeat {result.repeat}, fold {result.fold}",
        f"one of {method}, {split}, as its folders say",
        "move it to its own folder, or run this item again: its set-up moves the file aside",
    )


def _walk_below(folder: str) -> tuple[list[tuple[Any, ...]], list[Problem], list[tuple[Any, ...]]]:
    """All of one folder's tree; the files as bare tuples, which pass between processes many times faster."""
    walk = _Walk()
    walk.go([folder])
    return [tuple(file) for file in walk.files], walk.problems, [tuple(each) for each in walk.empty]


class _Walk:
    """The state of one walk."""

    def __init__(self) -> None:
        self.files: list[RawFile] = []
        self.problems: list[Problem] = []
        self.empty: list[EmptyFolder] = []

    def go(self, pending: list[str], until: float = math.inf) -> list[str]:
        """Visit folders and what is below them, until then by the monotonic clock; the rest."""
        while pending and time.monotonic() < until:
            pending.extend(self.visit(pending.pop()))
        return pending

    def visit(self, folder: str) -> list[str]:
        """Take in one folder; the folders below it that are still to visit."""
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError as error:
            self._note("unreadable", folder, f"cannot be listed: {error.strerror}", "a readable folder", _READABLE)
            return []
        below: list[str] = []
        method, task_key = folder.rsplit("/", 2)[-2:]
        if not listed:
            self.empty.append(EmptyFolder(folder, method, task_key))
        for entry in listed:
            try:
                self._sort(entry, folder, method, task_key, below)
            except OSError as error:
                self._note("unreadable", entry.path, f"cannot be read: {error.strerror}", "a readable entry", _READABLE)
        return below

    def _sort(self, entry: os.DirEntry[str], folder: str, method: str, task_key: str, below: list[str]) -> None:
        """Put one entry where it belongs: results, problems, or the folders ``below``."""
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            if split := _SPLIT.fullmatch(name):
                self._take(entry.path, (folder, method, task_key, int(split[1]), int(split[2])))
            elif not name.isprintable():
                self._note("odd-name", entry.path, "a name that cannot be printed", "a printable name", "rename it")
            elif not name.startswith("."):
                below.append(entry.path)
        elif entry.is_symlink():
            if name == RESULT_NAME or entry.is_dir() or not Path(entry.path).exists():
                self._note_link(entry)
        elif name == RESULT_NAME:
            found, fix = "a result outside a <repeat>_<fold> folder", "move it into its split's folder, or remove it"
            self._note("odd-name", entry.path, found, "a split's folder", fix)

    def _take(self, place: str, coordinates: tuple[str, str, str, int, int]) -> None:
        path = f"{place}/{RESULT_NAME}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            self.empty.append(EmptyFolder(*coordinates[:3], place.rpartition("/")[2]))
            return
        if not stat.S_ISREG(status.st_mode):
            fix = "put the file itself there, or remove it"
            self._note("not-a-file", path, "a link or no regular file", "a regular file", fix)
            return
        self.files.append(RawFile(*coordinates, status.st_size, status.st_mtime_ns, status.st_ino))

    def _note_link(self, entry: os.DirEntry[str]) -> None:
        path = Path(entry.path)
        state = "not followed" if path.exists() else "which is not there"
        self._note(
            "link",
            entry.path,
            f"a link to {printable(str(path.readlink()))}, {state}",
            "a folder or file of this tree",
            "copy what it points to here, or name that folder itself",
        )

    def _note(self, code: str, where: str, found: str, expected: str, fix: str) -> None:
        self.problems.append(Problem(code, printable(where), found, expected, fix))
