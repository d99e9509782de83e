"""The paths of a run on this machine."""

from __future__ import annotations

import time
from pathlib import Path

from benchwright.files import RunPaths


def run_lock(paths: RunPaths) -> Path:
    """Held while items of a benchmark run on this machine, and while a set-up replaces what they read."""
    return paths.setup / ".run.lock"


def new_log_folder(paths: RunPaths) -> Path:
    """Make the log folder of a run that starts now: ``local-<date>-<time>``, numbered when there is one of that second.

    Raises:
        OSError: it cannot be made.
    """
    name = time.strftime("local-%Y%m%d-%H%M%S")
    number = 1
    while True:
        folder = paths.logs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder
