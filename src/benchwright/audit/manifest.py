"""The manifest: a table of the runs to audit, with what their folders may not say of themselves."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from benchwright.audit.trace_names import repo_of_link
from benchwright.contract import Exit, Failure, Problem, said, usage_error
from benchwright.files import read_bytes
from benchwright.harbor import JobPlace, resolve_job_folder
from benchwright.slurm import is_job_id

_MOST_BYTES = 2**26
_FORM = "a CSV file with a heading, of which job_dir is one column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What a person says of a run, before anything else that says it; None is left to the folder.

    ``slurm_job_id`` is the job that ran it, ``row_id`` its row in the database, ``trials`` how many there should be,
    ``traces`` the repo of its traces. ``agent`` is that of a run of one eval: of several each trial tells its own.
    """

    slurm_job_id: str | None = None
    agent: str | None = None
    model: str | None = None
    benchmark: str | None = None
    trials: int | None = None
    row_id: str | None = None
    traces: str | None = None
    measurement: bool | None = None

    def over(self, other: Hint) -> Hint:
        """What either says, this one first."""
        own = {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}
        return replace(other, **own)


NO_HINT = Hint()


@dataclass(frozen=True, slots=True)
class Entry:
    """A run to audit: where it is, and what was said of it.

    One that a manifest lists is an eval even where its folder is gone; a path on the command line has to be one.
    ``remote`` is the address of one that is in a bucket, where Iris wrote it; its name is that of ``path``. ``place``
    is where its results are, None where that is still to be found out.
    """

    path: Path
    hint: Hint = NO_HINT
    listed: bool = False
    remote: str = ""
    place: JobPlace | None = None


def read_manifest(path: Path, root: Path | None) -> list[Entry]:
    """The runs of a manifest in its order; a ``job_dir`` that is relative is one below ``root``, where that is given.

    One with ``://`` in it is the address of an Iris job, as reports have it.

    Its other columns are the fields of ``Hint``, each of which may be left out or empty; ``measurement`` is yes or no.

    Raises:
        Failure: the file cannot be read or is of another form; every problem of it (exit 2).
    """
    try:
        text = read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise usage_error(
            str(path), said(error), _FORM, code="manifest", fix="name a table that can be read: --manifest FILE"
        ) from None
    except UnicodeDecodeError:
        raise usage_error(str(path), "no text in UTF-8", _FORM, code="manifest", fix="save it in UTF-8") from None
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True, restkey="", restval="")
    problems: list[Problem] = []
    entries: dict[Path, Entry] = {}

    def wrong(where: str, found: str, expected: str, fix: str) -> None:
        problems.append(Problem("manifest", where, found, expected, fix))

    try:
        columns = [column.strip() for column in table.fieldnames or ()]
        problems += _of_columns(path, columns)
        table.fieldnames = columns
        for cells in () if problems else table:
            where = f"{path}: line {table.line_num}"
            values = {name: value.strip() for name, value in cells.items() if isinstance(value, str) and value.strip()}
            if cells.get(""):
                wrong(where, "more cells than columns", "one cell a column", "quote the cell that has a comma in it")
            elif "job_dir" not in values:
                fix = "name the folder, or take the line out"
                wrong(f"{where}: job_dir", "missing", "the folder of a run", fix)
            else:
                place = values.pop("job_dir")
                remote = place if "://" in place else ""
                folder = Path(place) if remote else (root or Path()) / place
                if folder in entries:
                    wrong(f"{where}: job_dir", f"{folder} again", "each run once", "take one of the lines out")
                problems += _of_values(where, values)
                entries[folder] = Entry(folder, NO_HINT if problems else _hint(values), True, remote)
    except csv.Error as error:
        wrong(f"{path}: line {table.line_num}", str(error), _FORM, "correct the line")
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return list(entries.values())


def hint_in(entries: Iterable[Entry], folder: Path) -> Hint | None:
    """What a manifest says of the run in a folder: by its path, or another one to the same results; None where nothing.

    Paths are the same where they lead to the same place, over whatever links.
    """
    here = [entry for entry in entries if not entry.remote]
    named = [entry for entry in here if os.path.realpath(entry.path) == os.path.realpath(folder)]
    place = None if named else _folders(folder)
    found = named or [entry for entry in here if place and _folders(entry.path) == place]
    return found[0].hint if found else None


def _folders(path: Path) -> tuple[str, ...] | None:
    try:
        return tuple(map(os.path.realpath, resolve_job_folder(path).folders))
    except Failure:
        return None


def _repo(text: str) -> str:
    repo = repo_of_link(text)
    if repo is None:
        raise ValueError(text)
    return repo


def _job_id(text: str) -> str:
    if not is_job_id(text):
        raise ValueError(text)
    return text


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_READ: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "slurm_job_id": (_job_id, "the id of a job, such as 4711"),
    "agent": (str, "a name"),
    "model": (str, "a name"),
    "benchmark": (str, "a name"),
    "trials": (_number, "a whole number above 0"),
    "row_id": (str, "the id of a row"),
    "traces": (_repo, "ORG/NAME"),
    "measurement": ({"yes": True, "no": False}.__getitem__, "yes or no"),
}


def _of_columns(path: Path, columns: list[str]) -> Iterator[Problem]:
    known = ("job_dir", *_READ)
    if "job_dir" not in columns:
        yield Problem(
            "manifest",
            f"{path}: heading",
            f"no job_dir in {', '.join(columns) or 'it'}",
            _FORM,
            "add the column job_dir",
        )
    for name in sorted(set(columns) - set(known)):
        yield Problem(
            "manifest",
            f"{path}: heading",
            f"no such column: {name!r}",
            f"one of {', '.join(known)}",
            "take the column out, or correct its name",
        )
    for name in sorted({name for name in columns if columns.count(name) > 1}):
        yield Problem("manifest", f"{path}: heading", f"{name!r} again", "each column once", "take one of them out")


def _of_values(where: str, values: Mapping[str, str]) -> Iterator[Problem]:
    for name, value in values.items():
        read, expected = _READ[name]
        try:
            read(value)
        except (ValueError, KeyError):
            yield Problem(
                "manifest", f"{where}: {name}", repr(value)[:80], expected, "correct the cell, or leave it empty"
            )


def _hint(values: Mapping[str, str]) -> Hint:
    return Hint(**{name: _READ[name][0](value) for name, value in values.items()})
