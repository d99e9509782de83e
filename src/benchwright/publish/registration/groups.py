"""The groups of a collection's list, as its comments head them, and a new entry's place in one.

A comment on a line of its own heads the entries below it, and a run of such lines is one heading; a commented-out
entry is none. Where the heads name no group for a method, ``--group`` does.

Within its group a new entry keeps the order that is there: that of the methods' names, or else that of the variables,
each without regard to case. Where the group follows neither, it goes to the end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.contract import Failure, usage_error
from benchwright.publish.registration.entries import Entry
from benchwright.publish.registration.items import Items

_WORDS = {"system": "systems?", "gpu": "GPU", "cpu": "CPU"}
_COMMENTED_OUT = re.compile(r"#\s*[*\w.]+,.*")


@dataclass(frozen=True, slots=True)
class Group:
    """The entries from number ``start`` up to ``stop`` (not included), under one heading.

    ``below`` is the number of lines from the list's opening bracket to the heading.
    """

    title: str
    start: int
    stop: int
    below: int


def groups_of(items: Items) -> tuple[Group, ...]:
    """The groups of a list in order; one without a title for entries that no comment heads."""
    if not items.stacked:
        return (Group("", 0, len(items.names), 0),)
    lines = [items.row(index).line for index in range(len(items.names))]
    heads = [("", items.first_line)]
    for comment in items.source.comments:
        if items.first_line < comment.line < items.last_line and comment.alone:
            if _COMMENTED_OUT.fullmatch(comment.text):
                continue
            words = comment.text.lstrip("#").strip()
            title, line = heads[-1]
            if title and line == comment.line - 1:
                heads[-1] = (f"{title} {words}", comment.line)
            else:
                heads.append((words, comment.line))
    starts = [sum(line < head for line in lines) for _, head in heads]
    groups = [
        Group(title, start, stop, line - items.first_line)
        for (title, line), start, stop in zip(heads, starts, [*starts[1:], len(lines)], strict=True)
    ]
    return tuple(group for group in groups if group.title or group.start < group.stop or len(groups) == 1)


def group_at(items: Items, index: int) -> Group:
    """The group of item number ``index``."""
    return next(group for group in groups_of(items) if group.start <= index < group.stop)


def group_for(groups: Sequence[Group], metadata: MethodMetadata, asked: str | None) -> Group:
    """The group that was asked for by its comment, or else the one whose comment names the method's kind.

    Systems go below a comment with the word "systems", other methods below one with their compute, GPU or CPU.

    Raises:
        Failure: no comment says that, or several do (exit 2).
    """
    titles = [group.title for group in groups]
    if asked is not None:
        found = [group for group in groups if group.title == asked]
        if len(found) != 1:
            says = "no comment says that" if not found else f"{len(found)} comments say that"
            raise usage_error("--group", f"{asked!r}: {says}", "a group's comment", did_you_mean(asked, titles))
        return found[0]
    if titles == [""]:
        return groups[0]
    kind = "system" if metadata.is_system else metadata.compute
    named = [group for group in groups if re.search(rf"\b{_WORDS[kind]}\b", group.title, re.IGNORECASE)]
    if len(named) == 1:
        return named[0]
    found_there = "no group's comment names it" if not named else f"{len(named)} groups' comments name it"
    raise _unclear(kind, found_there, [title for title in titles if title])


def _unclear(kind: str, found: str, titles: Sequence[str]) -> Failure:
    fix = f"choose one with --group: {', '.join(map(repr, titles))}"
    return usage_error("--group", f"a place for a {kind} method: {found}", "one group", fix, code="unclear-group")


def place_in(group: Group, items: Items, entries: Sequence[Entry], new: Entry) -> tuple[int, int]:
    """The new entry's number in the list, and how many lines below the opening bracket stay above it."""
    index = _index(entries[group.start : group.stop], new) + group.start
    if index == group.start or not items.stacked:
        return index, group.below
    return index, items.row(index - 1).line - items.first_line


def _index(there: Sequence[Entry], new: Entry) -> int:
    for keys in ([_method(entry) for entry in (*there, new)], [entry.name.casefold() for entry in (*there, new)]):
        known = [key for key in keys if key is not None]
        if len(known) == len(keys) and all(one <= two for one, two in itertools.pairwise(known[:-1])):
            return sum(key <= known[-1] for key in known[:-1])
    return len(there)


def _method(entry: Entry) -> str | None:
    return None if entry.metadata is None else entry.metadata.method.casefold()
