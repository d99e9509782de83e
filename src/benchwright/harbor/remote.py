"""A job's folder in an object store, read through any of fsspec's file systems."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.harbor.tree import ABSENT, MOST_BYTES, Content, Listing, Odd, unreadable


class RemoteFolder:
    """A job's folder below a bucket. Nothing of it is remembered between looks, since a listing has no stamps.

    ``root`` is a path of ``filesystem``, one of fsspec such as ``gcsfs``. A folder that is not there is an
    empty one: object stores know no difference.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self.filesystem = filesystem
        self.root = root.rstrip("/")

    @property
    def where(self) -> str:
        """See ``Tree.where``."""
        return str(self.filesystem.unstrip_protocol(self.root))

    def listing(self) -> Listing:
        """See ``Tree.listing``."""
        entries = []
        with self._told(self.root), contextlib.suppress(FileNotFoundError):
            entries = self.filesystem.ls(self.root, detail=True, refresh=True)
        named = [(str(entry["name"]).rstrip("/").rpartition("/")[2], entry["type"]) for entry in entries]
        visible = [(name, kind) for name, kind in named if name and not name.startswith(".")]
        folders = tuple(sorted(name for name, kind in visible if kind == "directory"))
        return Listing(folders, frozenset(name for name, kind in visible if kind != "directory"))

    def read(self, path: str, most: int = MOST_BYTES) -> Content | None:
        """See ``Tree.read``."""
        key = f"{self.root}/{path}"
        with self._told(key):
            try:
                facts = self.filesystem.info(key)
                if facts["type"] == "directory":
                    raise Odd("no regular file")
                if facts["size"] > MOST_BYTES:
                    raise Odd(f"{facts['size']:,} bytes, more than 1 GiB")
                return Content(self.filesystem.cat_file(key) if facts["size"] <= most else None, ABSENT)
            except FileNotFoundError:
                return None

    def exists(self, path: str) -> bool:
        """See ``Tree.exists``."""
        with self._told(f"{self.root}/{path}"):
            return bool(self.filesystem.exists(f"{self.root}/{path}"))

    @contextlib.contextmanager
    def _told(self, key: str) -> Iterator[None]:
        """Turns what the file system says into problems of the place."""
        try:
            yield
        except (FileNotFoundError, Odd):
            raise
        except PermissionError as error:
            raise unreadable(str(self.filesystem.unstrip_protocol(key)), error) from None
        except Exception as error:  # noqa: BLE001 - each file system has errors of its own
            where, found = str(self.filesystem.unstrip_protocol(key)), f"{type(error).__name__}: {error}"
            raise Failure(
                Problem("unreachable", where, found, "an answer", "run this again"), exit=Exit.REMOTE
            ) from None
