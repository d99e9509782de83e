"""The line length that a checkout's formatter keeps."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.publish.targets import Target

DEFAULT = 88
"""What ruff and black keep where nothing is configured."""


def line_length(target: Target) -> int:
    """Columns a line may have: of the nearest ``ruff.toml`` or ``pyproject.toml`` up to the repository that says so."""
    for folder in target.path.parents:
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            length = _configured(folder / name)
            if length is not None:
                return length
        if folder == target.repository:
            break
    return DEFAULT


def _configured(path: Path) -> int | None:
    try:
        settings: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tools = settings.get("tool", {}) if path.name == "pyproject.toml" else {"ruff": settings}
    for tool in ("ruff", "black"):
        length = tools.get(tool, {}).get("line-length")
        if isinstance(length, int) and length > 0:
            return length
    return None
