"""What the fields of a method's metadata may hold, and how the open ones follow from the others.

The rules are those of ``tabarena`` 0.1.0's ``MethodMetadata``, plus the type checks that it leaves to chance. All
violations are gathered before anything is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date as calendar_date
from enum import Enum
from pathlib import Path
from typing import Any

from benchwright.arena.machine_paths import without_paths
from benchwright.arena.names import FOLDER_NAME, can_name_folder
from benchwright.contract import Exit, Failure, Problem, did_you_mean, is_day, names_a_secret, redact

TAGS = ("closed-source-api", "with-llm")
CACHE_TYPES = ("local", "r2", "s3")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "method_type": ("config", "baseline", "portfolio"),
    "compute": ("cpu", "gpu"),
    "method_class": ("model", "system"),
}
_OPTIONAL_TEXTS = (
    "suite",
    "ag_key",
    "model_key",
    "config_default",
    "name",
    "name_suffix",
    "cache_type",
    "date",
    "date_introduced",
    "reference_url",
    "display_name",
    "validation_protocol",
)
_FLAGS = ("is_bag", "has_raw", "has_processed", "has_results", "verified")
_PATHS = ("artifact_dir", "cache_root")
_THERE = "correct it there"
_NEVER_EMPTY = ("method", "suite", "name", "display_name", "validation_protocol")
_NAMES_OF_FOLDERS = ("method", "suite", "config_default", "name")
"""What becomes a folder of a cache, of a store or of an artifact."""
_CONFIG_ONLY = ("ag_key", "model_key", "config_default", "can_hpo", "is_bag", "name_suffix")
_LOCATION = ("bucket", "prefix")
_STORAGE_OPTIONS = (*_LOCATION, "upload_as_public", "base_url")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_INTRODUCED = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")
_LONGEST_SHOWN = 60
_LARGEST_SHOWN = 10**18


def settle(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """All fields of a method's metadata with the open ones (None) derived; settling twice changes nothing.

    ``values`` has every field. ``where`` names the source in problems ("run/metadata.yaml", "MethodMetadata 'KNN'").

    Raises:
        Failure: a value has the wrong type, is outside its vocabulary, or excludes another one (exit 2), one problem
            for each.
    """
    findings = _Findings({name: _plain(value) for name, value in values.items()}, where)
    _check_what_is_published(findings)
    _check_types(findings)
    _check_words(findings)
    _check_names(findings)
    _check_dates(findings)
    _check_type_of_method(findings)
    _check_storage(findings)
    if findings.problems:
        raise Failure(findings.problems, exit=Exit.USAGE)
    return _derive(findings.values)


def describe(value: Any) -> str:
    """A value as a problem shows it: short, and safe for whatever a YAML file can hold."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "...")
    if isinstance(value, int) and abs(value) >= _LARGEST_SHOWN:
        return "a very long number"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if isinstance(value, calendar_date):
        return f"the date {value}"
    return f"an object of type {type(value).__name__}"


def config_type(values: Mapping[str, Any]) -> str | None:
    """The family key that names a config method's rows: model key and name suffix; None for other methods."""
    if values["method_type"] != "config" or values["model_key"] is None:
        return None
    return f"{values['model_key']}{values['name_suffix'] or ''}"


class _Findings:
    """The values under examination, the problems so far, and which fields no other rule may look at."""

    def __init__(self, values: dict[str, Any], where: str) -> None:
        self.values = values
        self.problems: list[Problem] = []
        self._where = where
        self._unreadable: set[str] = set()

    def add(self, code: str, field: str, found: str, expected: str, fix: str = _THERE) -> None:
        if code in ("metadata-type", "metadata-private"):
            self._unreadable.add(field)
        self.problems.append(Problem(code, f"{self._where}: {field}", found, expected, fix))

    def readable(self, *fields: str) -> bool:
        """Whether all these fields have the right type and may be shown, so that a rule may look at them."""
        return self._unreadable.isdisjoint(fields)

    def given(self, field: str) -> bool:
        """Whether a field of the right type is set."""
        return self.readable(field) and self.values[field] is not None


def _plain(value: Any) -> Any:
    """``value`` without the enum members and string subclasses that the peer's own objects hold."""
    if isinstance(value, Enum):
        value = value.value
    return str(value) if isinstance(value, str) else value


def _check_types(findings: _Findings) -> None:
    for field, value in findings.values.items():
        expected = _expected_type(field, value)
        if expected is not None and findings.readable(field):
            fix = f"quote it: {field}: '{value}'" if expected == "text" and _is_unquoted_text(value) else _THERE
            findings.add("metadata-type", field, describe(value), expected, fix)


def _expected_type(field: str, value: Any) -> str | None:
    """What ``field`` should hold, if ``value`` is something else."""
    if field == "method" or field in _CHOICES:
        return None if isinstance(value, str) else "text"
    if field in _OPTIONAL_TEXTS:
        return None if isinstance(value, str | None) else "text"
    if field in _FLAGS:
        return None if isinstance(value, bool) else "true or false"
    if field == "can_hpo":
        return None if isinstance(value, bool | None) else "true or false"
    if field in _PATHS:
        return None if isinstance(value, str | Path | None) else "a path"
    if field == "tags":
        good = isinstance(value, list | tuple | set | frozenset) and all(isinstance(tag, str) for tag in value)
        return None if good else "a list of texts"
    good = isinstance(value, Mapping) and all(_is_storage_option(name, entry) for name, entry in value.items())
    return None if good else "a mapping of names to plain values, 'bucket' and 'prefix' to texts"


def _is_storage_option(name: Any, value: Any) -> bool:
    allowed = str | None if name in _LOCATION else str | bool | int | float | None
    return isinstance(name, str) and isinstance(value, allowed)


def _is_unquoted_text(value: Any) -> bool:
    """Whether YAML took a date, a year or another short number for something other than text."""
    return type(value) is calendar_date or (type(value) is int and abs(value) < _LARGEST_SHOWN)


def _check_words(findings: _Findings) -> None:
    values = findings.values
    for field in _NEVER_EMPTY:
        if values[field] == "":
            findings.add("metadata-value", field, "an empty text", "a name")
    for field, choices in (*_CHOICES.items(), ("cache_type", CACHE_TYPES)):
        if findings.given(field) and values[field] not in choices:
            fix = did_you_mean(values[field], choices)
            findings.add("metadata-value", field, describe(values[field]), " or ".join(map(repr, choices)), fix)
    if findings.readable("tags"):
        for tag in sorted({_plain(tag) for tag in values["tags"]}.difference(TAGS)):
            expected = " or ".join(map(repr, TAGS))
            findings.add("metadata-value", "tags", describe(tag), expected, did_you_mean(tag, TAGS))


def _check_names(findings: _Findings) -> None:
    """Names that no folder can have; the suffix by what it makes of the method's."""
    values = findings.values
    for field in _NAMES_OF_FOLDERS:
        if findings.given(field) and values[field] and not can_name_folder(values[field]):
            findings.add("metadata-value", field, describe(values[field]), FOLDER_NAME)
    if findings.given("name_suffix") and findings.readable("method") and can_name_folder(values["method"]):
        suffix = values["name_suffix"]
        if not can_name_folder(f"{values['method']}{suffix}"):
            findings.add("metadata-value", "name_suffix", describe(suffix), f"{FOLDER_NAME}, behind the method's")


def _check_what_is_published(findings: _Findings) -> None:
    """Secrets, and paths of a machine, in what everyone will read; no problem shows them."""
    for field, value in findings.values.items():
        if field in _PATHS:
            continue
        for what, fix in sorted({fault for text in _texts(value, field) if (fault := _private(*text))}):
            findings.add("metadata-private", field, what, "what everyone may read", fix)


def _private(name: str, text: str) -> tuple[str, str] | None:
    """What is wrong with publishing a text under a name, and what to do; None if nothing is."""
    if redact(text, {}) != text or (text and names_a_secret(name)):
        return "a text with a secret", "take it out, and revoke it"
    # The prefix of a store's keys may be written like a path, and one name alone says nothing of a machine.
    if name != "prefix" and text.strip("/").count("/") + text.count("\\") and without_paths(text) != text:
        return "a path of one machine", "take it out"
    return None


def is_private(text: str) -> bool:
    """Whether a text holds a secret or a path of a machine, which no message may repeat."""
    return _private("", text) is not None


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The texts in a value and the keys above them, each with the name that it stands under; keys stand under none."""
    below: list[tuple[str, Any]] = [(name, value)]
    seen: set[int] = set()
    while below:
        name, value = below.pop()
        if isinstance(value, str | bytes):
            yield name, value if isinstance(value, str) else value.decode("utf-8", "replace")
        elif isinstance(value, Mapping | list | tuple | set | frozenset) and id(value) not in seen:
            seen.add(id(value))
            pairs = value.items() if isinstance(value, Mapping) else ((name, item) for item in value)
            for key, item in pairs:
                if isinstance(value, Mapping) and isinstance(key, str):
                    yield "", key
                below.append((name if names_a_secret(name) else str(key), item))


def _check_dates(findings: _Findings) -> None:
    if findings.given("date"):
        run = findings.values["date"]
        if not _DATE.fullmatch(run):
            findings.add("metadata-value", "date", describe(run), "YYYY-MM-DD")
        elif not is_day(run):
            findings.add("metadata-value", "date", describe(run), "a day that exists")
    if findings.given("date_introduced"):
        introduced = findings.values["date_introduced"]
        if not _DATE_INTRODUCED.fullmatch(introduced):
            findings.add("metadata-value", "date_introduced", describe(introduced), "YYYY, YYYY-MM or YYYY-MM-DD")


def _check_type_of_method(findings: _Findings) -> None:
    """Fields that belong to another type of method."""
    values = findings.values
    kind = values["method_type"]
    misplaced = f"on a method of type {describe(kind)}"
    if kind == "config":
        if findings.given("name"):
            found = f"{describe(values['name'])} {misplaced}"
            findings.add("metadata-conflict", "name", found, "a baseline or a portfolio", "set display_name instead")
        if values["method_class"] == "system":
            expected = "method_type 'baseline', as the runner records a system's results"
            fix = "use MethodMetadata.system(...)"
            findings.add("metadata-conflict", "method_class", f"'system' {misplaced}", expected, fix)
    elif kind in _CHOICES["method_type"]:
        for field in _CONFIG_ONLY:
            if findings.given(field) and values[field] is not False:
                found = f"{describe(values[field])} {misplaced}"
                findings.add("metadata-conflict", field, found, "method_type 'config'", f"drop {field}")


def _check_storage(findings: _Findings) -> None:
    values = findings.values
    if all(findings.given(field) for field in _PATHS):
        expected = "either the method's own folder or the root of a cache"
        findings.add("metadata-conflict", "artifact_dir", "set together with cache_root", expected, "drop one")
    backend, options = values["cache_type"], values["cache_kwargs"]
    if not findings.readable("cache_type", "cache_kwargs") or backend not in (None, *CACHE_TYPES):
        return
    for name in sorted(options.keys() - set(_STORAGE_OPTIONS)):
        found = "an option that no store has"
        findings.add(
            "metadata-value", "cache_kwargs", found, "the place of a store", did_you_mean(name, _STORAGE_OPTIONS)
        )
    given = [part for part in _LOCATION if options.get(part) is not None]
    missing = [part for part in _LOCATION if part not in given]
    if backend in ("r2", "s3") and missing:
        found = f"no {' and '.join(map(repr, missing))} for cache_type {backend!r}"
        fix = "cache_kwargs={'bucket': 'tabarena', 'prefix': 'cache'}"
        findings.add("metadata-conflict", "cache_kwargs", found, "'bucket' and 'prefix'", fix)
    elif backend == "local" and given:
        found = f"{' and '.join(map(repr, given))} for cache_type 'local'"
        findings.add("metadata-conflict", "cache_kwargs", found, "neither", "set cache_type to 'r2', or drop them")
    elif backend is None and given and missing:
        found = f"{given[0]!r} without {missing[0]!r}"
        findings.add("metadata-conflict", "cache_kwargs", found, "both or neither", f"add {missing[0]!r}")


def _derive(values: dict[str, Any]) -> dict[str, Any]:
    settled = dict(values)
    if settled["suite"] is None:
        settled["suite"] = settled["method"]
    if settled["model_key"] is None:
        settled["model_key"] = settled["ag_key"]
    if settled["can_hpo"] is None:
        settled["can_hpo"] = settled["method_type"] == "config"
    for field in _PATHS:
        settled[field] = None if settled[field] is None else Path(settled[field])
    settled["tags"] = tuple(sorted({_plain(tag) for tag in settled["tags"]}))
    settled["cache_kwargs"] = dict(settled["cache_kwargs"])
    if settled["cache_type"] is None:
        remote = all(settled["cache_kwargs"].get(part) is not None for part in _LOCATION)
        settled["cache_type"] = "r2" if remote else "local"
    if settled["display_name"] is None:
        settled["display_name"] = settled["name"] or config_type(settled) or settled["method"]
    return settled
