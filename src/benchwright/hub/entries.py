"""Entries of result files, ``.eval_results/*.yaml``: read from whatever a file holds, written in the source's digits.

The format is that of https://huggingface.co/docs/hub/eval-results. The Hub drops a file as a whole for one bad entry;
what such a file declares is read here all the same, since its owner may mend it tomorrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
WRITABLE = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
"""Digits that every reader of YAML takes for the same number."""
_ID = re.compile(r"""(?<!\w)id["']?[ \t]*:[ \t]*["']?([\w.-]+/[\w.-]+)""", re.ASCII)
_TASK = re.compile(r"""(?<!\w)task_id["']?[ \t]*:[ \t]*["']?([^"'\n#,{}]*[^"'\n#,{}\s])""")
_PLAIN = re.compile(r"[A-Za-z](?:[\w ./%()-]*[\w./%)-])?", re.ASCII)
_PLAIN_URL = re.compile(r"https?://[!-~]*[!-9;-~]")
_LONGEST = 200_000
"""Characters of a file that is parsed, which takes seconds then."""
_NO_TEXTS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True)
class Entry:
    """A result: ``value_text`` are the digits of the file, ``value`` their number; ``date`` is as the file has it."""

    dataset: str
    task: str
    value: Decimal
    value_text: str
    date: str | None = None
    source_url: str | None = None
    source_name: str | None = None
    notes: str | None = None


@dataclass(frozen=True)
class BadEntry:
    """What is wrong with an entry or a file, and what it declares as far as it can be told.

    ``dataset`` None: it may be any benchmark; ``task`` None: any of the dataset's.
    """

    reason: str
    dataset: str | None = None
    task: str | None = None
    value_text: str | None = None


def parse_entries(text: str) -> list[Entry | BadEntry]:
    """The entries of a file, in its order. A file that is no YAML has one for each benchmark that it mentions."""
    import yaml

    if len(text) > _LONGEST:
        return _mentioned(text, f"more than {_LONGEST:,} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        return _mentioned(text, f"no YAML: {' '.join(str(error).split())[:200]}")
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        return _mentioned(text, "no list of entries")
    return [_entry(node) for node in root.value]


def write_entries(entries: Iterable[Entry]) -> str:
    """The text of a file with these entries, in their order: the same text for the same entries.

    Raises:
        ValueError: the digits of a value are not in the one form that every reader takes alike (``WRITABLE``).
    """
    lines: list[str] = []
    for entry in entries:
        if not WRITABLE.fullmatch(entry.value_text):
            raise ValueError(f"{entry.value_text!r} is no number to write")
        lines += ["- dataset:", f"    id: {_scalar(entry.dataset)}", f"    task_id: {_scalar(entry.task)}"]
        lines.append(f"  value: {entry.value_text}")
        if entry.date is not None:
            lines.append(f"  date: {_quoted(entry.date)}")
        if entry.source_url is not None:
            lines += ["  source:", f"    url: {_scalar(entry.source_url)}"]
            if entry.source_name is not None:
                lines.append(f"    name: {_scalar(entry.source_name)}")
        if entry.notes is not None:
            lines.append(f"  notes: {_quoted(entry.notes)}")
    return "".join(f"{line}\n" for line in lines)


def _entry(node: yaml.Node) -> Entry | BadEntry:
    told = _mapping(node)
    if told is None:
        return BadEntry("an entry that is no mapping")
    place = _mapping(told.get("dataset")) or {}
    dataset, task = _text(place.get("id")), _text(place.get("task_id"))
    value = told.get("value")
    value_text = _digits(value)
    source = _mapping(told.get("source")) if "source" in told else {}
    texts: dict[str, Any] = {name: told[name] for name in ("date", "notes", "verifyToken") if name in told}
    texts |= {f"source.{name}": one for name, one in (source or {}).items() if name in ("url", "name", "user", "org")}
    wrong = [f"{name} is no text" for name, one in texts.items() if _text(one, dates=name == "date") is None]
    wrong += [] if source is not None else ["source is no mapping"]
    wrong += ["source has no url"] if source and "url" not in source else []
    if dataset is None or task is None or value_text is None or wrong:
        lacking = [name for name, one in (("dataset.id", dataset), ("dataset.task_id", task)) if one is None]
        lacking += [] if value_text is not None else ["value"]
        reason = "; ".join([f"no {name}" for name in lacking] + wrong)
        return BadEntry(reason, dataset, task, value_text if value_text is not None else _text(value))
    return Entry(
        dataset,
        task,
        Decimal(value_text),
        value_text,
        _text(told.get("date"), dates=True),
        _text((source or {}).get("url")),
        _text((source or {}).get("name")),
        _text(told.get("notes")),
    )


def _mapping(node: Any) -> dict[str, yaml.Node] | None:
    """The values of a mapping by their keys, None where it is none. What ``<<`` merges is left out."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    return {str(key.value): value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _text(node: Any, *, dates: bool = False) -> str | None:
    """A text, also an unquoted date where ``dates`` allows it."""
    import yaml

    allowed = {"tag:yaml.org,2002:str"} | ({"tag:yaml.org,2002:timestamp"} if dates else set())
    if not isinstance(node, yaml.ScalarNode) or node.tag not in allowed:
        return None
    return str(node.value)


def _digits(node: Any) -> str | None:
    """The digits of an unquoted number."""
    import yaml

    if not isinstance(node, yaml.ScalarNode) or node.style is not None or not _NUMBER.fullmatch(node.value):
        return None
    return str(node.value)


def _mentioned(text: str, reason: str) -> list[Entry | BadEntry]:
    """What a text that cannot be parsed says of benchmarks: ids of datasets, each with the tasks behind it."""
    found: list[Entry | BadEntry] = []
    ids = list(_ID.finditer(text))
    for number, match in enumerate(ids):
        end = ids[number + 1].start() if number + 1 < len(ids) else len(text)
        tasks = [one[1] for one in _TASK.finditer(text, match.end(), end)] or [None]
        found += [BadEntry(reason, match[1], task) for task in tasks]
    return found or [BadEntry(reason)]


def _scalar(text: str) -> str:
    """A text as YAML, without quotes where every reader takes it for a text."""
    plain = _PLAIN.fullmatch(text) or (_PLAIN_URL.fullmatch(text) and ": " not in text)
    return text if plain and text.lower() not in _NO_TEXTS else _quoted(text)


def _quoted(text: str) -> str:
    import yaml

    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31)).rstrip("\n")
