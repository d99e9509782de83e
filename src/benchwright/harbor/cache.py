"""What was read of job folders, remembered outside of them: a second look costs one ``stat`` a trial."""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import tempfile
import zlib
from functools import cache
from pathlib import Path

import msgspec

from benchwright.harbor.job import Job

_MODULES = Path(__file__).parent


class Scan(msgspec.Struct, kw_only=True):
    """What one look at a job folder found.

    ``rules`` tells the version of the reading code and ``place`` the folder, so that neither is taken for another.
    ``roots`` are the stamps of the folder and of the job's own files, ``stamps`` those of the results in its folders
    ``names``, one after another. A name cannot have a ``/``, which is between them.
    """

    rules: str
    place: str
    roots: bytes
    names: str
    stamps: bytes
    job: Job

    @property
    def folders(self) -> list[str]:
        """The names of the folders inside."""
        return self.names.split("/") if self.names else []


_PACK = msgspec.msgpack.Encoder()
_UNPACK = msgspec.msgpack.Decoder(Scan)
_CHECK = struct.Struct("<I")


class ScanCache:
    """The scans of job folders below one folder: a file for each, written whole, so that any number may write at once.

    A file is the CRC-32 of a packed scan, four bytes, and the scan.

    It is never in the way: what cannot be read, is damaged or was written by another version counts as not there, and
    what cannot be written is not kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def default(cls) -> ScanCache | None:
        """The user's own, in the folder that XDG_CACHE_HOME names or else in ``~/.cache``; None without a home."""
        root = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not root.is_absolute():
            try:
                root = Path.home() / ".cache"
            except RuntimeError:  # as in a container, for a user that it does not know
                return None
        return cls(root / "benchwright" / "harbor")

    def get(self, place: str) -> Scan | None:
        """The last look at a folder, by its path without links; None where there is none to rely on."""
        try:
            content = memoryview(self._file(place).read_bytes())
            if _CHECK.pack(zlib.crc32(content[_CHECK.size :])) != content[: _CHECK.size]:
                return None
            scan = _UNPACK.decode(content[_CHECK.size :])
        except (OSError, ValueError):
            return None
        return scan if (scan.rules, scan.place) == (rules(), place) else None

    def put(self, scan: Scan) -> None:
        """Remember a look at a folder, instead of the last."""
        with contextlib.suppress(OSError, UnicodeError):  # a name that is not UTF-8 cannot be packed
            content = _PACK.encode(scan)
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".scan-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_CHECK.pack(zlib.crc32(content)))
                    file.write(content)
                os.replace(temporary, self._file(scan.place))  # not synced: what a crash damages fails the checksum
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise

    def _file(self, place: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(place)).hexdigest()[:40]}.msgpack"


@cache
def rules() -> str:
    """What tells one version of the reading code from another: a scan holds its judgement of every trial."""
    modules = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in _MODULES.glob("*.py"))
    return hashlib.sha256(repr(modules).encode()).hexdigest()
