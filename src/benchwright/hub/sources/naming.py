"""Whether words name a benchmark or a model, however they are spelt: ``SWE-Bench Pro`` is ``SWE-bench_Pro``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchwright.hub.benchmarks import names

_SHORT = 5
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
_SIZE = re.compile(r"[-_ (]{0,2}(\d+(?:\.\d+)?)\s?([bm])(?![a-z])", re.I)
_VARIANT = re.compile(r"\d+(?:\.\d+)?[bmk]|instruct|chat|base|it|hf|fp8|bf16|gguf|awq|gptq|preview", re.I)


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
    """Whether one of the names is in a text; a short one as a word of its own."""
    squashed = _squash(text)
    for name in told:
        if len(_squash(name)) < _SHORT:
            if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.I):
                return True
        elif _squash(name) in squashed:
            return True
    return False


def sibling(repo: str, text: str) -> str:
    """The name of another model that a text calls where it seems to name this one; "" where it does name this one.

    ``Nova 7B Instruct`` is another than ``nova-7b``, and so is ``Nova 13B``.
    """
    own = re.sub(r"[-_]", " ", repo.rpartition("/")[2])
    found = ""
    for name in model_names(repo):
        for place in name_pattern(name).finditer(text):
            longer = _goes_on(text[place.end() :], own)
            if not longer:
                return ""
            found = found or text[place.start() : place.end() + longer].strip(" (")
        if found:
            break
    return found


def is_exactly(repo: str, text: str) -> bool:
    """Whether a text is the name of a model, and nothing else."""
    return _squash(text) == _squash(model_names(repo)[0])


def name_pattern(name: str) -> re.Pattern[str]:
    """What finds a name however it is spelt, though not within a longer word."""
    letters = [re.escape(one) for one in name if one.isalnum()]
    return re.compile(rf"(?<![^\W_]){'[^a-z0-9]{0,3}'.join(letters)}", re.I)


def _goes_on(rest: str, own: str) -> int:
    """How far the name of another model goes on, 0 where what follows a name says of no other one."""
    size = _SIZE.match(rest)
    begin = size.end() if size else 0
    if size and _SIZE.search(f" {own}") and not are_named([size[1] + size[2]], own):
        return begin
    longer = _SIBLING.match(rest, begin)
    if longer is None or are_named([one for one in longer.groups() if one], own):
        return 0
    return longer.end()


def _squash(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
