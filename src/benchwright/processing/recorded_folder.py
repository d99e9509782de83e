"""A folder that is being filled: each file's size and digest are taken as it is written."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from benchwright.files import naming_full_disks
from benchwright.processing.sidecar import FileFacts


class RecordedFile:
    """A file that is written from start to end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        self._digest = hashlib.sha256()

    def write(self, content: bytes | memoryview) -> int:
        """Append ``content``; its length in bytes."""
        self._digest.update(content)
        self._size += len(content)
        return self._file.write(content)

    @property
    def facts(self) -> FileFacts:
        """What has been written so far."""
        return FileFacts(self._size, self._digest.hexdigest())


class RecordedFolder:
    """Files below ``root``, by their paths in it, with what is known of each in ``files``.

    They are neither synced nor renamed one by one: the folder is put in its place as a whole, and its digests tell
    later whether all of it reached the disk.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, FileFacts] = {}

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[RecordedFile]:
        """A new file. Missing folders are made."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming_full_disks(path), open(path, "wb") as file:
            recorded = RecordedFile(file)
            yield recorded
        self.files[name] = recorded.facts

    def write(self, name: str, content: bytes) -> None:
        """A new file with this content."""
        with self.open(name) as file:
            file.write(content)
