"""Lengths of time as people read them."""

from __future__ import annotations


def length(seconds: float) -> str:
    """``45 min``, ``20 s``, ``0.5 s``: in seconds what is shorter than a minute."""
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.2g} s"
