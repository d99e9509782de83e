"""Whether a number is plainly another model's where nothing at it names the model itself, as a card may do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchwright.hub.sources.additions import without_additions
from benchwright.hub.sources.find import Place
from benchwright.hub.sources.naming import squash
from benchwright.hub.sources.page import Table, shown
from benchwright.hub.sources.variants import is_only, parts

_OURS = re.compile(
    r"\bours\b(?![-_]\w)|\b(?:our|this) (?:checkpoint|model|release|repo|repository)\b"
    r"|(?<!\bin )\b(?:our|this) work\b",
    re.I,
)
_COMPARED = re.compile(r"\b(?:vs|versus|over|minus|than|against)\b|[\u0394\u2206]", re.I)
"""In a header of differences."""
_LONGEST_HEADER = 60
_FAMILIES = (
    "chatgpt|claude|deepseek|devstral|exaone|falcon|gemini|gemma|glm|gpt|granite|grok|hunyuan|internlm|internvl|kimi"
    "|llama|magistral|minimax|ministral|mistral|mixtral|nemotron|olmo|phi|qwen|qwq|smollm"
)
_LINES = (
    "air|base|chat|codex|coder|distill|exp|flash|haiku|high|instruct|it|large|lite|low|maverick|max|medium|mini|nano"
    "|next|omni|opus|oss|plus|preview|pro|reasoning|scout|small|sonnet|super|terminus|thinking|turbo|ultra|vl|xhigh"
)
_MAKERS = r"(?:(?:alibaba|anthropic|google|meta|microsoft|nvidia|openai)[-/ ]{1,2}|[\w-]+/)?"
_VERSION = (
    rf"(?:[-_. ]{{0,2}}(?:[a-z]{{1,3}}\d[\w.]*+|(?:{_LINES}|{_FAMILIES})(?![^\W\d_]))"
    r"|[-_.]?\d[\w.]*+| \d(?:\.\d)?(?![\w.%])| \d+(?:\.\d+)?[bm]\b)"
)
_KNOWN = rf"{_MAKERS}\b(?:(?:{_FAMILIES})(?![^\W\d_])|o[134]\b)(?:{_VERSION}){{0,8}}"
_SIZED = r"\b(?:[\w-]+/)?[a-z][\w.]*(?:-[\w.]+){0,4}-(?:\d+(?:\.\d+)?b|\d\d+m)(?:-[\w.]+){0,4}(?![\w%])"
_MODEL = re.compile(f"(?:{_KNOWN}|{_SIZED})", re.I)
"""The name of a model of a family that everybody knows, or one that ends in a size: ``GPT-5``, ``Peer-8B-Chat``.

``MRCR-1M`` is none: so few are tokens of a context.
"""
_IN_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_HELPERS = re.compile(
    r"(?:llm |user )?(?:backbone|base|encoder|evaluator|grader|initiali[sz]ation|judge|scorer|simulator|teacher)"
    r"(?: llm| model)?s?|(?:language|vision) (?:model|part)",
    re.I,
)
"""A column of models that are not the ones measured."""
_SCORES = r"(?:is at|stands at|(?:achiev|attain|get|has|hit|manag|obtain|post|reach|record|scor)\w*)"
_BEFORE = re.compile(
    r"(?:\s?\([^()]*\))?\s(?:\w+ly |also |only |still |itself )?"
    rf"{_SCORES}\b(?:[^.;,]|\.(?=\d)){{0,80}}"
    r"|:\s?|\sat\s|\s?[=\u2013\u2014]\s?",
    re.I,
)
"""Between the name of whatever scored and its number."""
_OWNED = re.compile(r"\s?\(|'s (?:[^\W\d]+ ){0,3}", re.I)
"""The same, where the name need not be the subject: ``more than GPT-5's 62.7``."""
_BEHIND = re.compile(r"\s?%?\s(?:on [^.;,]{1,30} )?(?:for|of)\s(?:the )?", re.I)
_HELPER = (
    r"\b(?:evaluator|grader|judge|scorer|simulator|teacher)(?: model)?:?\s+"
    r"|\b(?:adapt|distill?|extend|merg|prun|quanti[sz]|scal|(?:post-?)?train|(?:fine-?)?tun)ing\s+"
)
"""Before a model that measures, or that this one is made of."""
_NOT_SUBJECT = re.compile(
    r"(?:\b(?:against|as|by|from|in|into|like|of|on|over|than|to|unlike|upon|using|via|with)\s+"
    rf"|{_HELPER})(?:an? |the )?$",
    re.I,
)
_HELPING = re.compile(rf"(?:\b(?:by|using|via|with)\s+|{_HELPER})(?:an? |the )?$", re.I)
_TURNS = re.compile(
    r"\b(?:but|compared|from|it|its|our|ours|than|this|to|us|versus|vs|we|whereas|while)\b|\u2192|->", re.I
)
"""Words after which a sentence may be about this model."""


def other_model(repo: str, places: Iterable[Place], named: Sequence[str]) -> str:
    """Why to doubt that a number is a model's that no header and no sentence at it names; "" for no reason.

    ``named`` are the names of the benchmark, which may read like a model's. One place without a doubt is enough: two
    models may have the same score.
    """
    doubts: list[str] = []
    ours: dict[int, str] = {}
    for place in places:
        if place.table is not None and id(place.table) not in ours:
            ours[id(place.table)] = _ours_in(place.table)
        elsewhere = "" if _is_ours(place) else ours.get(id(place.table), "")
        doubt = f'the table has "{elsewhere}" elsewhere: is this number the model\'s?' if elsewhere else ""
        doubts.append(doubt or _stranger(repo, place, named))
        if not doubts[-1]:
            return ""
    return doubts[0] if doubts else ""


def _ours_in(table: Table) -> str:
    """The header of a table that says "ours"; "" where none does."""
    for row, column, cell in table.cells():
        if (cell.header or row == 0 or column < 2) and len(cell.text) <= _LONGEST_HEADER and _OURS.search(cell.text):
            text = shown(cell.text)
            if not _COMPARED.search(text):
                return text
    return ""


def _is_ours(place: Place) -> bool:
    """Whether a number's headers, its own cell, or a cell of words in its row say "ours"."""
    words = (one for one in place.quote.split(" | ") if not re.search(r"\d", one))
    return any(_OURS.search(one) for one in (place.headers, *place.near[:1], *words))


def _stranger(repo: str, place: Place, named: Sequence[str]) -> str:
    """That the row, the column or the sentence is plainly another model's."""
    if place.kind == "table":
        helped = place.table is not None and _names_helpers(place.table)
        headers = () if helped or _OURS.search(place.headers) else parts(place)
        headers = tuple(one for one in headers if len(one) <= _LONGEST_HEADER and not is_only(named, one))
        told = [found[0] for one in headers if (found := _MODEL.fullmatch(_bare(one)))]
    else:
        told = list(_subjects(place.quote, place.printed))
    other = next((one for one in told if squash(one) not in squash(repo)), "")
    return f"the number is that of {other}: is it the model in this repo?" if other else ""


def _names_helpers(table: Table) -> bool:
    """Whether a table has a column of models that are not the ones measured."""
    columns = [
        column for column, cell in enumerate(table.rows[0]) if cell and _HELPERS.fullmatch(shown(cell.text).strip("* "))
    ]
    below = (row[column] for row in table.rows[1:] for column in columns if column < len(row))
    return any(cell is not None and _MODEL.fullmatch(_bare(shown(cell.text))) for cell in below)


def _subjects(sentence: str, printed: str) -> Iterable[str]:
    """The models that a sentence says a number is of."""
    number = re.search(rf"(?<![\d.]){re.escape(printed)}(?!\d)", sentence)
    for name in _MODEL.finditer(sentence) if number else ():
        assert number is not None
        before, between = sentence[: name.start()], sentence[name.end() : number.start()]
        behind = sentence[number.end() : name.start()]
        if name.start() >= number.end():
            is_of = bool(_BEHIND.fullmatch(behind))
        elif _OWNED.fullmatch(between):
            is_of = not _HELPING.search(before)
        else:
            scored = _BEFORE.fullmatch(between)
            is_of = bool(scored) and not _NOT_SUBJECT.search(before) and not _TURNS.search(between)
        if is_of:
            yield name[0]


def _bare(header: str) -> str:
    """A header without brackets that leave a name the same, and without what sets it off."""
    told = _IN_BRACKETS.sub(lambda one: one[0] if re.search(r"\w", without_additions(one[0])) else "", header)
    return re.sub(r"\^\w{1,2}$", "", told.strip()).strip(" *_,:\u2020\u2021")
