"""What a sweep has to say: as text, as data, and as a command sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchwright.contract import Problem, counted
from benchwright.hub.sweep.classes import SweptPull, SweptResult
from benchwright.hub.sweep.sight import Hidden, Shown
from benchwright.hub.sweep.sweep import Swept


def summary(swept: Sequence[Swept]) -> str:
    """All pull requests by their classes: ``12 pull requests: 9 visible, 3 drifted``."""
    kinds = Counter(one.kind for one in swept)
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items(), key=lambda one: (-one[1], one[0])))
    return f"{counted(len(swept), 'pull request')}{f': {told}' if told else ''}"


def lines(swept: Sequence[Swept]) -> list[str]:
    """The pull requests with what is or was done: those to look at, then the visible ones, then those long done."""
    told = [(one, one.pull) for one in swept if one.pull is not None]
    told.sort(key=lambda both: (both[0].record.state != "open", both[0].kind == "visible" and not both[0].taken))
    return [line for one, pull in told for line in _lines(one, pull)]


def data(swept: Sequence[Swept]) -> list[dict[str, Any]]:
    """The pull requests as data."""
    return [
        {
            "repo": one.pull.facts.repo if one.pull else one.record.repo,
            "num": one.record.num,
            "url": one.record.url,
            "class": one.kind,
            "why": one.pull.why if one.pull else "; ".join(problem.found for problem in one.problems),
            "results": [_result(result, one.pull) for result in one.pull.results] if one.pull else [],
            "comments": [asdict(comment) for comment in one.pull.facts.comments] if one.pull else [],
            "steps": list(one.steps.words),
            "taken": list(one.taken.words),
        }
        for one in swept
    ]


def problems(swept: Sequence[Swept]) -> list[Problem]:
    """All that is not known, and all that went wrong."""
    return [problem for one in swept for problem in one.problems]


def _lines(one: Swept, pull: SweptPull) -> list[str]:
    told = [f"  {pull.facts.label}  {pull.kind}"]
    if pull.hands_off:
        told[0] += f": {pull.why}"
    told += [f"    {_named(result)}: {result.kind}, {result.why}" for result in pull.results if not pull.hands_off]
    told += [f"    to do: {word}" for word in one.steps.words]
    return told + [f"    done: {word}" for word in one.taken.words]


def _named(one: SweptResult) -> str:
    return f"{one.facts.name} {one.facts.result.value_text}"


def _result(one: SweptResult, pull: SweptPull) -> dict[str, Any]:
    result, seen = one.facts.result, one.facts.sight
    view = seen.view if isinstance(seen, Shown) else None
    return {
        "dataset": result.dataset,
        "task_id": result.task_id,
        "benchmark": one.facts.name,
        "value_text": result.value_text,
        "filename": result.filename,
        "class": pull.kind if pull.facts.status == "closed" else one.kind,
        "why": pull.why if pull.facts.status == "closed" else one.why,
        "rank": seen.rank if isinstance(seen, Shown) else None,
        "view": None if view is None else {**asdict(view), "words": str(view)},
        "rank_of_all": seen.widest if isinstance(seen, Shown | Hidden) else None,
        "link": one.facts.link,
    }
