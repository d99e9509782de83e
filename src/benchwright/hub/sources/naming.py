"""Whether words name a benchmark or a model, however they are spelt: ``SWE-Bench Pro`` is ``SWE-bench_Pro``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchwright.hub.benchmarks import names

_SHORT = 5
_NO_NAMES = frozenset({"all", "average", "default", "general", "main", "mean", "overall", "score", "test", "total"})
_VARIANT = re.compile(r"\d+(?:\.\d+)?[bmk]|instruct|chat|base|it|hf|fp8|bf16|gguf|awq|gptq|preview", re.I)


def benchmark_names(dataset: str, task: str) -> tuple[str, ...]:
    """The names that a benchmark may go by."""
    tail = dataset.partition("/")[2]
    told = (names().get(dataset.lower(), tail), tail, task.rpartition("/")[2])
    return tuple(dict.fromkeys(one for one in told if one.lower() not in _NO_NAMES))


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


def _squash(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
