"""Snapshots: what cited pages said when they were checked, kept by the digest of their bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchwright.contract import Failure
from benchwright.files import read_json, write_bytes, write_json

_SUFFIXES = {"text/html": ".html", "application/xhtml+xml": ".html", "text/markdown": ".md", "text/plain": ".txt"}
_MOST_BYTES = 2**22


class Snapshots:
    """A folder of snapshots: each content once, as ``<SHA-256><suffix>``, and what an address said when in ``index/``.

    Files appear whole, so that any number of runs may keep the same one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, address: str, data: bytes, media: str, revision: str | None = None) -> str | None:
        """Keep what an address says now; returns the digest of what it said when it was last kept, where that differs.

        Raises:
            OSError: the folder cannot be written.
        """
        digest = sha256(data).hexdigest()
        path = self.folder / f"{digest}{_SUFFIXES.get(media, '.bin')}"
        if not path.exists():
            write_bytes(path, data)
        index = self._index(address)
        known = self._known(index)
        last = known[-1]["sha256"] if known else None
        if last != digest:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            entry = {"sha256": digest, "bytes": len(data), "media": media, "revision": revision, "seen": when}
            write_json(index, {"address": address, "contents": [*known, entry]}, indent=2)
        return last if last != digest else None

    def _index(self, address: str) -> Path:
        name = re.sub(r"[^a-z0-9]+", "-", address.lower().partition("://")[2] or address.lower()).strip("-")[:60]
        return self.folder / "index" / f"{name}-{sha256(address.encode()).hexdigest()[:12]}.json"

    def _known(self, index: Path) -> list[dict[str, Any]]:
        """What was kept of an address; nothing where the record is spoilt: the contents are there all the same."""
        try:
            told = read_json(index, limit=_MOST_BYTES)["contents"]
            return [one for one in told if isinstance(one["sha256"], str)]
        except (FileNotFoundError, Failure, TypeError, KeyError):
            return []
