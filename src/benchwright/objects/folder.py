"""The object store that needs nothing: a folder, whose files are the objects."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import atomic_writer, inside
from benchwright.files.atomic import sync_folder
from benchwright.objects.content import AtMost, Nowhere, blocks, bounded, content_changed, digest_mismatch, no_object
from benchwright.objects.keys import RESERVED, check_key, check_prefix, is_key
from benchwright.objects.store import PART_SIZE, Chunks, Conflict, ObjectInfo, ObjectStore

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}


class FolderStore(ObjectStore):
    """Objects as files below ``root``, which is made by the first write.

    A write goes to a temporary file in the store's own ``.benchwright`` folder, is synced and renamed. Conditions are
    decided under a lock that a killed process gives up; it is held for the rename, not for the copying. A digest is
    computed when it is asked for, so that it is true of what is there. An ``etag`` is time, inode and size: a rename
    always brings another inode.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()

    @property
    def url(self) -> str:
        """Where the store is."""
        return f"local:{self.root}"

    def head(self, key: str) -> ObjectInfo | None:
        """See ``ObjectStore.head``. The digest is that of the file as it is now."""
        with self._opened(key) as file:
            return None if file is None else self._facts(key, file, Nowhere())

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ``ObjectStore.list``. Links and what is no regular file are no objects."""
        check_prefix(prefix)
        folder = prefix.rpartition("/")[0]
        start = inside(self.root, folder) if folder else self.root
        if start != self.root.resolve() / folder and folder:
            return iter(())
        return self._walk(start, f"{folder}/" if folder else "", prefix)

    def put_stream(
        self,
        key: str,
        chunks: Chunks,
        *,
        sha256: str | None = None,
        size: int | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
    ) -> ObjectInfo:
        """See ``ObjectStore.put_stream``."""
        path = self._path(key)
        with self._temporary(key) as (temporary, file):
            digest = hashlib.sha256()
            for piece in blocks(chunks, PART_SIZE):
                digest.update(piece)
                with self._writes(key):  # around the write alone: an error of the source is not the store's
                    file.write(piece)
            found = digest.hexdigest()
            if sha256 is not None and found != sha256.lower():
                raise content_changed(self._where(key), found, sha256.lower())
            with self._writes(key):
                file.flush()
                os.fsync(file.fileno())
                path.parent.mkdir(parents=True, exist_ok=True)
                with self._locked(self._own_folder()):
                    self._commit(key, temporary, path, if_absent, if_match)
            status = os.fstat(file.fileno())
        return ObjectInfo(key, status.st_size, _etag(status), found)

    def get(self, key: str, path: Path, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """See ``ObjectStore.get``."""
        with atomic_writer(path) as target:
            return self._read(key, bounded(target, most, self._where(key)), sha256)

    def prove(self, key: str, *, sha256: str | None = None, most: int | None = None) -> ObjectInfo:
        """See ``ObjectStore.prove``."""
        return self._read(key, bounded(Nowhere(), most, self._where(key)), sha256)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """See ``ObjectStore.delete``. Folders that become empty stay."""
        path = self._path(key)
        if not path.is_file():
            return
        with self._writes(key), self._locked(self._own_folder()), contextlib.suppress(FileNotFoundError):
            if if_match is not None and _etag(path.stat(follow_symlinks=False)) != if_match:
                raise self._conflict(key, path, if_match)
            os.unlink(path)

    def discard_unfinished(self, prefix: str = "", *, older_than: timedelta = timedelta(days=1)) -> int:
        """See ``ObjectStore.discard_unfinished``. A temporary file has no key: ``prefix`` selects nothing here."""
        check_prefix(prefix)
        own, count = self.root / RESERVED, 0
        for path in own.glob("upload-*") if own.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime >= older_than.total_seconds():
                    path.unlink()
                    count += 1
        return count

    def _read(self, key: str, target: BinaryIO | Nowhere | AtMost, sha256: str | None) -> ObjectInfo:
        with self._opened(key) as file:
            if file is None:
                raise no_object(self._where(key))
            info = self._facts(key, file, target)
        if sha256 is not None and info.sha256 != sha256.lower():
            raise digest_mismatch(self._where(key), str(info.sha256), sha256.lower())
        return info

    @staticmethod
    def _facts(key: str, file: BinaryIO, target: BinaryIO | Nowhere | AtMost) -> ObjectInfo:
        status = os.fstat(file.fileno())
        digest = _copy(blocks(file, PART_SIZE), target)
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        return ObjectInfo(key, status.st_size, _etag(status), digest, modified)

    @contextlib.contextmanager
    def _opened(self, key: str) -> Iterator[BinaryIO | None]:
        path = self._path(key)
        try:
            # a named pipe would keep an ordinary open waiting for ever
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            yield None
            return
        except OSError as error:
            raise self._unusable(key, error) from None
        with os.fdopen(handle, "rb") if stat.S_ISREG(os.fstat(handle).st_mode) else _closing(handle) as file:
            yield file

    def _path(self, key: str) -> Path:
        """The file of a key, which no link may stand in for."""
        path = inside(self.root, check_key(key))
        if path != self.root.resolve() / key:
            fix = "put what the link leads to in its place"
            raise Failure(Problem("path-escape", key, "reached through a link", "a plain path", fix), exit=Exit.USAGE)
        return path

    @contextlib.contextmanager
    def _temporary(self, key: str) -> Iterator[tuple[Path, BinaryIO]]:
        """A new file of this store's, which is gone in the end unless it was renamed."""
        with self._writes(key):
            path = self._own_folder() / f"upload-{uuid.uuid4().hex}"
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                yield path, file
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _own_folder(self) -> Path:
        own = self.root / RESERVED
        own.mkdir(parents=True, exist_ok=True)
        return own

    @staticmethod
    @contextlib.contextmanager
    def _locked(own: Path) -> Iterator[None]:
        handle = os.open(own / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _commit(self, key: str, temporary: Path, path: Path, if_absent: bool, if_match: str | None) -> None:
        if if_match is not None and _present(path) != if_match:
            raise self._conflict(key, path, if_match)
        if if_absent:
            self._link(key, temporary, path)
        else:
            os.replace(temporary, path)
        sync_folder(path.parent)

    def _conflict(self, key: str, path: Path, if_match: str) -> Conflict:
        return Conflict.between(self._where(key), _present(path), if_match)

    def _link(self, key: str, temporary: Path, path: Path) -> None:
        """Give the file its name if that is free: also against writers that know nothing of the lock."""
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise Conflict(self._where(key), "an object", "none under this key") from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                raise Conflict(self._where(key), "an object", "none under this key") from None
            os.replace(temporary, path)

    def _walk(self, folder: Path, base: str, prefix: str) -> Iterator[ObjectInfo]:
        """Files below a folder, in the order of whole keys: "a-b" stands before "a/b"."""
        try:
            with os.scandir(folder) as entries:
                named = [(entry, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._unusable(base, error) from None
        keys = [(f"{base}{entry.name}" + ("/" if is_folder else ""), entry) for entry, is_folder in named]
        for key, entry in sorted(keys, key=lambda pair: os.fsencode(pair[0])):
            if not is_key(key.removesuffix("/")):
                continue
            if key.endswith("/"):
                if key.startswith(prefix) or prefix.startswith(key):
                    yield from self._walk(Path(entry.path), key, prefix)
            elif key.startswith(prefix) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    yield ObjectInfo(key, status.st_size, _etag(status))

    @contextlib.contextmanager
    def _writes(self, key: str) -> Iterator[None]:
        """Turns what the file system says into problems of the store."""
        try:
            yield
        except OSError as error:
            raise self._unusable(key, error) from error

    def _unusable(self, key: str, error: OSError) -> Failure:
        found = (error.strerror or str(error)).lower()
        fix = "make room or correct the permissions there, then run this again"
        if error.errno in {errno.EEXIST, errno.ENOTDIR, errno.EISDIR}:
            fix = "in a folder one key cannot be both an object and the start of another: choose another key"
        return Failure(
            Problem("folder-unusable", self._where(key), found, "a folder to write to", fix), exit=Exit.ENVIRONMENT
        )

    def _where(self, key: str) -> str:
        return f"{self.url}/{key}"


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[None]:
    os.close(handle)
    yield None


def _copy(pieces: Iterator[bytes], target: BinaryIO | Nowhere | AtMost) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
        target.write(piece)
    return digest.hexdigest()


def _present(path: Path) -> str | None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return _etag(path.stat(follow_symlinks=False))
    return None


def _etag(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns:x}-{status.st_ino:x}-{status.st_size:x}"
