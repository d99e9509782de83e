"""The file of a spec: JSON of the form that ``spec.schema.json`` publishes, and each problem of it with its place."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.contract import Problem, said, usage_error
from benchwright.files import read_bytes

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

SCHEMA = Path(__file__).with_name("spec.schema.json")
FORM = "a spec of the form that references/spec.schema.json describes"
Place = tuple[str | int, ...]
"""The names and numbers that lead to a value: ``("repos", 0, "repo")``."""

_MOST_BYTES = 8 * 2**20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


class SpecFile:
    """A spec's content and the lines that its values are on; ``problems`` are all ways in which it is not of the form.

    Raises:
        Failure: the file cannot be read or is no JSON (exit 2).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text = _text(path)
        try:
            self.content: Any = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise usage_error(str(path), f"not JSON: {error}", FORM, "correct it there", code="not-json") from None
        self._lines: dict[Place, int] = {}
        twice: list[Place] = []
        for place, line in _values(text):
            if place in self._lines and not (twice and place[: len(twice[-1])] == twice[-1]):
                twice.append(place)
            self._lines[place] = line
        told = [(place, "the name is there twice", "each name once", "remove one") for place in twice]
        told += [one for error in _validator().iter_errors(self.content) for one in _problems(error)]
        told = list(dict.fromkeys(told))  # of names that are missing each error tells all
        self._wrong = [place for place, *_ in told]
        self.problems = [self.problem(*one) for one in told]

    def get(self, *place: str | int) -> Any:
        """The value at a place; None where there is none, or one that is not of the form, in any part of it."""
        if any(place[: len(wrong)] == wrong[: len(place)] for wrong in self._wrong):
            return None
        return self._at(place)

    def count(self, *place: str | int) -> int:
        """How many values the list at a place has, be they of the form or not; 0 where there is no list."""
        told = self._at(place)
        return len(told) if isinstance(told, list) else 0

    def _at(self, place: Place) -> Any:
        value = self.content
        for step in place:
            try:
                value = value[step]
            except (LookupError, TypeError):
                return None
        return value

    def where(self, place: Place) -> str:
        """A place for a message: ``spec.json:14: repos[0].results[2].value_text``."""
        known = next(place[:end] for end in range(len(place), -1, -1) if place[:end] in self._lines)
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")
        return f"{self.path}:{self._lines[known]}{f': {steps}' if steps else ''}"

    def problem(
        self, place: Place, found: str, expected: str = "", fix: str = "correct it there", *, code: str = "bad-spec"
    ) -> Problem:
        """A problem of the value at a place."""
        return Problem(code, self.where(place), found, expected, fix)


def _problems(error: ValidationError) -> Iterator[tuple[Place, str, str, str]]:
    """What an error of the schema amounts to: one problem for each name that is missing or unknown."""
    place = tuple(error.absolute_path)
    expected = str(error.schema.get("description", "")) if isinstance(error.schema, dict) else ""
    if error.validator == "required":
        for name in (one for one in error.validator_value if one not in error.instance):
            yield (*place, name), "missing", _description(error.schema, name), "write it"
    elif error.validator == "additionalProperties":
        known = sorted(error.schema["properties"])
        for name in sorted(error.instance.keys() - set(known)):
            yield (
                (*place, name),
                "a name that is unknown here",
                f"one of {', '.join(known)}",
                "take it out, or correct it",
            )
    else:
        shown = json.dumps(error.instance, ensure_ascii=False)
        yield place, shown if len(shown) <= 80 else f"{shown[:77]}...", expected, "correct it there"


def _text(path: Path) -> str:
    try:
        return read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise usage_error(str(path), f"cannot be read ({said(error)})", FORM, "name a file that can be read") from None
    except UnicodeDecodeError as error:
        raise usage_error(str(path), f"not UTF-8: {error.reason}", FORM, "save it as UTF-8", code="not-json") from None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


@functools.cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def _description(schema: Mapping[str, Any], name: str) -> str:
    """What a schema says of a property, there or where it refers to."""
    told = schema["properties"][name]
    if "description" not in told and "$ref" in told:
        told = _validator().schema["$defs"][told["$ref"].rpartition("/")[2]]
    return str(told.get("description", ""))


def _values(text: str) -> Iterator[tuple[Place, int]]:
    """The places of a JSON text's values in their order, each with its line, counted from 1."""
    place: list[str | int] = []
    name: str | None = None
    names: list[bool] = []  # of each open bracket: whether its values have names
    line, seen = 1, 0
    for token in _TOKEN.finditer(text):
        line, seen = line + text.count("\n", seen, token.start()), token.start()
        word = token[0]
        if word in "}]":
            names.pop()
            place = place[:-1] if place else place
        elif word == ",":
            place[-1] = place[-1] + 1 if isinstance(place[-1], int) else place[-1]
            name = None
        elif word == ":":
            pass
        elif names and names[-1] and name is None:
            name = json.loads(word)
            place[-1] = name
        else:
            yield tuple(place), line
            name = None
            if word in "{[":
                names.append(word == "{")
                place.append("" if word == "{" else 0)
