"""Progress of work that is counted in bytes, shown in mebibytes."""

from __future__ import annotations

from threading import Lock

from benchwright.contract import Progress

_MEBIBYTE = 2**20


class ByteCount:
    """Adds up the bytes done of ``total`` and shows them; safe to call from several threads.

    ``note`` names what is at work. The number of whole mebibytes is shown, of which there is always at least one.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.note = ""
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = Lock()

    def __call__(self, size: int) -> None:
        """Count ``size`` more bytes."""
        with self._lock:
            self._done = min(self._done + size, self._total)
            if self._progress is not None:
                total = max(self._total // _MEBIBYTE, 1)
                shown = total if self._done == self._total else min(self._done // _MEBIBYTE, total - 1)
                self._progress(shown, total, note=self.note)
