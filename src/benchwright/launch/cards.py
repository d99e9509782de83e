"""The GPUs of this machine, as its driver's own tool lists them: no framework is imported for it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

_QUERY = ("nvidia-smi", "--query-gpu=memory.total,mig.mode.current", "--format=csv,noheader,nounits")
_SECONDS = 20
_MIB_PER_GB = 1024
_HIDDEN = ("", "-1", "NoDevFiles")


@dataclass(frozen=True)
class Cards:
    """How many CUDA cards a machine has, and the memory of the smallest in GB, rounded down; None is not known."""

    number: int = 0
    memory: int | None = None


def cards_here() -> Cards:
    """The cards that a fit on this machine would see: none without a driver, or when CUDA_VISIBLE_DEVICES hides all.

    The memory of a card that is cut into slices (MIG) says nothing about a slice, so it is not known.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in _HIDDEN:
        return Cards()
    try:
        done = subprocess.run(_QUERY, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return Cards()
    rows = [[word.strip() for word in line.split(",")] for line in done.stdout.splitlines() if line.strip()]
    whole = all(len(row) == 2 and row[0].isdecimal() and row[1] != "Enabled" for row in rows)
    if not rows or not whole:
        return Cards(len(rows))
    return Cards(len(rows), min(int(row[0]) for row in rows) // _MIB_PER_GB)
