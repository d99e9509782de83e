"""Job ids as SLURM prints them: ``4``, ``4_7``, ``4_[3-7,9%2]``, ``4_[0-15:4]``, ``4+1``, with a step behind a dot."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_ID = re.compile(
    r"(?P<job>\d+)(?:_(?:(?P<task>\d+)|\[(?P<some>[^\]]*)(?P<closed>\])?)|\+(?P<part>\d+))?(?:\.(?P<step>\S+))?"
)
_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
MOST_TASKS = 4_000_001
"""SLURM's own bound on MaxArraySize; a larger expression is none of its."""

_LONGEST_LIST = 120


@dataclass(frozen=True)
class JobId:
    """A printed id: ``tasks`` are array indices, none for a plain id, ``step`` is ``batch``, ``extern`` or ``0``.

    The parts of a heterogeneous job, ``4+1``, are its tasks here: no array can be one, and each part has its own end.
    ``cut`` says that the list of tasks was not printed whole; its last number is then left out.
    """

    job: int
    tasks: tuple[int, ...] = ()
    step: str | None = None
    cut: bool = False


def parse_id(text: str) -> JobId | None:
    """Read an id; None where the text is none."""
    match = _ID.fullmatch(text.strip())
    if not match:
        return None
    job, step = int(match["job"]), match["step"]
    if match["task"] or match["part"]:
        return JobId(job, (int(match["task"] or match["part"]),), step)
    if match["some"] is None:
        return JobId(job, (), step)
    some, cut = match["some"], match["closed"] is None or "..." in match["some"]
    if cut:  # the number before the cut may have lost digits
        some = some.partition("...")[0].rpartition(",")[0]
    tasks = expand(some.partition("%")[0])
    return None if tasks is None else JobId(job, tasks, step, cut)


def expand(expression: str) -> tuple[int, ...] | None:
    """The indices of ``3-7,9`` or ``0-15:4``; None where the text is no such list."""
    tasks: list[int] = []
    for piece in filter(None, expression.split(",")):
        match = _RANGE.fullmatch(piece)
        if not match:
            return None
        first, step = int(match[1]), int(match[3] or 1)
        last = int(match[2] or first)
        if step < 1 or last < first or last >= MOST_TASKS:
            return None
        tasks.extend(range(first, last + 1, step))
    return tuple(tasks)


def compact(tasks: Iterable[int]) -> str:
    """Indices as ranges, the inverse of `expand`: ``3-7,9``."""
    pieces: list[list[int]] = []
    for task in sorted(set(tasks)):
        if pieces and task == pieces[-1][1] + 1:
            pieces[-1][1] = task
        else:
            pieces.append([task, task])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in pieces)


def array_id(job: int, tasks: Iterable[int]) -> str:
    """Tasks of an array as ``scontrol`` and ``scancel`` take them: ``4_7``, ``4_[3-7,9]``."""
    text = compact(tasks)
    return f"{job}_{text}" if text.isdigit() else f"{job}_[{text}]"


def brief_id(job: int, tasks: Collection[int]) -> str:
    """Tasks of an array for people: of a long list the beginning and how many there are, ``4_[1,3,...: 900 tasks]``."""
    text = array_id(job, tasks)
    if len(text) <= _LONGEST_LIST:
        return text
    return f"{text[:_LONGEST_LIST].rpartition(',')[0]},...: {len(tasks):,} tasks]"
