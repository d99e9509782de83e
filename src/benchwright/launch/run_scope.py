"""How much of a search space and of an arena a benchmark runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchwright.arena import ArenaSource, ModelInfo, TaskSubset
from benchwright.contract import usage_error
from benchwright.launch.checks import MOST_CONFIGS

ALL_PROBLEM_TYPES = ("binary", "multiclass", "regression")


def choose_configs(text: str | None, info: ModelInfo | None, arena: ArenaSource) -> tuple[int | str, str]:
    """The number of random configs, or "all", and where it comes from; ``text`` is what was asked for.

    A model without a search space has none, and a small search space fewer than the arena's "all". Without ``info``
    only the text is checked.

    Raises:
        Failure: the text is no such number, or more than there are (exit 2).
    """
    from benchwright.bridge import count_configs

    given = None if text is None else parse_configs(text)
    if info is None:
        return 0, ""
    if not info.has_search_space:
        if given not in (None, 0):
            found = f"{given} for {info.name}, which has no search space"
            raise usage_error("--configs", found, "0", "leave --configs out", code="no-search-space")
        return 0, "it has no search space"
    wanted, there = count_configs(arena, info.name, "all" if given is None else given)
    if there == wanted:
        return ("all", f"its search space, {wanted} random ones") if given is None else (given, "given")
    if given is None:
        return there, f"its search space has no more; all would be {wanted}"
    found = f"{given} for {info.name}: {wanted:,} random configs, more than its search space has"
    fix = f"--configs {there}, or leave it out to take as many"
    raise usage_error("--configs", found, f"at most {there:,}", fix, code="too-many-configs")


def parse_configs(text: str) -> int | str:
    """``all`` or a number from the command line.

    Raises:
        Failure: it is neither, or a number beyond any benchmark (exit 2).
    """
    if text == "all":
        return text
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) > MOST_CONFIGS:
        expected = f"all, 0 or a number up to {MOST_CONFIGS:,}"
        raise usage_error("--configs", repr(text), expected, "leave --configs out to take all there are")
    return int(text)


@dataclass(frozen=True)
class Scope:
    """Subset expressions of what is run and of each leaderboard, with where they come from."""

    subset: tuple[str, ...]
    subset_from: str
    eval_subsets: tuple[tuple[str, ...], ...]
    eval_from: str


def choose_scope(given: Sequence[str], info: ModelInfo | None, arena: ArenaSource) -> Scope:
    """What is run, and what is evaluated of it: the problem types that the model fits and the scope has.

    Raises:
        Failure: the scope names what is not there, or nothing is left of it (exit 2).
    """
    fits = ALL_PROBLEM_TYPES if info is None else _in_order(info.problem_types)
    limits = [] if fits == ALL_PROBLEM_TYPES else ["|".join(fits)]
    subset = tuple(dict.fromkeys([*given, *limits]))
    splits = arena.spec.tasks.select(TaskSubset(subset=list(subset))).splits
    if not splits:
        found = f"{' with '.join(subset)} is nothing of {arena.spec.title}"
        fix = "leave a --subset out: all that are given must hold"
        raise usage_error("--subset", found, "a scope with tasks", fix)
    kinds = _in_order({split.problem_type for split in splits})
    if kinds == ALL_PROBLEM_TYPES:
        evaluated: tuple[tuple[str, ...], ...] = ((), *((kind,) for kind in kinds))
    else:
        evaluated = tuple(dict.fromkeys((("|".join(kinds),), *((kind,) for kind in kinds))))
    said = ["given"] if given else []
    said += [f"it fits {' and '.join(fits)} alone"] if limits else []
    reason = "all of the scope, then each problem type" if len(kinds) > 1 else "the only problem type of the scope"
    return Scope(subset, "; ".join(said) or "every split", evaluated, reason)


def _in_order(kinds: Collection[str]) -> tuple[str, ...]:
    return tuple(kind for kind in ALL_PROBLEM_TYPES if kind in kinds)
