"""Suggestions for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable

from benchwright.contract import some

_SHOWN = 40


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to type instead of ``word``: the closest known names, or else the first 40 of all of them, sorted."""
    from difflib import get_close_matches

    names = sorted(set(known))
    by_folded = {name.casefold(): name for name in names}
    if word.casefold() in by_folded:
        return f"did you mean {by_folded[word.casefold()]!r}?"
    close = [by_folded[folded] for folded in get_close_matches(word.casefold(), by_folded, n=3, cutoff=0.6)]
    if close:
        return "did you mean " + " or ".join(repr(name) for name in close) + "?"
    if not names:
        return "there are none"
    return f"one of {some(names, _SHOWN)}"
