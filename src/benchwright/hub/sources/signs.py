"""Signs that a number is not the model's own result on the board's terms: words, by kind, in ``signs.yaml``.

A sign decides nothing: it is a question for a person, with the sentence that asks it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

from benchwright.hub.sources import marks
from benchwright.hub.sources.find import sentences
from benchwright.hub.sources.naming import name_pattern
from benchwright.hub.sources.page import Page, shown

_SIGNS = Path(__file__).with_name("signs.yaml")
_LONGEST_SENTENCE = 2000
_LONGEST_QUOTE = 240
_EVALUATION = re.compile(
    r"\b(?:scor|result|evaluat|benchmark|accura|report|measure|metric|number|setting|protocol|perform|leaderboard)",
    re.I,
)
_ABOUT_OTHERS = re.compile(r"[\W\d]*(?:references|bibliography|citations?|cite|acknowledge?ments?)\b", re.I)
"""Headings of what is not about the model."""
_TASKS = r"(?:tasks|problems|questions|instances|samples|examples|items)"
_PARTS = (
    re.compile(
        rf"\b(?P<part>\d[\d,]*)\s?(?:/|(?:out )?of(?: the| all)?)\s?(?P<all>\d[\d,]*) (?:\w+ )?{_TASKS}\b", re.I
    ),
    re.compile(rf"\b(?P<part>\d[\d,]*) (?:\w+ )?{_TASKS} (?:out )?of (?:the |all )?(?P<all>\d[\d,]*)\b", re.I),
)
_NO_TASKS = (
    "accelerators|annotators|attempts|authors|baselines|beams|benchmarks|bits|blocks|(?:giga)?bytes|cards|categories"
    "|channels|checkpoints|chips|classes|columns|competitors|cores|countries|cpus|datasets|days|devices|documents"
    "|domains|epochs|evals|evaluations|experts|families|fields|folds|gb|gpus|heads|hours|judges|languages|layers"
    "|leaderboards|machines|metrics|minutes|models|modules|nodes|occasions|pages|parameters|params|participants|peers"
    "|points|processors|repeats|repetitions|rollouts|runs|scores|seconds|seeds|settings|shards|shots|splits|stages|steps"
    "|stars|subjects|submissions|suites|teams|threads|tokens|trials|users|votes|weeks|workers|years"
)
"""Of what a part may be told without a word on the benchmark's tasks."""
_NO_NOUNS = (
    "across|always|as|class|counts|does|equals|gives|has|his|is|its|less|loss|makes|means|minus|pass|perhaps|plus|shows|this"
    "|thus|versus|was|yes|yields"
)
_PLURAL = rf"(?!(?:{_NO_TASKS}|{_NO_NOUNS})\b)[a-z]{{3,}}s\b"
_PART_OF = (
    rf"(?<![\w.,/$-])(?!(?:\d|1[0-2])\s?/\s?(?:[12]?\d|3[01])\b(?! {_PLURAL}))"
    r"(?!(?:4|8|16|32)\s?/\s?(?:16|32|64)\b)(?P<part>\d[\d,]*)\s?(?:/|(?:out )?of(?: the| all)?)"
    r"\s?(?P<all>\d[\d,]*\b)(?![.,]\d|[%/-]|\s?%)"
)
"""A part of a whole, and neither a date, which no plural follows, nor, as ``16/32 bits``, a choice of powers of two."""
_OTHER_PARTS = (
    re.compile(rf"{_PART_OF} (?:(?![\w-]*s\b)[\w-]+ ){{0,2}}{_PLURAL}", re.I),
    re.compile(
        rf"\b(?:on|over|across|using) (?:only |about |just )?(?:the )?{_PART_OF}"
        rf"(?!(?: [\w-]+){{0,3}} (?:{_NO_TASKS})\b)",
        re.I,
    ),
)
"""Parts of whatever else a benchmark may have: puzzles, issues, prompts."""
_GAINED = re.compile(
    r"\b(?:(?:ahead|answers|beats|better|best(?![- ]of)|exceeds|improves|leads|led|matches|outperforms|passes|resolves"
    r"|solves|surpasses|wins|won)\b(?! rate)[^.;]{0,60}"
    r"|(?:answer|get|pass|resolv|solv)\w* (?!rate)(?:\w+ ){0,2}"
    r"|(?:place[ds]|rank(?:s|ed)?) (?:(?:at|best|first|in|number|on|second|third) ){0,3})$",
    re.I,
)
_GAINS = re.compile(r"(?: [\w-]+){0,3} (?:correct|passed|resolved|right|solved)\b", re.I)
"""What says that a part is the score itself: ``solves 627 of 1,000 puzzles``."""
_MEASURED = re.compile(
    r"\b(?:(?:evaluat|measur)(?:e[sd]?|ing)|test(?:s|ed|ing)?|ran|run(?:s|ning)?|us(?:e[sd]?|ing))\b"
    r"(?:[^.;,]{0,40} (?:across|on|over|using|with))?(?: (?:about|first|just|only|the))*\s$",
    re.I,
)
"""What says that a part is of what was run, whatever the score is: ``we evaluate on 250 of the 500 tasks``."""
_TRAINING = (
    r"(?:(?:pre|post)-?)?train(?:s|ed|ing)?|fine-?tun(?:e|es|ed|ing)|RL|RLVR|SFT|DPO|reinforcement learning|distill\w+"
)
_OF_SCORES = (
    "accura|achiev|after|cost|curve|evaluat|improv|loss|measur|outperform|perform|reach|report|result|scal|scor|test|vs"
)
_BETWEEN = rf"(?:(?!\b(?:{_OF_SCORES})\w*)[^.;,])"
_TRAINED = (
    rf"\b(?:{_TRAINING})\b{_BETWEEN}{{{{0,40}}}}\b(?:on|from|using|includ\w+|contain\w*)\b{_BETWEEN}{{{{0,40}}}}"
    r"(?:(?-i:[A-Z])[\w-]*, (?:and )?){{0,6}}{name}",
    r"{name}[^.;,]{{0,20}}\btrain(?:ing)?[- ](?:set|split|data|portion|part|partition|questions|problems)\b",
    rf"{{name}}{_BETWEEN}{{{{0,60}}}}\b(?:in|into|part of|for)\b{_BETWEEN}{{{{0,30}}}}"
    rf"\b(?:{_TRAINING}|corpus|corpora)\b",
    rf"\b(?:seen?|saw|encountered|exposed to)\b{_BETWEEN}{{{{0,30}}}}{{name}}",
)
"""Of what says that a benchmark, ``{name}``, was trained on."""
_NOT_TRAINED = re.compile(
    r"\b(?:not|never|no|none|without|excluded?|excluding|held[- ]out|removed?|unseen)\b|n't\b", re.I
)

Reach = Literal["anywhere", "words", "nearby"]
_REACHES: tuple[Reach, ...] = ("anywhere", "words", "nearby")


@dataclass(frozen=True)
class Kind:
    """A kind of signs: what to ask, the words by how far from the number they count, and what is no sign."""

    code: str
    ask: str
    words: Mapping[Reach, re.Pattern[str]]
    but: re.Pattern[str] | None


@dataclass(frozen=True)
class Sign:
    """A sentence with a sign.

    ``marks`` are those that it explains. ``reach`` says where it counts: ``words`` do elsewhere where the sentence is
    ``about_results``, that is, speaks of evaluation.
    ``shares`` are the parts of a whole that make it a sign where no words do, and that may be the score.
    """

    code: str
    quote: str
    marks: tuple[str, ...] = ()
    reach: Reach = "nearby"
    about_results: bool = False
    shares: tuple[Fraction, ...] = ()

    def tells(self, score: Decimal) -> bool:
        """Whether all that it says is a score once more, in other words: ``627 of 1,000 puzzles`` for 62.7 or 0.627."""
        whole, places = 1 if score <= 1 else 100, -int(score.as_tuple().exponent)
        told = (round(share * whole, places) == Fraction(score) for share in self.shares)
        return bool(self.shares) and score < whole and all(told)


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order of ``signs.yaml``."""
    import yaml

    told = yaml.safe_load(_SIGNS.read_text("utf-8"))
    return tuple(
        Kind(
            code,
            one["ask"],
            {reach: _any(one[reach]) for reach in _REACHES if reach in one},
            _any(one["but"]) if "but" in one else None,
        )
        for code, one in told.items()
    )


def signs_in(texts: Iterable[str]) -> Iterator[Sign]:
    """The signs in plain texts, sentence by sentence."""
    for text in texts:
        for sentence in (note for one in sentences(text) for note in marks.notes(one)):
            explained = marks.explained(sentence)
            for said in _stretches(shown(sentence)):
                about = bool(_EVALUATION.search(said))
                for kind in kinds():
                    found = _sign(kind, said)
                    if found is not None:
                        reach, begin, shares = found
                        yield Sign(kind.code, _around(said, begin), explained, reach, about, shares)


@functools.lru_cache(maxsize=64)
def signs_of(page: Page) -> tuple[Sign, ...]:
    """The signs of a page that may count wherever they are, each sentence once.

    A cell of a table is about the numbers beside it: what it says counts where it speaks of evaluation, if at all.
    Titles of what is cited, and thanks, say nothing of the model.
    """
    told = signs_in(one.text for one in page.passages if one.kind == "text" and not _ABOUT_OTHERS.match(one.heading))
    cells = (sign for sign in signs_in(page.cells()) if sign.reach == "anywhere" or sign.about_results)
    return tuple(dict.fromkeys(sign for sign in (*told, *cells) if sign.reach != "nearby"))


def trained_on(texts: Iterable[str], name: str) -> Iterator[Sign]:
    """Sentences that tell of training on a benchmark, by its name."""
    spelt = rf"(?-i:{name}|{name.upper()})" if name.isalpha() else name_pattern(name).pattern  # MATH is not math
    named = re.compile(rf"\b{spelt}\b", re.I)
    pattern = re.compile("|".join(one.format(name=named.pattern) for one in _TRAINED), re.I)
    for text in texts:
        for sentence in sentences(text) if named.search(text) else ():
            for said in _stretches(shown(sentence)):
                found = pattern.search(said)
                if found and not _NOT_TRAINED.search(said[: found.end()]):
                    yield Sign("contamination", _around(said, found.start()))


def legends(texts: Iterable[str], mark: str) -> list[str]:
    """What texts say of a mark."""
    return marks.legends((sentence for text in texts for sentence in sentences(text)), mark)


def _sign(kind: Kind, said: str) -> tuple[Reach, int, tuple[Fraction, ...]] | None:
    """How far a sign reaches, the one that reaches farthest, its place, its shares; None where there is none."""
    if any(pattern.search(said) for pattern in kind.words.values()):
        rest = kind.but.sub(lambda found: " " * len(found[0]), said) if kind.but else said
        for reach, pattern in kind.words.items():
            found = pattern.search(rest)
            if found is not None:
                return reach, found.start(), ()
    if kind.code == "subset":
        parts = [one for pattern in _PARTS for one in pattern.finditer(said)]
        others = (one for pattern in _OTHER_PARTS for one in pattern.finditer(said))
        parts += [one for one in others if not _is_score(said, one)]
        parts = [one for one in parts if _number(one["part"]) < _number(one["all"])]
        measured = any(_MEASURED.search(said[: one.start("part")]) and not _is_score(said, one) for one in parts)
        shares = () if measured else (Fraction(_number(one["part"]), _number(one["all"])) for one in parts)
        return ("words", parts[0].start(), tuple(shares)) if parts else None
    return None


def _is_score(said: str, part: re.Match[str]) -> bool:
    """Whether a part is what was reached, or says when."""
    told = said[part.start("part") : part.end("all")]
    is_time = re.fullmatch(r"\d\d?/(?:19|20)\d\d|24/7", told)
    return bool(is_time or _GAINED.search(said[: part.start()]) or _GAINS.match(said, part.end("all")))


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
