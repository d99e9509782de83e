"""Marks of notes: which characters they are, how they stand at a number or a header, and what explains them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchwright.hub.sources.page import LOWERED, RAISED, SYMBOLS, shown

FIRM_SYMBOLS = SYMBOLS.replace("*", "").replace("#", "")
"""Those that are hardly ever anything else."""

_RAISED = rf"{RAISED}([^{RAISED}{LOWERED}]{{1,20}}){LOWERED}"
_EACH = re.compile(rf"([{SYMBOLS}])\1*|[^{SYMBOLS},;\s]+")
_FIRM = re.compile(f"[{FIRM_SYMBOLS}]+")
_AT_END = re.compile(rf"(?:[{FIRM_SYMBOLS}*]+|(?<=[\w)])\^+)(?=$|[\s/,;)\]])")
_AT_BEGIN = re.compile(rf"(?:^|(?<=/ ))[{FIRM_SYMBOLS}*]+(?=\w)")
_WORD_RAISED = re.compile(r"(?<=[\w)%][\w)%])\^([\w*-]{1,20})(?=$|[\s/,;)])|\[\^([\w-]{1,20})\]")
_SENTENCE_RAISED = re.compile(rf"(?<=[\w)%.!?,;:'\"]){_RAISED}[\s.!?,;)'\"*]*$")

_LEGEND = re.compile(
    rf"\s*(?:[(\[]?([{SYMBOLS}]{{1,3}})[)\]]?|\(?(\^{{1,3}})(?=[^\w{{^]|[A-Z])\)?|{_RAISED}|\[\^?([\w-]{{1,20}})\])"
    rf"(?=[^\w{RAISED}]*(?:\d+ )?[^\W\d_]{{2}})"
)
_NEXT_LEGEND = re.compile(rf"[,;.]?\s+(?=[(\[]?[{FIRM_SYMBOLS}]|[*^]\s?[:=\w]|{RAISED})")
_EXPLAINS = re.compile(
    r"\b(?:denot\w+|indicat\w+|mark(?:s|ed)|means?|signif\w+|represents?|stands? for|flagged"
    r"|(?:numbers?|scores?|results?|entries|values|figures|cells|rows|models|those|ones) with)\b",
    re.I,
)
_CALLED = {
    "*": r"\bast[eé]risks?\b|\bstarred\b",
    "†": r"\b(?<!double )(?<!double-)daggers?\b",
    "‡": r"\bdouble[- ]daggers?\b",
    "^": r"\bcarets?\b",
}


def each(marks: str) -> list[str]:
    """The single marks of those at one place: ``†‡`` are two, ``**`` is one, ``1,2`` are two."""
    return [found[0] for found in _EACH.finditer(marks)]


def bare(mark: str) -> str:
    """A mark without what stands around it: ``[^1]`` is ``1``, and a caret by itself is one."""
    return mark.strip(f" ^()[]{RAISED}{LOWERED}") or "^" * mark.count("^")


def in_cell(text: str) -> list[str]:
    """The marks in a cell of a table, wherever they stand in it; asterisk and caret at its beginning or its end."""
    return _firm(text) or [edge for edge in (text[:1], text[-1:]) if edge in ("*", "^")]


def in_header(header: str) -> Iterator[str]:
    """The marks at the words of a header."""
    for pattern in (_AT_END, _AT_BEGIN):
        yield from (one for found in pattern.finditer(header) for one in each(found[0]))


def at_end(caption: str) -> list[str]:
    """The mark at the last word of a caption; elsewhere in it one is explained."""
    found = re.search(rf"(?<=[\w)])[{FIRM_SYMBOLS}*^]+$", caption.rstrip(". "))
    return each(found[0]) if found else []


def raised_in(header: str) -> list[str]:
    """What is raised at a word of a header; a note's mark only where a note explains it: ``m²`` has none."""
    return [one for found in _WORD_RAISED.finditer(header) for one in each(found[1] or found[2])]


def raised_at_end(sentence: str) -> list[str]:
    """What is raised at the end of a sentence, where the marks of its notes are."""
    raised = _SENTENCE_RAISED.search(sentence)
    return each(bare(raised[1])) if raised else []


def in_sentence(sentence: str) -> list[str]:
    """The marks of a sentence: symbols anywhere, and what is raised at its end."""
    return [*_firm(sentence), *raised_at_end(sentence)]


def explained(sentence: str) -> tuple[str, ...]:
    """The marks that a sentence explains, as notes do: ``† measured by ...``, ``Numbers with † are ...``."""
    begin = _LEGEND.match(sentence)
    if begin:
        return tuple(each(bare(next(one for one in begin.groups() if one))))
    if not _EXPLAINS.search(sentence):
        return ()
    called = [mark for mark, words in _CALLED.items() if re.search(words, sentence, re.I)]
    loose = re.findall(r"(?:^|[\s(\"'])([*^])(?=$|[\s)\"',.:])", sentence)
    return tuple(dict.fromkeys([*_firm(sentence), *loose, *called]))


def notes(sentence: str) -> list[str]:
    """A sentence, or the single notes where it is several: ``† ours, ‡ with tools``."""
    if _LEGEND.match(sentence) is None:
        return [sentence]
    return [one for one in _NEXT_LEGEND.split(sentence) if one.strip()]


def legends(sentences: Iterable[str], mark: str) -> list[str]:
    """What sentences say of a mark."""
    return [shown(note) for one in sentences for note in notes(one) if mark in explained(note)]


def _firm(text: str) -> list[str]:
    return [one for found in _FIRM.finditer(text) for one in each(found[0])]
