"""What kind of run it is: by the words of its tag, which are data, and never by where its traces went."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_SHIPPED = Path(__file__).with_name("run_kinds.yaml")


def is_measurement(tag: str, names: Iterable[str]) -> bool:
    """Whether a run measures the machinery: its tag has a word that says so, and that is in none of its ``names``."""
    return bool(_words(tag) & _measurement() - {word for name in names for word in _words(name)})


def _words(name: str) -> frozenset[str]:
    return frozenset(re.split(r"[^a-z0-9]+", name.casefold()))


@cache
def _measurement() -> frozenset[str]:
    from benchwright.harbor.taxonomy import read_yaml

    return frozenset(read_yaml(_SHIPPED, "lists of words")["measurement"])
