"""The storage of large files: content under its SHA-256, in parts until it is whole."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path

from benchwright.files import atomic_writer


class WrongContent(Exception):
    """What came is not what was announced."""


class LargeFiles:
    """A folder of large files. ``expected`` are those an upload was announced of: SHA-256 → size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected: dict[str, int] = {}
        self._lock = threading.Lock()

    def path(self, sha256: str) -> Path:
        """Where the content lies, or would."""
        return self.folder / sha256

    def size(self, sha256: str) -> int | None:
        """How large a file is that is here; None: it is not."""
        path = self.path(sha256)
        return path.stat().st_size if path.is_file() else None

    def put(self, sha256: str, chunks: Iterable[bytes]) -> None:
        """Take a whole file.

        Raises:
            WrongContent: its digest is another one; nothing is kept.
        """
        digest = hashlib.sha256()
        with atomic_writer(self.path(sha256)) as file:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
            if digest.hexdigest() != sha256:
                raise WrongContent(f"the content has the digest {digest.hexdigest()}")

    def put_part(self, sha256: str, number: int, chunks: Iterable[bytes]) -> str:
        """Take a part; returns its tag."""
        digest = hashlib.md5(usedforsecurity=False)
        with atomic_writer(self._part(sha256, number)) as file:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
        return digest.hexdigest()

    def put_together(self, sha256: str, numbers: list[int]) -> None:
        """Make a file of its parts.

        Raises:
            WrongContent: a part is missing, or together they have another digest.
        """
        with self._lock:
            if self.size(sha256) is not None:
                return
            parts = [self._part(sha256, number) for number in numbers]
            if not all(part.is_file() for part in parts):
                raise WrongContent("a part is missing")
            self.put(sha256, (part.read_bytes() for part in parts))
            for part in parts:
                os.unlink(part)

    def _part(self, sha256: str, number: int) -> Path:
        return self.folder / "parts" / f"{sha256}.{number}"
