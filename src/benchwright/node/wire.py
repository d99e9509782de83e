"""The fork server's messages: JSON lines over pipes.

Requests, on the server's standard input:
    ``{"id", "item", "defaults", "log", "ray_logs"}`` runs an item, ``{"kill": id}`` ends it.
Replies, on a pipe of their own, since fits print to standard output:
    ``{"event": "ready"}``, ``{"event": "unusable", "error"}``, ``{"event": "error", "id", "error"}`` (what the item
    raised) and ``{"event": "ended", "id", "exit", "signal", "wall_s", "peak_rss"}``.
"""

from __future__ import annotations

import json
import os
from typing import Any

_LONGEST_ERROR = 300
_READ_SIZE = 65536


def send(handle: int, message: dict[str, Any]) -> None:
    """Write one message whole. Replies stay below the 4,096 bytes that a pipe takes at once, so writers never mix."""
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(handle, line) :]


def describe(error: BaseException) -> str:
    """An exception as one short line: its type and the first line of what it says."""
    text = str(error).strip().partition("\n")[0]
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__)[:_LONGEST_ERROR]


class Lines:
    """Messages read from a pipe, as they come."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._rest = b""

    def read(self) -> list[dict[str, Any]] | None:
        """The messages that one read brings, perhaps none yet; ``None`` at the end of the pipe."""
        data = os.read(self.handle, _READ_SIZE)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]
