"""Whether words name a benchmark or a model, however they are spelt: ``SWE-Bench Pro`` is ``SWE-bench_Pro``."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchwright.hub.benchmarks import names
from benchwright.hub.sources.additions import without_additions

_NO_NAMES = frozenset({"all", "average", "default", "general", "main", "mean", "overall", "score", "test", "total"})
_KINDS = (
    "instruct|instructed|instruction|chat|base|sft|rl|rlhf|dpo|preview|fp8|fp4|nvfp4|int4|int8|awq|gptq|gguf|lora|qat"
)
_LINES = (
    "thinking|reasoning|distill|distilled|pro|max|plus|mini|flash|lite|turbo|ultra|nano|small|medium|large|next|coder|math"
    "|vl|omni"
)
_CAPITAL_LINES = "|".join(one.upper() if len(one) == 2 else one.capitalize() for one in _LINES.split("|"))
_SIBLING = re.compile(
    rf"(?:[-_ ]{{0,2}}\(?(?P<kind>{_KINDS})|[-_](?P<joined>{_LINES})| (?P<apart>(?-i:{_CAPITAL_LINES})))(?![\w/])"
    r"|[-_. ]{0,2}(?P<version>v\d[\d.]*)|\.?\d+",
    re.I,
)
"""How the name of another model goes on behind the name of one."""
_LONGER = re.compile(
    r"(?P<attached>(?-i:[A-Z])\w*)|[-_](?!(?:based|bf16|class|derived|hf|level|like|ours|sized|style)\b)(?P<word>[^\W_]\w*)"
    r"| \(?(?P<date>2\d(?:0[1-9]|1[0-2]))(?![\w.%])|[-_ ]\d+(?:\.\d+)?[-_ ]\d+(?:\.\d+)?\s?[bm]\b",
    re.I,
)
"""Further ways: a letter at it, a word or a date that a hyphen joins, a date, a number before the size."""
_LONG = 5
"""Letters of a name that is hardly in another word by chance."""
_NEAR = 200
"""Characters behind a name that are looked at."""
_COMPARED = re.compile(
    r"\b(?:(?:based|built|derived|distilled|initiali[sz]ed|merged|quanti[sz]ed|tuned|trained) (?:from|of|on)"
    r"|(?:close|compared|relative|similar) (?:to|with)|against|over|than|unlike|versus|vs\.?"
    r"|beat(?:s|ing)|extend(?:s|ing)|improv(?:es|ing) (?:up)?on|outperform(?:s|ing)|surpass(?:es|ing))"
    r" (?:the |our |its )?$",
    re.I,
)
"""What stands before a model that a sentence only compares another one with, or says that it was made from."""
_BESIDE = re.compile(
    r"(?:(?<=[a-z] )(?<!\band )(?<!\bbut )(?<!\bwhile )(?:as|with)"
    r"|\b(?:descendant|sibling|successor|variant|version) (?:of|to)) (?:the |our |its )?$",
    re.I,
)
"""The same where a model is named before, and no number is between: ``Nova 7B shares its tokenizer with``."""
_OF_NUMBER = re.compile(
    r"\s?%?(?: points?)? (?:\(?(?:by|for|from|of|with) (?:the |our )?|\((?![^()]*(?:[:=;]|\d\.\d+\s?%?\))))", re.I
)
"""What stands between a number and the model that it is said to be of, if only a bracket that has no other number."""
_ITS_NUMBER = re.compile(r"'s | \(|,? (?:which|that) (?:[^\W\d]+ ){1,3}")
"""What stands between a model and its own number, whatever is before it: ``better than Nova 13B (62.7)``."""
_NUMBER = r"(?<![\w.-])\d+(?:\.\d+)?%?(?![\w-])"
_AND = r"(?:, and|,| and) "
_NUMBERS = re.compile(rf"{_NUMBER}(?:{_AND}{_NUMBER})+")
_APART = re.compile(r" (?P<word>[A-Z][\w.]*|\d[\w.]*)")
"""How it goes on in a header, where no sentence does."""
_SIZE = re.compile(r"[-_ (]{0,2}(\d+(?:\.\d+)?)\s?([bm])(?![a-z])", re.I)
_VARIANT = re.compile(r"\d+(?:\.\d+)?[bmk]|instruct|chat|base|it|hf|fp8|bf16|gguf|awq|gptq|preview", re.I)


class _Naming(NamedTuple):
    """Where a text names a model, and the other model that is called there; "" where it is this one."""

    begin: int
    end: int
    other: str


def benchmark_names(dataset: str, task: str) -> tuple[str, ...]:
    """The names that a benchmark may go by."""
    tail = dataset.partition("/")[2]
    told = (names().get(dataset.lower(), tail), tail, task.rpartition("/")[2])
    return tuple(dict.fromkeys(one for one in told if one.lower() not in _NO_NAMES)) or (tail,)


def model_names(repo: str) -> tuple[str, ...]:
    """The names that a model may go by: its own, and that without sizes and the like."""
    tail = repo.rpartition("/")[2]
    words = [one for one in re.split(r"[-_ ]", tail) if not _VARIANT.fullmatch(one)]
    return tuple(dict.fromkeys((tail, "-".join(words) or tail)))


def are_named(told: Iterable[str], text: str) -> bool:
    """Whether one of the names is in a text, as words of its own."""
    return any(re.search(rf"{name_pattern(name).pattern}(?![^\W_])", text, re.I) for name in told)


def sibling(repo: str, text: str, names: Sequence[str] = (), *, header: bool = False, number: str = "") -> str | None:
    """The name of another model that a text calls where it seems to name this one; "" where it does name this one.

    ``Nova 7B Instruct`` is another than ``nova-7b``, and so are ``Nova 13B`` and ``SuperNova 7B``. None: it names
    neither. ``names`` are those that count, all of them else; ``header``: the text is of headers, not of sentences.
    Of the models in a sentence the one at its ``number`` counts, where that is given as it is printed.
    """
    counted = names or model_names(repo)
    if number and (at_number := _at_number(repo, text, counted, number)) is not None:
        return at_number
    for name in counted:
        if told := [one.other for one in _namings(repo, name, text, header=header)]:
            return min(told, key=bool)
    return _within(model_names(repo)[0], text)


def is_exactly(repo: str, text: str) -> bool:
    """Whether a text is the name of a model, and nothing else."""
    return squash(text) == squash(model_names(repo)[0])


def squash(text: str) -> str:
    """The letters and digits of a name, however it is spelt."""
    return "".join(filter(str.isalnum, text.lower()))


@functools.lru_cache(maxsize=512)
def name_pattern(name: str) -> re.Pattern[str]:
    """What finds a name however it is spelt, though not at the end of a longer word."""
    return re.compile(rf"(?<![^\W_]){_letters(name)}", re.I)


def _namings(repo: str, name: str, text: str, *, header: bool = False) -> Iterator[_Naming]:
    """Where a text has a name of a model."""
    own = re.sub(r"[-_]", " ", repo.rpartition("/")[2])
    for place in name_pattern(name).finditer(text):
        begin = _joined_before(text, place.start())
        rest = re.split("\n| / ", text[place.end() : place.end() + _NEAR])[0]
        longer = _goes_on(rest, own, header=header)
        if longer or not re.match("[a-z]", rest):
            named = longer or begin < place.start()
            end = place.end() + longer
            yield _Naming(begin, end, text[begin:end].strip(" (") if named else "")


def _at_number(repo: str, text: str, names: Iterable[str], number: str) -> str | None:
    """What a sentence calls the model of a number: right behind it, else last before it, else first behind it."""
    found = re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text)
    if found is None:
        return None
    every = sorted(one for name in names for one in _namings(repo, name, text))
    told = list({one.begin: one for one in every}.values())
    ahead = [one for one in told if one.begin < found.start()]
    behind = told[len(ahead) : len(ahead) + 1]
    of_number = _OF_NUMBER.match(text, found.end())
    if behind and of_number and of_number.end() == behind[0].begin:
        return behind[0].other
    listed = _in_list(text, ahead, found.start())
    if listed is not None:
        return listed.other
    if ahead and _ITS_NUMBER.fullmatch(text, ahead[-1].end, found.start()):
        return ahead[-1].other
    subjects = [one for before, one in zip((None, *told), told, strict=False) if not _is_aside(text, before, one)]
    ahead = [one for one in subjects if one.begin < found.start()]
    return next((one.other for one in ahead[-1:] or subjects), None)


def _is_aside(text: str, before: _Naming | None, one: _Naming) -> bool:
    """Whether a model is named only for another one's sake, which may be the one that is named before."""
    ahead = text[max(one.begin - _NEAR, 0) : one.begin]
    if _COMPARED.search(ahead):
        return True
    return bool(before and _BESIDE.search(ahead) and not re.search(_NUMBER, text[before.end : one.begin]))


def _in_list(text: str, ahead: Sequence[_Naming], number: int) -> _Naming | None:
    """The model whose turn it is where a list of numbers follows one of as many models; None where none does."""
    numbers = next((one for one in _NUMBERS.finditer(text) if one.start() <= number < one.end()), None)
    if numbers is None:
        return None
    turns = [numbers.start() + one.start() for one in re.finditer(_NUMBER, numbers[0])]
    models = [one for one in ahead if one.begin < numbers.start()][-len(turns) :]
    joined = all(re.fullmatch(_AND, text[one.end : two.begin]) for one, two in itertools.pairwise(models))
    return models[turns.index(number)] if joined and number in turns and len(models) == len(turns) else None


def _letters(name: str) -> str:
    return "[^a-z0-9]{0,3}".join(re.escape(one) for one in name if one.isalnum())


def _within(name: str, text: str) -> str | None:
    """The longer word that a text has a name at the end of; None where it has none."""
    for place in re.finditer(rf"{_letters(name)}(?![^\W_])", text, re.I) if len(squash(name)) >= _LONG else ():
        before = re.search(r"[^\W\d_]+$", text[max(place.start() - 40, 0) : place.start()])
        if before:
            return f"{before[0]}{place[0]}"
    return None


def _joined_before(text: str, place: int) -> int:
    """Where the word begins that a hyphen joins to what is at a place; the place itself where none does."""
    joined = re.search(r"[^\W_]+[-_]$", text[max(place - 40, 0) : place])
    return place - len(joined[0]) if joined else place


def _goes_on(rest: str, own: str, *, header: bool) -> int:
    """How far the name of another model goes on, 0 where what follows a name says of no other one."""
    size = _SIZE.match(rest)
    begin = size.end() if size else 0
    if size and _SIZE.search(f" {own}") and not are_named([size[1] + size[2]], own):
        return begin
    longer = _SIBLING.match(rest, begin) or _LONGER.match(rest, begin)
    if longer is None and header:
        longer = _APART.match(without_additions(rest), begin)
    if longer is None or are_named([one for one in longer.groups() if one], own):
        return 0
    return longer.end()
