"""Runs the compiled kernels: numba is imported with the first call, and its cache lives in the user's cache folder."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE_MISSING = "package-missing"


def run(kernel: str, *arguments: Any) -> Any:
    """The result of a kernel of ``kernels.py``.

    A cache that cannot be read (a file cut short by a crash) or written (a full disk) is emptied and done without.

    Raises:
        Failure: numba is not installed (exit 3).
    """
    dispatcher = getattr(kernels(), kernel)
    try:
        return dispatcher(*arguments)
    except (OSError, EOFError, pickle.UnpicklingError):  # kernels touch no files: this is numba's cache
        _empty(Path(dispatcher.stats.cache_path))
        return dispatcher(*arguments)


@functools.cache
def kernels() -> ModuleType:
    """The module with the kernels, which imports numba.

    Raises:
        Failure: numba is not installed (exit 3).
    """
    from benchwright.contract import Exit, Failure, Problem

    try:
        import numba
    except ImportError as error:
        raise Failure(
            Problem(
                PACKAGE_MISSING,
                "numba",
                "not installed",
                "numba, to fit ensembles",
                "make setup in a checkout, or pip install numba",
            ),
            exit=Exit.ENVIRONMENT,
        ) from error
    with _cache_in(numba.config, cache_folder()):
        return importlib.import_module("benchwright.processing.ensemble.kernels")


def cache_folder() -> Path | None:
    """Where compiled kernels are kept: ``NUMBA_CACHE_DIR``, else ``benchwright/numba`` in the user's cache folder.

    None for a user without a home, as in some containers; numba then looks for a place of its own.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "benchwright" / "numba"
    except RuntimeError:
        return None


@contextlib.contextmanager
def _cache_in(config: Any, folder: Path | None) -> Iterator[None]:
    """Point numba's cache at ``folder`` while our functions are declared, and nobody else's."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)
        folder.mkdir()
