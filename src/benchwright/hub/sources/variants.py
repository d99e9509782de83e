"""Whether a header or a sentence names a benchmark, or another one, a split or a version whose name is longer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchwright.hub.sources.additions import without_additions
from benchwright.hub.sources.find import Place
from benchwright.hub.sources.naming import are_named, model_names, name_pattern

_SPLITS = (
    "adversarial|challenge|dev|diamond|easy|extended|hard|lite|mini|multilingual|multimodal|nano|platinum|private|public"
    "|standard|subset|text|train|val|validation|verified|vision"
)
_CAPITALS = "|".join(
    one.capitalize() for one in (*_SPLITS.split("|"), "live", "max", "multi", "plus", "pro", "redux", "x")
)
_SPLIT = re.compile(rf"\W*(?:{_SPLITS})(?: (?:only|set|split|tasks|questions|problems))?\W*", re.I)
"""A header that is only the name of a split."""
_LONGER = re.compile(
    r"[-_](?!(?:based|level|like|related|specific|style|type)\b)[^\W\d_][\w.]*"
    r"|(?-i:[A-Z\d])\w*"
    rf"| ?[(\[](?:{_SPLITS}|v\d[\d.]*)\b[^()\[\]]{{0,20}}[)\]]?"
    rf"| (?:(?-i:{_CAPITALS}|II|III|IV)|easy|hard|lite|mini|multilingual|multimodal|platinum|v\d[\d.]*)\b"
    r"|\+(?!\s?\w)",
    re.I,
)
"""How the name of another benchmark goes on in a sentence, behind the name of one."""
_BEFORE = re.compile(
    r"(?:[^\W_]+[-_]|\b(?-i:Dynamic|Easy|Extended|Global|Hard|Lite|Live|Mini|Multi|Multilingual|Multimodal) )$", re.I
)
"""What stands before a name that is the end of a longer one."""
_WORD = re.compile(r"[^\W_]+(?:\.\d+)*|(?<!\s)\+(?!\s?\w)")
_LONGEST_HEADER = 80
_MOST = 200
"""Names in one text that are looked at."""
_NEAR = 200
"""Characters beside a name that are looked at."""


def other_benchmark(named: Iterable[str], repo: str, place: Place) -> str | None:
    """The other benchmark, split or version that a place names in the benchmark's stead; "" where it names this one.

    The headers decide where they name either, then the sentence, the caption, the heading, and what is around.
    None: nothing does.
    """
    told = tuple(named)
    if place.kind == "table":
        by_header = _by_headers(told, repo, place)
        if by_header is not None:
            return by_header
    else:
        at_number = _at_number(told, place)
        if at_number:
            return at_number
    for text in (place.quote, place.caption, place.heading, place.label):
        other = _called(told, text)
        if other is not None:
            return other
    around = [other for other in (_called(told, text) for text in place.near) if other is not None]
    return min(around, key=bool, default=None)


def header_names(named: Iterable[str], repo: str, header: str) -> bool:
    """Whether a header names a benchmark, and with it nothing but metrics, shots and the like."""
    return len(header) <= _LONGEST_HEADER and _called(named, header, header_of=repo) == ""


def is_only(named: Iterable[str], header: str) -> bool:
    """Whether a header is the name of a benchmark, and nothing else."""
    return any(
        (found := name_pattern(name).match(header.lstrip("*_ "))) and not re.search(r"\w", found.string[found.end() :])
        for name in whole_names(named)
    )


def whole_names(named: Iterable[str]) -> tuple[str, ...]:
    """The names that are more than that of a split, as a task's may be: ``vision``."""
    told = tuple(named)
    return tuple(one for one in told if not _SPLIT.fullmatch(one)) or told


def parts(place: Place) -> tuple[str, ...]:
    """The single headers of a place: of its row, of its column, and the line over its rows."""
    return tuple(one for one in re.split(" / |\n", place.headers) if one)


def _by_headers(named: tuple[str, ...], repo: str, place: Place) -> str | None:
    own = [one for one in re.split(" / |\n", f"{place.row}\n{place.column}") if one]
    for headers in (own, [place.group]):
        verdicts = [one for one in (_called(named, header, header_of=repo) for header in headers) if one is not None]
        if verdicts:
            split = next((one for one in own if _SPLIT.fullmatch(one) and not _are_own(one, (*named, repo))), "")
            return next(filter(None, verdicts), split and f"{named[0]} / {split}")
    return None


def _at_number(named: tuple[str, ...], place: Place) -> str:
    """The other benchmark that a sentence names last before its number, or first behind it; "" where it names none."""
    number = re.search(rf"(?<![\d.]){re.escape(place.printed)}(?!\d)", place.quote)
    told = _verdicts(named, place.quote) if number else []
    before = [other for begin, other in told if number and begin < number.start()]
    after = [other for begin, other in told if number and begin >= number.start()]
    return next(filter(None, (*before[-1:], *after[:1])), "")


def _called(named: Iterable[str], text: str, header_of: str = "") -> str | None:
    """What a text calls: see `other_benchmark`; ``header_of`` is the model, where the text is a table's header."""
    others = [other for _, other in _verdicts(tuple(named), text, header_of)]
    return min(others, key=bool, default=None)


def _verdicts(named: tuple[str, ...], text: str, header_of: str = "") -> list[tuple[int, str]]:
    """Where a text has the benchmark's names, in their order, each with the other benchmark that is called there."""
    told: list[tuple[int, str]] = []
    for place in _namings(named, text)[:_MOST]:
        before = _BEFORE.search(text[max(place.start() - _NEAR, 0) : place.start()])
        rest = without_additions(text[place.end() : place.end() + _NEAR])
        other = ""
        if before and not _are_own(before[0], named):
            other = f"{before[0]}{place[0]}"
        elif header_of:
            rest = name_pattern(model_names(header_of)[0]).sub(lambda one: " " * len(one[0]), rest)
            other = "" if all(_are_own(one[0], named) for one in _WORD.finditer(rest)) else text
        elif re.match(r"[a-z]", rest):
            continue
        elif (longer := _LONGER.match(rest)) and not _are_own(longer[0], named):
            other = f"{place[0]}{text[place.end() : place.end() + longer.end()]}"
        told.append((place.start(), other))
    return sorted(told)


def _namings(named: Iterable[str], text: str) -> list[re.Match[str]]:
    """Where a text has the names; a short one not where it is within a longer one."""
    found: list[re.Match[str]] = []
    within: set[int] = set()
    for name in sorted(whole_names(named), key=len, reverse=True):
        new = [one for one in name_pattern(name).finditer(text) if one.start() not in within]
        within.update(place for one in new for place in range(*one.span()))
        found += new
    return found


def _are_own(words: str, named: Iterable[str]) -> bool:
    """Whether words are those of the benchmark's names, of its task too."""
    own = " ".join(re.sub(r"[-_/]", " ", name) for name in named)
    told = re.findall(r"[^\W_]+(?:\.\d+)*", words)
    return bool(told) and all(are_named([one], own) for one in told)
