"""What a batch of pull requests would say: models, each with results, the pages that print them, and their units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.spec_file import Place, SpecFile

UnitName = Literal["percent", "fraction", "other"]
_SHIFTS = {("fraction", "percent"): 2, ("percent", "fraction"): -2}
"""Of the decimal point, from the source's unit to the board's."""


@dataclass(frozen=True)
class Unit:
    """The units of the source and of the board: 0.627 in fractions is 62.7 in percent."""

    source: UnitName
    board: UnitName


@dataclass(frozen=True)
class CitedSource:
    """The page where a reviewer finds a number. ``file`` is a saved copy, which is checked in the page's place."""

    url: str
    name: str
    file: Path | None = None


@dataclass(frozen=True)
class Result:
    """A result of a model, for one task's board.

    ``value_text`` are the digits that the source prints; ``board_text`` the same digits in the board's unit, as they go
    into the file, and ``value`` is their number. ``origin``, ``answers`` and ``checkpoint`` (the model whose weights
    were evaluated) are the result's own, or the model's. ``place`` says where in the spec it is.
    """

    repo: str
    dataset: str
    task_id: str
    value_text: str
    board_text: str
    source: CitedSource
    unit: Unit | None = None
    unit_checked: bool = False
    checkpoint: str | None = None
    origin: str | None = None
    notes: str | None = None
    date: str | None = None
    filename: str | None = None
    row: int | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    place: str = field(default="", compare=False)

    @property
    def value(self) -> Decimal:
        """The number in the board's unit."""
        return Decimal(self.board_text)

    @property
    def printed(self) -> Decimal:
        """The number that the source prints."""
        return Decimal(self.value_text.replace(",", ""))


@dataclass(frozen=True)
class RepoSpec:
    """A model and its results: one pull request. ``place`` says where in the spec it is."""

    repo: str
    results: tuple[Result, ...]
    origin: str | None = None
    place: str = field(default="", compare=False)


@dataclass(frozen=True)
class Spec:
    """The content of a spec: models in its order, each once, with at most one result a board."""

    path: Path
    repos: tuple[RepoSpec, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """All results, in the order of the file."""
        return tuple(result for repo in self.repos for result in repo.results)

    @classmethod
    def load(cls, path: Path | str) -> Spec:
        """The spec in a file.

        Raises:
            Failure: it cannot be read, or is not of the form of ``spec.schema.json``; or a model or a board is
                there twice, a unit cannot be converted, a date or a file's address is none. Every problem with its line
                (exit 2).
        """
        file = SpecFile(Path(path))
        repos: list[Place] = [("repos", number) for number in range(file.count("repos"))]
        problems = [*file.problems, *(problem for place in repos for problem in _repo_problems(file, place))]
        problems += _twice(file, {place: _id(file, *place, "repo") for place in repos}, "the model is there twice")
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        return cls(file.path, tuple(_repo(file, place, file.get(*place)) for place in repos))


def on_board(value_text: str, unit: Unit | None) -> str:
    """The digits of a number in the board's unit, each kept: ``0.6270`` of a fraction is ``62.70`` percent.

    Raises:
        KeyError: there is no way from the one unit to the other.
    """
    number = Decimal(value_text.replace(",", ""))
    if unit is None or unit.source == unit.board:
        return f"{number:f}"
    return f"{number.scaleb(_SHIFTS[unit.source, unit.board]):f}"


def _repo(file: SpecFile, place: Place, told: Mapping[str, Any]) -> RepoSpec:
    results = tuple(
        _result(file, (*place, "results", number), told, result) for number, result in enumerate(told["results"])
    )
    return RepoSpec(told["repo"], results, told.get("origin"), file.where(place))


def _result(file: SpecFile, place: Place, repo: Mapping[str, Any], told: Mapping[str, Any]) -> Result:
    source = told["source"]
    copy = _copy(file.path, source["file"]) if "file" in source else None
    unit = Unit(**told["unit"]) if "unit" in told else None
    return Result(
        repo=repo["repo"],
        dataset=told["dataset"],
        task_id=told["task_id"],
        value_text=told["value_text"],
        board_text=on_board(told["value_text"], unit),
        source=CitedSource(source["url"], source["name"], copy),
        unit=unit,
        unit_checked=told.get("unit_checked", False),
        checkpoint=told.get("checkpoint", repo.get("checkpoint")),
        origin=told.get("origin", repo.get("origin")),
        notes=told.get("notes"),
        date=told.get("date"),
        filename=told.get("filename"),
        row=int(told["row"]) if "row" in told else None,
        answers={**repo.get("answers", {}), **told.get("answers", {})},
        place=file.where(place),
    )


def _repo_problems(file: SpecFile, place: Place) -> Iterator[Problem]:
    """What no schema can say, of whatever is of the form."""
    results: list[Place] = [(*place, "results", number) for number in range(file.count(*place, "results"))]
    for where in results:
        yield from _result_problems(file, where)
    boards = {where: (_id(file, *where, "dataset"), file.get(*where, "task_id")) for where in results}
    known = {where: board for where, board in boards.items() if None not in board}
    yield from _twice(file, known, "a second value for the same board")


def _result_problems(file: SpecFile, place: Place) -> Iterator[Problem]:
    unit, date = file.get(*place, "unit"), file.get(*place, "date")
    if unit and unit["source"] != unit["board"] and (unit["source"], unit["board"]) not in _SHIFTS:
        found = f"no way from {unit['source']} to {unit['board']}"
        yield file.problem((*place, "unit"), found, "percent and fraction, or the same unit twice")
    if date is not None and not _is_date(date):
        yield file.problem((*place, "date"), repr(date), "the day of the evaluation, YYYY-MM-DD")
    url, copy = file.get(*place, "source", "url"), file.get(*place, "source", "file")
    if url is not None and not _splits(url):
        yield file.problem((*place, "source", "url"), repr(url), "an address that a reviewer can open")
    if copy is not None and _copy(file.path, copy) is None:
        yield file.problem((*place, "source", "file"), repr(copy), "a path, or file:// and one on this machine")


def _id(file: SpecFile, *place: str | int) -> str | None:
    """The id at a place as ids compare."""
    told = file.get(*place)
    return None if told is None else str(told).lower()


def _twice(file: SpecFile, keys: Mapping[Place, Any], found: str) -> Iterator[Problem]:
    first: dict[Any, Place] = {}
    for place, key in keys.items():
        if key in first and key is not None:
            yield file.problem(place, f"{found}: {file.where(first[key])}", "one", "remove one of them", code="twice")
        first.setdefault(key, place)


def _is_date(text: str) -> bool:
    try:
        return text[4:5] == text[7:8] == "-" and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def _splits(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:  # brackets without an address between them, a port that is no number
        return False


def _copy(spec: Path, file: str) -> Path | None:
    """The path that a saved copy's is; None where it is an address on another machine, or none at all."""
    host, slash, path = file.removeprefix("file://").partition("/")
    if file.startswith("file://"):
        return Path(unquote(f"/{path}")) if slash and host in ("", "localhost") and "%00" not in path else None
    return None if "://" in file or "\0" in file else spec.parent / file
