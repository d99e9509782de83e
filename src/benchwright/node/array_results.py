"""The results tree of a run, looked at again and again: how many whole results, and which of an array's own.

The walk goes on in a thread of its own, so that a slow file system costs a partial count and never a poll. A result
that was whole once is not opened again.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from benchwright.node.job_file import RESULT_NAME
from benchwright.node.results import is_complete, seems_complete

_SPLIT = re.compile(r"\d+_\d+")


@dataclass(frozen=True)
class ResultCount:
    """What is known of the tree. ``whole_tree`` is false of a count that is partial; ``there`` of a missing tree."""

    complete: int
    damaged: int
    whole_tree: bool
    there: bool


class ResultTree:
    """A tree of ``<method>/<task>/<repeat>_<fold>/results.pkl``, of which some are the array's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._own: Collection[str] = frozenset()
        self._complete: set[str] = set()
        self._damaged: set[str] = set()
        self._there = True
        self._unreadable = 0
        self._whole_tree = False
        self._own_again = False
        self._walk: threading.Thread | None = None

    def claim(self, own: Collection[str]) -> None:
        """Name the array's own results: each is read in full, once; others are looked at by their ends."""
        self._own = own
        self._complete.difference_update(own)

    def look(self, seconds: float, *, own_again: bool = False) -> ResultCount:
        """Walk the tree, or go on with a walk that is under way; wait for it no longer than ``seconds``.

        With ``own_again`` a walk asks of the array's own results that were there whether they still are.
        """
        self._own_again = own_again
        if self._walk is None or not self._walk.is_alive():
            self._walk = threading.Thread(target=self._go, daemon=True)
            self._walk.start()
        self._walk.join(seconds)
        whole_tree = not self._walk.is_alive() and self._whole_tree
        return ResultCount(len(self._complete), len(self._damaged), whole_tree, self._there)

    def has(self, place: str) -> bool:
        """Whether a whole result is at ``place``, a path below the root without the file's name."""
        return place in self._complete

    def _go(self) -> None:
        """Walk the tree. A walk that dies on the way has not seen all of it."""
        self._there = os.path.isdir(self.root)  # noqa: PTH112 - Path raises where it may not look
        self._whole_tree = False
        self._damaged = set()
        self._unreadable = 0
        if self._own_again:
            for place in self._complete.intersection(self._own):
                if not self._is_there(place):
                    self._complete.discard(place)
        own_methods = {place.partition("/")[0] for place in self._own}
        methods = self._folders(self.root)
        for method in sorted(methods, key=lambda name: (name not in own_methods, name)):
            for task in self._folders(self.root / method):
                for split in self._folders(self.root / method / task):
                    place = f"{method}/{task}/{split}"
                    if place not in self._complete and _SPLIT.fullmatch(split):
                        self._open(place)
        self._whole_tree = not self._unreadable

    def _folders(self, folder: Path) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError:
            self._unreadable += 1
            return []

    def _open(self, place: str) -> None:
        if not self._is_there(place):
            return
        path = Path(f"{self.root}/{place}/{RESULT_NAME}")
        try:
            whole = is_complete(path) if place in self._own else seems_complete(path)
        except OSError:
            self._unreadable += 1
            return
        (self._complete if whole else self._damaged).add(place)

    def _is_there(self, place: str) -> bool:
        """Whether there is a file; a pipe would be waited for without end."""
        try:
            return stat.S_ISREG(os.stat(f"{self.root}/{place}/{RESULT_NAME}").st_mode)  # noqa: PTH116 - there are many
        except FileNotFoundError:
            return False
        except OSError:  # a folder that may not be looked into
            self._unreadable += 1
            return False
