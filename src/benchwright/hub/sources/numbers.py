"""Numbers in a text, each as a whole: 9.36 is not in 19.365, nor is 62.7 in 62.7B, in v62.7, or in 1.62.7."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from benchwright.hub.sources.marks import FIRM_SYMBOLS, bare
from benchwright.hub.sources.page import FIRM, LOWERED, RAISED, SYMBOLS, THIN

_GROUPING = f",'\u2019{THIN}{FIRM}"
_RUN = re.compile(rf"(?:(?<![0-9A-Za-z\])])\.)?[0-9]+(?:[.{_GROUPING}][0-9]+)*")
_GROUPED = re.compile(rf"[0-9]{{1,3}}(?P<mark>[{_GROUPING}])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*(?:\.[0-9]+)?")
_SIMPLE = re.compile(r"[0-9]*\.?[0-9]+")
_COMMA = re.compile(r"([0-9]+),([0-9]+)")
_SECONDS = r"(?:s|sec|secs|pts?)(?![0-9A-Za-z_])"
"""Units that may stand at a number without a space."""

_ABOUT = (
    r"(?:about|around|roughly|approximately|nearly|over|up to|more than|as much as"
    r"|an? (?:average|absolute|relative)(?: of)?)"
)
_BEFORE_DIFFERENCE = re.compile(
    rf"[+Δ∆]\s?$|[↑↓▲▼]$|\bby (?:{_ABOUT} )?$"
    r"|\b(?:gain|improvement|increase|drop|decrease|reduction|difference|gap|delta|boost|lead|rise|lift|jump)s? of"
    rf" (?:{_ABOUT} )?$",
    re.I,
)
_BEFORE_MARGIN = re.compile(r"(?:±|\+/-|\\pm)\s{0,2}\{?$")
_BEFORE_NAME = re.compile(r"(?:[A-Za-z]-?|[A-Za-z0-9]_|@)$")
_COMMAND = re.compile(r"\\[A-Za-z]+$")
_BEFORE_MINUS = re.compile(r"(?:^|[\s(\[{|=:,;$~])[-\u2013]$")
_BEFORE_ABOUT = re.compile(
    r"(?:[~\u2248\u223c<>\u2264\u2265]|\\(?:approx|sim|leq?|geq?)"
    r"|\b(?:about|around|roughly|approximately|nearly|over|up to))\s?$",
    re.I,
)
_BEFORE_POWER = re.compile(r"(?:\^\{?|_\{)\s?[-+]?$")
_BEFORE_TIME = re.compile(rf"\b(?:took|takes?|taking|within|lasted|lasts) (?:{_ABOUT} )?$", re.I)
_BEFORE_IN_ADDRESS = re.compile(r"(?:https?://|\bwww\.|\b(?:doi|arxiv)\.org/)[^\s<>\"|]*$", re.I)
_LONGEST_ADDRESS = 300
_BEFORE_DATE = re.compile(r"[0-9]([-/:.])[0-9]+\1$|[0-9]:$")
_BETWEEN_DATE = re.compile(r"[0-9]([-/:.])#\1[0-9]")
_AFTER_DATE = re.compile(r"([-/:.])[0-9]+\1[0-9]|:[0-9]")
_AFTER_NAME = re.compile(rf"(?!{_SECONDS})[A-Za-z]|-[A-Za-z]|_[A-Za-z0-9]|\u00d7")
_AFTER_DIFFERENCE = re.compile(
    r"\s?(?:pp\b|%p\b|p\.p\.|percentage[- ]points?)"
    r"|\s?(?:%|points?|pts?) (?:(?:\w+ )?(?:improvement|gain|increase|reduction|drop)"
    r"|(?:(?:absolute|relative|much) )?(?:higher|lower|better|worse|above|below|ahead))\b",
    re.I,
)
_AFTER_TIME = re.compile(r"\s?(?:seconds?|secs?|s|minutes?|mins?|hours?|hrs?|days?)\b", re.I)
_INTERVAL = re.compile(
    r"(?P<mid>[0-9]*\.?[0-9]+)\s?\\?%?[^0-9\[(\n]{0,3}[\[(]\s?"
    r"(?:[0-9]{2}\s?\\?%\s?(?:CI|confidence interval)[\s:,=]{0,3}[\[(]?\s?)?"
    r"(?P<low>[0-9]*\.?[0-9]+)\s?\\?%?\s?(?:[,;\u2013-]|to\b)\s?(?P<high>[0-9]*\.?[0-9]+)\s?\\?%?\s?[\])]",
    re.I,
)
"""A number with the bounds that it is thought to be within: ``60.1 [57.5, 62.7]``."""
_LONGEST_INTERVAL = 60
_AFTER_POWER = re.compile(r"\^\{?-?[0-9]")
_AFTER_PERCENT = re.compile(r"\s{0,2}(?:\\?%|percent\b)", re.I)
_MARGIN = (
    r"(?:\s?[(\[]?\s?(?:±|\+/-|\+-)\s?[0-9.]+\s?\\?%?\s?[)\]]?"
    r"|\s?[(\[](?=[^)\]]{0,40}[.,;\u2013+\-↑↓▲▼±%/])[\u2013+\-↑↓▲▼±/0-9.,;\s%CI:]{1,40}[)\]]"
    rf"|\s?{RAISED}\s?(?:[±+\u2013\-↑↓]\s?[0-9.]+|[0-9]*\.[0-9]+)\s?%?{LOWERED}"
    r"|[_^]\{\s?[±+\u2013-]?\s?[0-9.]+\s?\}"
    r"|\s?/\s?100)"
)
"""What may stand between a number and its mark: how far it may be off, what has changed, of how much it is."""
_NO_NOTE = rf"(?!\s?[±+\u2013\-↑↓▲▼]\s?[0-9.]|\s?[0-9]*\.[0-9]|\s?%{LOWERED}|(?:th|st|nd|rd){LOWERED})"
_RAISED_NOTE = rf"{RAISED}{_NO_NOTE}[^{RAISED}{LOWERED}]{{1,20}}{LOWERED}"
_NOTE = (
    rf"(?:[{FIRM_SYMBOLS}](?!\s?[0-9])(?:,?[{SYMBOLS}])*|[*#]+(?!\w)|\^+(?![\w{{(\\+\u2212-]|\s?[0-9])"
    rf"|[(\[](?:[{SYMBOLS}]{{1,3}}|\^{{1,3}})[)\]]|\([a-f]\)"
    rf"|\[\^?[a-z0-9]{{1,2}}\]|\[\^[\w-]{{1,20}}\]|{_RAISED_NOTE}(?:,?{_RAISED_NOTE})*)"
)
_AFTER_MARK = re.compile(
    rf"(?:\s?\\?%)?{_MARGIN}{{0,3}}(?:\s?\\?%)?[$*_)}}]{{0,4}}"
    rf"(?:(?P<close>{_NOTE})|\s{{1,2}}(?P<apart>(?![*#^]){_NOTE}|[*#^]{{1,3}}(?=\s*(?:$|[,;.)|/\]])))"
    rf"|\n(?P<below>{_NOTE})(?=\n|$)|[.,;:](?P<behind>[{FIRM_SYMBOLS}]+|{_RAISED_NOTE}|\[\^[\w-]{{1,20}}\]))"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text, from ``begin`` to ``end``.

    ``odd`` says why it is not the value that it looks like, such as a difference. ``marks`` are those of notes.
    ``about``: the text says that it is not exact.
    """

    begin: int
    end: int
    text: str
    value: Decimal
    odd: str = ""
    percent: bool = False
    marks: str = ""
    about: bool = False


def numbers_in(text: str, wanted: Callable[[Decimal], bool] = lambda size: True) -> Iterator[Number]:
    """The numbers of a plain text (`page.plain`), in their order, whose size, without its sign, is wanted."""
    for run in _RUN.finditer(text):
        for begin, end in _pieces(run[0]):
            value, odd = _value(run[0][begin:end])
            if value is not None and wanted(value):
                yield _number(text, run.start() + begin, run.start() + end, value, odd)


def _pieces(run: str) -> Iterator[tuple[int, int]]:
    """A run of digits and marks, taken apart where it is several numbers: ``1, 0.5,0.7``, or two with a firm space."""
    if _GROUPED.fullmatch(run) or _SIMPLE.fullmatch(run) or _COMMA.fullmatch(run):
        yield 0, len(run)
        return
    mark = next((mark for mark in (FIRM, THIN, ",") if mark in run), None)
    if mark is None:
        yield 0, len(run)
        return
    begin = 0
    for piece in run.split(mark):
        yield from ((begin + first, begin + last) for first, last in _pieces(piece))
        begin += len(piece) + 1


def _number(text: str, begin: int, end: int, value: Decimal, odd: str) -> Number:
    digits, before, after = text[begin:end], text[max(begin - 40, 0) : begin], text[end : end + 80]
    odd = odd or _oddness(digits, before, after) or _oddness_of_place(text, begin, end)
    if _BEFORE_MINUS.search(before) and not _BEFORE_DATE.search(before):
        value, begin = -value, begin - 1
    mark = _AFTER_MARK.match(after)
    return Number(
        begin,
        end,
        text[begin:end],
        value,
        odd,
        percent=_AFTER_PERCENT.match(after) is not None,
        marks=_marks(next(filter(None, mark.groups())), before) if mark else "",
        about=_BEFORE_ABOUT.search(before) is not None,
    )


def _value(digits: str) -> tuple[Decimal | None, str]:
    if _SIMPLE.fullmatch(digits):
        return Decimal(digits), ""
    if _GROUPED.fullmatch(digits):
        return Decimal(re.sub(f"[{_GROUPING}]", "", digits)), ""
    comma = _COMMA.fullmatch(digits)
    return (Decimal(f"{comma[1]}.{comma[2]}"), "a decimal comma") if comma else (None, "")


def _oddness(digits: str, before: str, after: str) -> str:
    """Why a number is not the value that it looks like, "" where it is."""
    if _BEFORE_MARGIN.search(before):
        return "the margin of another number"
    if before.endswith(RAISED) or _BEFORE_POWER.search(before):
        return "raised or lowered"
    if _AFTER_POWER.match(after):
        return "the base of a power"
    if _BEFORE_DIFFERENCE.search(before) or _AFTER_DIFFERENCE.match(after):
        return "a difference"
    if (_BEFORE_NAME.search(before) and not _COMMAND.search(before)) or _AFTER_NAME.match(after):
        return "part of a name, or with another unit"
    if _BEFORE_TIME.search(before) and _AFTER_TIME.match(after):
        return "a time"
    if "." not in digits and (_BEFORE_DATE.search(before) or _AFTER_DATE.match(after) or _in_date(before, after)):
        return "part of a date or a time"
    return ""


def _in_date(before: str, after: str) -> bool:
    return _BETWEEN_DATE.fullmatch(f"{before[-2:]}#{after[:2]}") is not None


def _oddness_of_place(text: str, begin: int, end: int) -> str:
    """Why a number is no value where it stands, "" where it may be one."""
    if _BEFORE_IN_ADDRESS.search(text, max(begin - _LONGEST_ADDRESS, 0), begin):
        return "part of an address"
    near = _INTERVAL.finditer(text, max(begin - _LONGEST_INTERVAL, 0), end + _LONGEST_INTERVAL)
    for found in near:
        bound = begin in (found.start("low"), found.start("high"))
        if bound and Decimal(found["low"]) <= Decimal(found["mid"]) <= Decimal(found["high"]):
            return "a bound of another number"
    return ""


def _marks(told: str, before: str) -> str:
    if before.endswith("*"):
        told = told.strip("*")  # emphasis, not a note
    if any(symbol in told for symbol in FIRM_SYMBOLS):
        told = told.replace("*", "")
    raised = f"{LOWERED}{RAISED}"
    return bare(told.replace(raised, ","))
