"""The checkout that a file belongs to, and what git says of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SECONDS = 60


def checkout_around(folder: Path) -> Path:
    """The nearest folder with ``.git`` from ``folder`` upwards, or else the folder itself."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def git(folder: Path, *words: str) -> bytes | None:
    """What ``git WORDS`` prints in a folder; None where it fails, takes more than a minute, or is not installed."""
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
