"""Why a part of a trial, or all of it, is in no row."""

from __future__ import annotations


class Unexported(Exception):
    """The text says why, in the middle of a sentence, and names no place outside of the trial."""
