"""Signs that a number is not the model's own result on the board's terms: words, by kind, in ``signs.yaml``.

A sign decides nothing: it is a question for a person, with the sentence that asks it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.hub.sources.find import sentences
from benchwright.hub.sources.numbers import MARKS
from benchwright.hub.sources.page import LOWERED, RAISED, Page, shown

_SIGNS = Path(__file__).with_name("signs.yaml")
_LONGEST_SENTENCE = 2000
_LONGEST_QUOTE = 240
_EVALUATION = re.compile(
    r"\b(?:scor|result|evaluat|benchmark|accura|report|measure|metric|number|setting|protocol|perform|leaderboard)",
    re.I,
)
_PART = re.compile(
    r"\b(\d[\d,]*)\s?(?:/|of(?: the)?|out of)\s?(\d[\d,]*)"
    r" (?:\w+ )?(?:tasks|problems|questions|instances|samples|examples|items)\b",
    re.I,
)
_LEGEND = re.compile(rf"\s*(?:([{MARKS}]+)|{RAISED}([^{RAISED}{LOWERED}]{{1,4}}){LOWERED})")


@dataclass(frozen=True)
class Kind:
    """A kind of signs: what to ask, whether a sign anywhere on the page counts, and the words."""

    code: str
    ask: str
    everywhere: bool
    words: re.Pattern[str]
    but: re.Pattern[str] | None


@dataclass(frozen=True)
class Sign:
    """A sentence with a sign. ``mark`` is that of the note which it is; ``about_results``: it speaks of evaluation."""

    code: str
    quote: str
    mark: str = ""
    about_results: bool = False


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order of ``signs.yaml``."""
    import yaml

    told = yaml.safe_load(_SIGNS.read_text("utf-8"))
    return tuple(
        Kind(code, one["ask"], one["where"] == "page", _any(one["words"]), _any(one["but"]) if "but" in one else None)
        for code, one in told.items()
    )


def signs_in(texts: Iterable[str]) -> Iterator[Sign]:
    """The signs in plain texts, sentence by sentence."""
    for text in texts:
        for sentence in sentences(text):
            mark = legend_mark(sentence)
            for said in _stretches(shown(sentence)):
                for kind in kinds():
                    place = _place_of_sign(kind, said)
                    if place is not None:
                        yield Sign(kind.code, _around(said, place), mark, bool(_EVALUATION.search(said)))


@functools.lru_cache(maxsize=64)
def signs_of(page: Page) -> tuple[Sign, ...]:
    """The signs of a page that count wherever they are, each sentence once."""
    everywhere = {kind.code for kind in kinds() if kind.everywhere}
    found = (sign for sign in signs_in(page.texts()) if sign.code in everywhere or sign.about_results)
    return tuple(dict.fromkeys(found))


def legend_mark(sentence: str) -> str:
    """The mark that a sentence explains, as notes begin: ``† measured by ...``; "" for any other sentence."""
    found = _LEGEND.match(sentence)
    return next((one.strip() for one in found.groups() if one), "") if found else ""


def legends(texts: Iterable[str], mark: str) -> list[str]:
    """What texts say of a mark."""
    return [shown(one) for text in texts for one in sentences(text) if legend_mark(one) == mark]


def _place_of_sign(kind: Kind, said: str) -> int | None:
    """Where a sign is; None where there is none."""
    rest = kind.but.sub(lambda found: " " * len(found[0]), said) if kind.but else said
    found = kind.words.search(rest)
    if found is None and kind.code == "subset":
        found = next((one for one in _PART.finditer(said) if _number(one[1]) < _number(one[2])), None)
    return None if found is None else found.start()


def _stretches(said: str) -> Iterator[str]:
    """A sentence, or pieces of one that is too long to be one, each with the end of the one before."""
    step = _LONGEST_SENTENCE - _LONGEST_QUOTE
    for begin in range(0, max(len(said) - _LONGEST_QUOTE, 1), step):
        yield said[begin : begin + _LONGEST_SENTENCE]


def _around(said: str, place: int) -> str:
    begin = max(min(place - _LONGEST_QUOTE // 2, len(said) - _LONGEST_QUOTE), 0)
    end = begin + _LONGEST_QUOTE
    return f"{'...' if begin else ''}{said[begin:end]}{'...' if end < len(said) else ''}"


def _number(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _any(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in words), re.I)
