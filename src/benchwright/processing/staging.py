"""The folder that an artifact is made in, and the lock that keeps two makers of one method's artifact apart."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from benchwright.arena import MethodMetadata, default_cache_root
from benchwright.contract import Exit, Failure, Problem
from benchwright.files import FileLock

HIDDEN = ".benchwright"
"""Where builds are at work, in the cache: nobody looks for artifacts there."""
_LONGEST = 120


@contextlib.contextmanager
def staging_folder(metadata: MethodMetadata) -> Iterator[Path]:
    """An empty folder on the file system of ``metadata.path``, gone again afterwards unless it was moved.

    What killed builds of the method left is removed first.

    Raises:
        Failure: the method is being built already (code ``locked``, exit 5); or as `check_file_system`.
    """
    hidden = _root(metadata) / HIDDEN
    name = _name(metadata)
    with artifact_lock(metadata, "processing"):
        builds = hidden / "staging"
        for left in builds.glob(f"{glob.escape(name)}-{'[0-9a-f]' * 8}"):  # not those of a suite whose name goes on
            shutil.rmtree(left)
        folder = builds / f"{name}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        try:
            check_file_system(folder, metadata)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def check_file_system(folder: Path, metadata: MethodMetadata) -> None:
    """Refuse a place that ``folder`` cannot be moved to, such as a disk mounted where the cache has its artifacts.

    Raises:
        Failure: ``metadata.path`` will be on another file system (code ``other-file-system``, exit 3).
    """
    there = metadata.path.resolve()
    while not there.exists():
        there = there.parent
    if there.stat().st_dev != folder.stat().st_dev:
        raise Failure(
            Problem(
                "other-file-system",
                str(metadata.path),
                f"on another file system than {folder}, which could not be moved there whole",
                "a cache on one file system",
                "mount or link the whole cache there, or name a folder on that disk with --cache-root",
            ),
            exit=Exit.ENVIRONMENT,
        )


def artifact_lock(metadata: MethodMetadata, purpose: str) -> FileLock:
    """The lock that whoever replaces ``metadata.path`` holds meanwhile."""
    path = _root(metadata) / HIDDEN / "locks" / f"{_name(metadata)}.lock"
    return FileLock(path, f"{purpose} of {metadata.method} ({metadata.suite})")


def kept_folder(metadata: MethodMetadata, purpose: str) -> Path:
    """A folder beside the cache's artifacts for what a killed ``purpose`` of the method finds again."""
    return _root(metadata) / HIDDEN / purpose / _name(metadata)


def _root(metadata: MethodMetadata) -> Path:
    """The folder beside the artifacts, of which they may be a link to another disk."""
    artifacts = metadata.artifact_dir or Path(metadata.cache_root or default_cache_root()) / "artifacts"
    return Path(artifacts).resolve().parent


def _name(metadata: MethodMetadata) -> str:
    """A name of its own for each method: readable, and a digest where that would be too long for a folder."""
    name = "__".join(quote(part, safe=" +,=@") for part in metadata.key)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"
