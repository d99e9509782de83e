"""Points in time as Harbor's versions write them."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any


def moment(text: Any) -> datetime | None:
    """The aware time that a field holds, None where it holds none, or one that is no time in every zone.

    Versions up to 0.1.45 write the local time of their machine without saying so, and so does every version for the
    job as a whole: such a time is taken to be local here.
    """
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return aware if MINYEAR < aware.year < MAXYEAR else None


def seconds(start: Any, end: Any) -> float | None:
    """From one field's time to another's, in seconds; None where one is missing."""
    first, last = moment(start), moment(end)
    return (last - first).total_seconds() if first and last else None
