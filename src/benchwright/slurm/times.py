"""Times and lengths of time as SLURM prints them."""

from __future__ import annotations

import re
import time

_LENGTH = re.compile(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")
_ENDLESS = {"UNLIMITED", "INFINITE"}


def parse_time(text: str) -> float | None:
    """Seconds since the epoch of ``2026-11-30T09:02:22`` in this machine's zone; None of ``N/A`` and ``Unknown``."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return None


def parse_length(text: str) -> float | None:
    """Seconds of ``7-00:00:00``, ``02:00:00``, ``1-12`` or ``30`` (minutes); infinity of ``UNLIMITED``, else None."""
    if text in _ENDLESS:
        return float("inf")
    match = _LENGTH.fullmatch(text)
    if not match:
        return None
    parts = [int(part) for part in match["parts"].split(":")]
    if match["days"] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        return float(((int(match["days"]) * 24 + hours) * 60 + minutes) * 60 + seconds)
    if len(parts) < 3:
        minutes, seconds = (*parts, 0)[:2]
        return float(minutes * 60 + seconds)
    return float((parts[0] * 60 + parts[1]) * 60 + parts[2])
