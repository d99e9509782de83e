"""Boards that no result is ported to: shipped as data, ``blocked.yaml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

_FILE = Path(__file__).with_name("blocked.yaml")


@functools.cache
def blocked_boards() -> Mapping[str, str]:
    """Why no result goes to a board, by the dataset's id in lower case."""
    import yaml

    return {dataset.lower(): reason for dataset, reason in yaml.safe_load(_FILE.read_text("utf-8")).items()}
