"""The runner's result cache with what it lacks: atomic writes, and a hit only for a file that is whole."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

from tabarena.utils.cache import CacheFunctionPickle
from tabarena.utils.pickle_utils import dumps_pickle

from benchwright.files import atomic_writer

FAILURES_NAME = "model_failures.csv"
_GZIP_MAGIC = b"\x1f\x8b"
_PICKLE_START, _PICKLE_STOP = b"\x80", b"."


class AtomicResultCache(CacheFunctionPickle):  # type: ignore[misc]
    """One item's ``results.pkl``.

    Compression is the runner's own decision (``TABARENA_DISABLE_RESULT_COMPRESSION``). ``include_self_in_call`` is on,
    so that the runner leaves ``model_failures.csv`` beside the place of a result that failed.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(cache_name="results", cache_path=folder, include_self_in_call=True, verbose=False)

    @property
    def exists(self) -> bool:
        """Whether a whole result is there; a truncated one counts as missing and is written over."""
        return is_whole_pickle(Path(self.cache_file))

    def save_cache(self, data: Any) -> None:
        """Write the result under a temporary name, synced and renamed; an earlier failure's report goes away."""
        content = dumps_pickle(data, compress=self.compress)
        with atomic_writer(self.cache_file) as file:
            file.write(content)
        Path(self.cache_path, FAILURES_NAME).unlink(missing_ok=True)


def is_whole_pickle(path: Path) -> bool:
    """Whether a file is a complete pickle, gzipped or plain, judged without unpickling it.

    Gzip's own length and checksum are verified; the pickle has to begin with a protocol mark and end with its stop
    mark. About a millisecond for a result of a few hundred kilobytes.
    """
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return False
    return content.startswith(_PICKLE_START) and content.endswith(_PICKLE_STOP)
