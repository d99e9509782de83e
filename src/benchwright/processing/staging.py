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
from benchwright.files import FileLock

HIDDEN = ".benchwright"
"""Where builds are at work, in the cache: nobody looks for artifacts there."""
_LONGEST = 120


@contextlib.contextmanager
def staging_folder(metadata: MethodMetadata) -> Iterator[Path]:
    """An empty folder on the file system of ``metadata.path``, gone again afterwards unless it was moved.

    What killed builds of the method left is removed first.

    Raises:
        Failure: the method is being built already (code ``locked``, exit 5).
    """
    hidden = _root(metadata) / HIDDEN
    name = _name(metadata)
    with artifact_lock(metadata, "processing"):
        builds = hidden / "staging"
        for left in builds.glob(f"{glob.escape(name)}-*"):
            shutil.rmtree(left)
        folder = builds / f"{name}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def artifact_lock(metadata: MethodMetadata, purpose: str) -> FileLock:
    """The lock that whoever replaces ``metadata.path`` holds meanwhile."""
    path = _root(metadata) / HIDDEN / "locks" / f"{_name(metadata)}.lock"
    return FileLock(path, f"{purpose} of {metadata.method} ({metadata.suite})")


def kept_folder(metadata: MethodMetadata, purpose: str) -> Path:
    """A folder beside the cache's artifacts for what a killed ``purpose`` of the method finds again."""
    return _root(metadata) / HIDDEN / purpose / _name(metadata)


def _root(metadata: MethodMetadata) -> Path:
    if metadata.artifact_dir is not None:
        return Path(metadata.artifact_dir).absolute().parent
    return Path(metadata.cache_root or default_cache_root()).absolute()


def _name(metadata: MethodMetadata) -> str:
    """A name of its own for each method: readable, and a digest where that would be too long for a folder."""
    name = "__".join(quote(part, safe=" +,=@") for part in metadata.key)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"
