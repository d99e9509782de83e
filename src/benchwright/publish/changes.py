"""``FIELD=VALUE`` on a command line as changes of a method's metadata."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.contract import Exit, Failure, Problem

_RUNTIME = ("artifact_dir", "cache_root")
FIELDS: Mapping[str, Any] = {
    entry.name: {} if entry.name == "cache_kwargs" else None if entry.default is MISSING else entry.default
    for entry in fields(MethodMetadata)
    if entry.name not in _RUNTIME
}
"""The fields that source may declare, in declaration order, with their defaults (None where others decide)."""
USED_BY_PROCESSING = (
    "method",
    "suite",
    "method_type",
    "ag_key",
    "model_key",
    "config_default",
    "can_hpo",
    "is_bag",
    "compute",
    "name",
    "name_suffix",
)
"""The fields that the tables of an artifact depend on; the others describe, and may change after processing."""
_FLAGS = ("can_hpo", *(name for name, default in FIELDS.items() if isinstance(default, bool)))
_ALWAYS_DECLARED = ("method", "verified")


@dataclass(frozen=True, slots=True)
class Change:
    """A field's new value; ``to_default`` (typed as ``none``) takes it back to what it is when nothing declares it."""

    field: str
    value: Any
    to_default: bool = False


def parse_changes(texts: Sequence[str]) -> tuple[Change, ...]:
    """The changes that texts ask for, see `read_changes`.

    Raises:
        Failure: something is wrong with any of them (exit 2).
    """
    changes, problems = read_changes(texts)
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return changes


def read_changes(texts: Sequence[str]) -> tuple[tuple[Change, ...], tuple[Problem, ...]]:
    """The changes that texts like ``suite=tabarena-2026-06-30`` ask for, in the fields' declaration order.

    ``none`` takes a field back to its default. Flags are ``true`` or ``false``, ``tags`` words between commas,
    ``cache_kwargs`` a JSON object. A text in quotes is taken literally (``'"none"'``). Whether a method may have the
    value is for ``plan_edit`` to say. There is a problem for each text that is malformed, whose field is unknown or
    named twice, or whose value is of another type.
    """
    problems: list[Problem] = []
    changes: dict[str, Change | None] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        where = f"--set {name}" if equals else f"--set {text}"
        if not equals:
            problems.append(Problem("usage", where, "no value", "FIELD=VALUE", f"--set {text}=VALUE"))
        elif name in changes:
            problems.append(Problem("usage", where, "given twice", "one value for a field", "keep one of them"))
        elif name not in FIELDS:
            problems.append(_unknown(name, where))
        else:
            changes[name] = None
            try:
                changes[name] = _change(name, value.strip())
            except ValueError as error:
                fix = "give such a value; set_method_info.py --help says how each kind is written"
                problems.append(Problem("metadata-type", where, repr(value), str(error), fix))
    return tuple(change for name in FIELDS if (change := changes.get(name))), tuple(problems)


def same_value(field: str, one: Any, other: Any) -> bool:
    """Whether two declared values of ``field`` mean the same: tags in any order and container, True is not 1."""
    if field == "tags" and all(isinstance(value, list | tuple | set | frozenset) for value in (one, other)):
        return set(map(repr, one)) == set(map(repr, other))
    return type(one) is type(other) and bool(one == other)


def _unknown(name: str, where: str) -> Problem:
    if name in _RUNTIME:
        return Problem(
            "metadata-unknown-field", where, "a path of one machine", "facts that hold everywhere", "drop it"
        )
    return Problem("metadata-unknown-field", where, "not a field of a method", "", did_you_mean(name, FIELDS))


def _change(name: str, text: str) -> Change:
    """Raises ValueError with what was expected."""
    if text in ("none", "None"):
        if name in _ALWAYS_DECLARED:
            raise ValueError("true or false" if name in _FLAGS else "a name")
        return Change(name, FIELDS[name], to_default=True)
    return Change(name, _value(name, text))


def _value(name: str, text: str) -> Any:
    if name in _FLAGS:
        if text.lower() not in ("true", "false"):
            raise ValueError("true or false")
        return text.lower() == "true"
    if name == "tags":
        return tuple(sorted({tag.strip() for tag in text.split(",") if tag.strip()}))
    if name == "cache_kwargs":
        return _mapping(text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return _unquoted(text)
    if any(not character.isprintable() for character in text):
        raise ValueError("text on one line without control characters")
    return text


def _unquoted(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, str):
        return value
    raise ValueError("a text in matching quotes, or one without quotes")


def _mapping(text: str) -> dict[str, Any]:
    expected = """a JSON object, as in '{"bucket": "tabarena", "prefix": "cache"}\'"""
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ValueError(expected) from None
    if isinstance(value, dict):
        return value
    raise ValueError(expected)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(name)
