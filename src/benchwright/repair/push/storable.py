"""JSON of a run as it may stand in a database: without secrets, places of a machine, and what no database takes."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Mapping
from typing import Any

from benchwright.arena.machine_paths import without_paths
from benchwright.contract import HIDDEN, Redaction, names_a_secret

HIDDEN_HOST = "<host>"
TOO_DEEP = "<nested too deeply>"
LONGEST = 2**20
"""Characters of a text; a database takes 256 MB at once, and nobody reads as much of an exception."""
_DEEPEST = 100
"""Levels; no configuration has as many, and what writes JSON takes about a thousand."""
_HOST = re.compile(r"(?<=://)(?:[^\s/@'\"]*@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d+)?")
_OF_A_CLUSTER = (".local", ".internal", ".lan", ".cluster", ".localdomain")
_ENDPOINT = re.compile(r"(?:^|_)(?:api_base|base_url|endpoint|host|server)$", re.I)
"""Keys whose address is where something served for this run alone: a node, or a tunnel to one."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Storable:
    """Turns what a run recorded into what may be stored; secrets of the environment are looked up once.

    Under a key that names a secret every text is hidden. A NUL or half a surrogate pair becomes U+FFFD, since no
    database takes them; a number that JSON has no form for becomes its text, what is nested too deeply ``TOO_DEEP``. Of
    a text that is too long the first ``LONGEST`` characters stay, and how many there were.
    """

    def __init__(self) -> None:
        self._redact = Redaction()

    def __call__(self, value: Any, key: str = "", depth: int = 0) -> Any:
        """A value of JSON as it may be stored; ``key`` is what it stands under, below ``depth`` others."""
        if isinstance(value, str):
            return self.text(value, key)
        if isinstance(value, Mapping | list | tuple) and depth == _DEEPEST:
            return TOO_DEEP
        if isinstance(value, Mapping):
            return {self.text(str(name)): self(one, str(name), depth + 1) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self(one, key, depth + 1) for one in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        return value

    def text(self, text: str, key: str = "") -> str:
        """A text as it may be stored."""
        if text and key and names_a_secret(key):
            return HIDDEN
        text = without_paths(self._redact(characters(text)))
        if "://" in text:
            everywhere = _ENDPOINT.search(key) is not None
            text = _HOST.sub(lambda found: HIDDEN_HOST if everywhere or _is_inside(found[1]) else found[0], text)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)"


def characters(text: str) -> str:
    """A text in the characters that a database takes."""
    return _UNSTORABLE.sub("\ufffd", text)


def _is_inside(host: str) -> bool:
    """Whether a host's name or number means something within one network alone."""
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." not in host or host.casefold().endswith(_OF_A_CLUSTER)
