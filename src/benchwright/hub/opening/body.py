"""The body of a pull request: links to boards are changed, what was dropped is taken out, every other word stays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import urlsplit

from benchwright.hub.links import ViewLink, read_link, view_link
from benchwright.hub.opening.words import EXTRACTED, extracted
from benchwright.hub.views import View

_ADDRESS = re.compile(r"(?<=[^\\]\]\()https?://[^\s<>()\[\]\"'*`]+(?=\))")
"""That of a link. One that is only written, as an origin may, is no link of ours."""
_LINE = re.compile(r"- \*\*\[(.*)\]\([^\s()]*\)\*\*")
"""That of a benchmark, with its name."""
_MOST_STEPS = 20_000
"""Of reading a sentence of origins: under a second. One that takes more is taken to read in several ways."""
BoardKey = tuple[str, str]
"""A dataset in lower case, and a task."""


def board_key(dataset: str, task: str) -> BoardKey:
    """What tells one board from another in a body."""
    return dataset.lower(), task


def addresses(body: str) -> dict[BoardKey, str]:
    """The first address of each board that a body links."""
    found: dict[BoardKey, str] = {}
    for address, link in _links(body):
        if link.task is not None:
            found.setdefault(board_key(link.dataset, link.task), address)
    return found


def relinked(body: str, views: Mapping[BoardKey, View | None]) -> str:
    """A body with the links of boards led to other views, and without boards whose view is None.

    These lose their lines, and their part of the sentence of where the numbers come from if that is still as
    `extracted` wrote it. A line that links another board besides stays as it is.
    """
    lines: list[str] = []
    kept: list[tuple[str, bool]] = []
    for line in body.splitlines(keepends=True):
        keys = [board_key(link.dataset, link.task or "") for _, link in _links(line)]
        stays = not keys or not all(key in views and views[key] is None for key in keys)
        if keys and (named := _LINE.fullmatch(line.rstrip())):
            kept.append((named[1], stays))
        if stays:
            lines.append(_ADDRESS.sub(lambda found: _relinked(found[0], views), line))
    if {stays for _, stays in kept} == {True, False}:
        lines = [_without(line, kept) if line.startswith(EXTRACTED) else line for line in lines]
    return "".join(lines)


def _without(line: str, kept: Sequence[tuple[str, bool]]) -> str:
    """The sentence of where numbers come from, without benchmarks that are not kept, if it reads in one way alone."""
    text, names = line.rstrip("\r\n"), [name for name, _ in kept]
    steps = iter(range(_MOST_STEPS))
    readings = (
        origins
        for origins in _readings(text.removeprefix(EXTRACTED), names, range(len(names)), steps)
        if extracted([(origin, [names[one] for one in of]) for origin, of in origins]) == text
    )
    found = list(islice(readings, 2))
    if len(found) != 1 or next(steps, None) is None:
        return line
    left = [(origin, [one for one in of if kept[one][1]]) for origin, of in found[0]]
    left = sorted(((origin, of) for origin, of in left if of), key=lambda one: one[1][0])
    return extracted([(origin, [names[one] for one in of]) for origin, of in left]) + line.removeprefix(text)


def _readings(
    text: str, names: Sequence[str], left: Sequence[int], steps: Iterator[int]
) -> Iterator[list[tuple[str, list[int]]]]:
    """Every way to read a text as origins, each with the numbers of its names: the first that is left, and others.

    ``steps`` ends where there are too many; then those that were found are not all.
    """
    mark = f" for {names[left[0]]}"
    for found in re.finditer(re.escape(mark), text):
        for numbers, rest in _listings(text[found.end() :], names, left[:1], left[1:]):
            others = [one for one in left if one not in numbers]
            if next(steps, None) is None:
                return
            if any(rest.count(name) < count for name, count in Counter(names[one] for one in others).items()):
                continue  # the rest has too few names for those that are left
            origin = (text[: found.start()], list(numbers))
            if not others:
                yield from [[origin]] if rest == "." else []
            for between in (", ", " and ") if others else ():
                if rest.startswith(between):
                    further = _readings(rest.removeprefix(between), names, others, steps)
                    yield from ([origin, *more] for more in further)


def _listings(
    text: str, names: Sequence[str], taken: Sequence[int], left: Sequence[int]
) -> Iterator[tuple[Sequence[int], str]]:
    """Every way to read on in a list of names: the numbers of those in it, and the text behind it."""
    yield taken, text
    for place, number in enumerate(left):
        for between in (", ", " and "):
            if text.startswith(name := f"{between}{names[number]}"):
                yield from _listings(text.removeprefix(name), names, [*taken, number], left[place + 1 :])


def _relinked(address: str, views: Mapping[BoardKey, View | None]) -> str:
    link = read_link(address)
    view = views.get(board_key(link.dataset, link.task or "")) if link else None
    if link is None or link.task is None or view is None or view == link.view:
        return address
    parts = urlsplit(address)
    return view_link(link.dataset, link.task, view, link.model, endpoint=f"{parts.scheme}://{parts.netloc}")


def _links(text: str) -> Iterator[tuple[str, ViewLink]]:
    for found in _ADDRESS.finditer(text):
        link = read_link(found[0])
        if link is not None:
            yield found[0], link
