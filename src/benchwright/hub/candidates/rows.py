"""The list of candidates as a CSV file: a row for each lead, numbered once and for all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, said, usage_error
from benchwright.files import read_bytes
from benchwright.hub.candidates.leads import Source, line
from benchwright.hub.candidates.mapping import Mapped, major_labs
from benchwright.hub.candidates.statuses import STATUSES, Finding
from benchwright.hub.model_repo import normalise_url

_MOST_BYTES = 2**28
_FORM = "a list that find_candidates.py has written"
_FORMULA = ("=", "+", "-", "@")
"""What makes a spreadsheet compute a cell."""
_NUMBER = re.compile(r"[-+]?[\d.,]+%?", re.ASCII)
_ROW = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_SOURCES: dict[Source, str] = {
    "db": "Papers With Code",
    "api": "Papers With Code",
    "cards": "the card",
    "csv": "the CSV",
}
PWC = _SOURCES["db"]
_WHAT_A_ROW_IS = ("row", "repo", "hub_dataset", "hub_task", "pwc_result_id", "pwc_value_text")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the file, its columns in their order.

    ``repo`` is as the source has it, ``repo_canonical`` as the Hub has it now. ``board_value_guess`` is the value in
    the board's unit, still to be found at its source. ``predicted_rank`` is the one at worst, in ``predicted_view``.
    """

    row: int
    status: str
    reason: str = ""
    repo: str = ""
    repo_canonical: str = ""
    org_kind: str = ""
    major: str = ""
    hub_dataset: str = ""
    hub_task: str = ""
    hub_name: str = ""
    pwc_result_id: str = ""
    pwc_value_text: str = ""
    board_value_guess: str = ""
    unit_conversion: str = ""
    predicted_rank: str = ""
    predicted_view: str = ""
    published: str = ""
    source_url: str = ""
    paper_title: str = ""
    notes: str = ""
    corrections: str = ""
    metadata_problems: str = ""

    @property
    def is_for_a_pull_request(self) -> bool:
        """Whether it is a candidate that would be seen."""
        return self.status == "candidate" and bool(self.predicted_view)

    @property
    def model(self) -> str:
        """The model by its present id, or else by what the source has."""
        return self.repo_canonical or self.repo


COLUMNS = tuple(one.name for one in fields(Row))


def row_of(number: int, mapped: Mapped, finding: Finding, source: Source) -> Row:
    """The row of a lead."""
    lead = mapped.lead
    rank = "" if finding.rank is None else str(finding.rank)
    return Row(
        row=number,
        status=finding.status,
        reason=line(finding.reason),
        repo=lead.url,
        repo_canonical=finding.repo,
        org_kind=finding.owner,
        major="yes" if is_major(finding.repo or lead.url) else "",
        hub_dataset=finding.dataset or mapped.rule.dataset,
        hub_task=finding.task or mapped.rule.task or "",
        hub_name=finding.name,
        pwc_result_id=";".join(mapped.ids),
        pwc_value_text=lead.value_text,
        board_value_guess=finding.value,
        unit_conversion=finding.conversion,
        predicted_rank=rank,
        predicted_view=finding.view,
        published=lead.published,
        source_url=lead.source_url,
        paper_title=lead.paper_title,
        notes="; ".join(finding.notes),
        corrections="; ".join(f"{_SOURCES[source]} {one}" for one in finding.mistaken),
        metadata_problems="; ".join(finding.metadata),
    )


def is_major(repo: str) -> bool:
    """Whether a model, by its id or address, is of an organisation whose models come first."""
    return (normalise_url(repo) or "").partition("/")[0].lower() in major_labs()


def rows_digest(rows: Iterable[Row]) -> str:
    """The SHA-256 of what each number stands for; what is found out later about a row does not change it."""
    told = sorted([str(getattr(row, name)) for name in _WHAT_A_ROW_IS] for row in rows)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def rows_text(rows: Sequence[Row]) -> str:
    """The content of the file. No cell is a formula to a spreadsheet."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow(_cell(value) for value in asdict(row).values())
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, in its order.

    Raises:
        Failure: it cannot be read, or is no such list; every problem of it (code ``candidates``, exit 2).
    """
    try:
        text = read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        columns = list(table.fieldnames or ())
        if lacking := [name for name in COLUMNS if name not in columns]:
            fix = "name the list itself, or make one with find_candidates.py"
            raise usage_error(f"{path}: heading", f"no {', no '.join(lacking)}", _FORM, fix, code="candidates")
        lines = [(table.line_num, cells) for cells in table]
    except OSError as error:
        raise usage_error(str(path), said(error), _FORM, "name a file that can be read", code="candidates") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise usage_error(
            str(path), str(error), _FORM, "name the list itself, or make one with find_candidates.py", code="candidates"
        ) from None
    problems: list[Problem] = []
    rows: dict[int, Row] = {}
    for number, cells in lines:
        where = f"{path}: line {number}"
        told = {name: _text(cells.get(name)) for name in COLUMNS}
        if not _ROW.fullmatch(told["row"]) or int(told["row"]) in rows:
            fix = "put the list back as it was: its rows are numbers that others know"
            problems.append(Problem("candidates", f"{where}: row", repr(told["row"])[:80], "a number of its own", fix))
        elif told["status"] not in STATUSES:
            fix = "put the list back as it was"
            problems.append(
                Problem("candidates", f"{where}: status", repr(told["status"])[:80], ", ".join(STATUSES), fix)
            )
        else:
            row = int(told.pop("row"))
            rows[row] = Row(row=row, **told)
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return list(rows.values())


def _cell(value: object) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _text(cell: str | None) -> str:
    text = cell or ""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
