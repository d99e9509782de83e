"""The rows that a logged decision spares: the one way past the gates, for a row that is named and on record."""

from __future__ import annotations

import re
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, is_day, said, usage_error
from benchwright.files import read_bytes

_MOST_BYTES = 2**22
_LINE = re.compile(r"(?P<row>\S+)\s+(?P<date>\d{4}-\d\d-\d\d)\s+(?P<reason>\S.*)")
_FORM = "ROW_ID YYYY-MM-DD REASON, a line for each row"
_FIX = "correct the line, or put a # before it"


def read_grandfathered(path: Path) -> frozenset[str]:
    """The ids of the rows in a log of decisions: lines ``ROW_ID YYYY-MM-DD REASON``, empty ones and ``#`` between.

    Raises:
        Failure: the file cannot be read or has other lines, since a decision without a date and a reason is none, or a
            date that no calendar has; every such line (exit 2).
    """
    try:
        lines = read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise usage_error(str(path), said(error), _FORM, "name a log that can be read", code="grandfather") from None
    except UnicodeDecodeError:
        raise usage_error(str(path), "no text in UTF-8", _FORM, "save it in UTF-8", code="grandfather") from None
    rows, problems = set(), []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        where = f"{path}: line {number}"
        if found is None:
            problems.append(Problem("grandfather", where, repr(line)[:80], _FORM, _FIX))
        elif not is_day(found["date"]):
            problems.append(Problem("grandfather", where, f"no calendar has {found['date']}", "a day", _FIX))
        else:
            rows.add(found["row"].lower())
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return frozenset(rows)
