"""An outcome as text: for people, whole or on a screen, and as the one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from numbers import Integral, Number, Real
from pathlib import Path
from typing import Any

from benchwright.contract import Outcome, Redaction, redact

MOST_LINES = 40
_OF_PROBLEMS = 20
"""Lines of problems that are shown however many details there are: those are cut first."""


def report(outcome: Outcome) -> str:
    """The human form of an outcome: problems late, so that they and the next command are what the eye meets."""
    return "\n".join(line for part in _parts(outcome) for line in part)


def shortened(outcome: Outcome, out: Path | None) -> str:
    """The report in at most ``MOST_LINES`` lines where that is possible; the next commands and the closing stay.

    ``out`` is the file that has the whole report.
    """
    head, details, problems, ending = _parts(outcome)
    room = MOST_LINES - len(head) - len(ending)
    of_problems = min(len(problems), max(room - len(details), _OF_PROBLEMS))
    ends = tuple(accumulate(max(len(detail.splitlines()), 1) for detail in outcome.details))
    lines = [*head, *_cut(details, room - of_problems, out, ends), *_cut(problems, of_problems, out), *ending]
    return "\n".join(lines)


def as_json(value: Any, *, encoding: str | None = None, indent: int | None = None) -> str:
    """A value as JSON with secrets hidden, in characters that ``encoding`` has (default: UTF-8).

    Any value will do. Where one character is missing in ``encoding``, as lone surrogates are in every one, all beyond
    ASCII are escaped. What is no type of JSON's becomes its text: so do NaN and the infinities.
    """
    plain = _plain(value, Redaction())
    text = json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain, indent=indent, allow_nan=False)
    return text


def as_file(text: str) -> bytes:
    r"""A text in UTF-8, and what UTF-8 lacks, the lone surrogates that stand for bytes of a name, as ``\udcff``."""
    return text.encode("utf-8", "backslashreplace")


def _cut(lines: list[str], most: int, out: Path | None, ends: Sequence[int] = ()) -> list[str]:
    """The first of the lines, and in the last one of ``most`` what is left out and where it is.

    ``ends`` are the numbers of lines behind which a cut is allowed, where not behind every line.
    """
    if len(lines) <= max(most, 1):
        return lines
    shown = max(most - 1, 1)
    shown = max((end for end in ends if end <= shown), default=shown)
    rest = f"the whole report: {out}" if out else f"{len(lines) - shown} more lines; --out FILE writes them all"
    return [*lines[:shown], f"... {rest}"]


def _parts(outcome: Outcome) -> tuple[list[str], ...]:
    """The lines of the summary, of the details, of the problems, and of what comes last."""
    head, problems = outcome.summary, [f"  - {problem}" for problem in outcome.problems]
    if len(outcome.problems) == 1 and outcome.summary == outcome.problems[0].found:
        head, problems = str(outcome.problems[0]), []  # the problem alone says it all, once
    commands = [outcome.next_title, *(f"    {command}" for command in outcome.next)] if outcome.next else []
    parts = ([head], outcome.details, problems, [*commands, *outcome.closing])
    return tuple(redact("\n".join(part)).splitlines() for part in parts)


def _plain(value: Any, hide: Callable[[str], str]) -> Any:
    """A value in JSON's own types, with secrets hidden in every text of it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return hide(str(value))
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else json.dumps(number)  # "NaN", "Infinity" or "-Infinity"
    if isinstance(value, Mapping):
        return {hide(str(key)): _plain(inner, hide) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, hide) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(inner, hide) for inner in value), key=str)
    if hasattr(value, "tolist") and not isinstance(value, Number):
        return _plain(value.tolist(), hide)  # numpy's arrays, and its own kind of bool
    return hide(str(value))
