"""Leads from files: a CSV of results, and a list of models."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, said, usage_error
from benchwright.files import read_bytes
from benchwright.hub.candidates.leads import Lead, lead_of, paper_address
from benchwright.hub.model_repo import normalise_url

_MOST_BYTES = 2**26
_MOST_PROBLEMS = 50
_FORM = (
    "CSV with a heading: hf_model_url, value_text, and either hub_dataset (with hub_task, if it has several) or"
    " dataset_slug and metric_name"
)
_SAME_AS = {"metric_name": "metric", "task_slug": "pwc_task", "hf_model_url": "url", "result_id": "id"}
"""The columns of the database's view, by what leads call them; other columns go by the same name."""


def csv_leads(path: Path) -> list[Lead]:
    """The results in a file, with the columns of the database's view as far as they are there.

    Raises:
        Failure: it cannot be read or is of another form; every problem of it (code ``csv``, exit 2).
    """
    leads: list[Lead] = []
    problems: list[Problem] = []
    for number, row in _rows(path):
        where = f"{path}: line {number}"
        if None in row or None in row.values():
            fix = "correct the line; a cell with a comma needs quotes"
            problems.append(Problem("csv", where, "more cells, or fewer, than the heading has", _FORM, fix))
            continue
        needed = ("hf_model_url", "value_text", *(() if row.get("hub_dataset") else ("dataset_slug", "metric_name")))
        lacking = [name for name in needed if not row.get(name, "").strip()]
        problems += [
            Problem("csv", f"{where}: {name}", "missing", _FORM, "fill it in, or take the line out") for name in lacking
        ]
        told = {_SAME_AS.get(name, name): value for name, value in row.items()}
        told["id"] = told.get("id") or f"line {number}"
        told["source_url"] = told.get("source_url") or paper_address(row.get("arxiv_id"))
        leads.append(lead_of(told, row.get("dataset_slug"), row.get("dataset_name")))
    _settle(problems)
    return leads


def read_models(path: Path) -> frozenset[str]:
    """The ids of the models that a file lists, one a line, as ids or addresses; ``#`` begins a comment.

    Raises:
        Failure: it cannot be read, or a line is no model; every problem of it (exit 2).
    """
    lines = [text.partition("#")[0].strip() for text in _text(path, "a list of models, one a line").splitlines()]
    ids = {number: normalise_url(text) for number, text in enumerate(lines, start=1) if text}
    _settle(
        [
            Problem(
                "models",
                f"{path}: line {number}",
                repr(lines[number - 1])[:200],
                "a model's id or address",
                "correct it, or take the line out",
            )
            for number, id_ in ids.items()
            if id_ is None
        ]
    )
    if not ids:
        raise usage_error(
            str(path), "no model in it", "a list of models, one a line", "write one into it", code="models"
        )
    return frozenset(id_ for id_ in ids.values() if id_)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a file with the number of the line that each ends on."""
    table = csv.DictReader(io.StringIO(_text(path, _FORM), newline=""), strict=True)
    number = 1
    try:
        columns = [name.strip() for name in table.fieldnames or ()]
        table.fieldnames = columns
        twice = sorted({name for name in columns if columns.count(name) > 1})
        lacking = [name for name in ("hf_model_url", "value_text") if name not in columns]
        if lacking or twice:
            found = [f"no {name}" for name in lacking] + [f"{name!r} twice" for name in twice]
            raise usage_error(f"{path}: heading", ", ".join(found), _FORM, "correct the heading", code="csv")
        for row in table:
            number = table.line_num
            yield number, row
    except csv.Error as error:
        fix = "correct the line; a quote may lack its end"
        raise usage_error(f"{path}: line {max(number, table.line_num)}", str(error), _FORM, fix, code="csv") from None


def _text(path: Path, form: str) -> str:
    try:
        text = read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise usage_error(
            str(path), f"not UTF-8 at byte {error.start}", form, "save it as UTF-8", code="not-utf-8"
        ) from None
    except OSError as error:
        raise usage_error(str(path), said(error), form, "name a file that can be read", code="not-found") from None
    if "\0" in text:
        raise usage_error(str(path), "a NUL character in it", form, "save it again as text", code="nul-character")
    return text


def _settle(problems: list[Problem]) -> None:
    if len(problems) > _MOST_PROBLEMS:
        more = Problem(
            "csv", "further lines", f"{len(problems) - _MOST_PROBLEMS:,} more problems", "", "correct those above first"
        )
        problems = [*problems[:_MOST_PROBLEMS], more]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
