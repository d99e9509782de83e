"""The body of a pull request, whose links to boards are changed, and whose every other word stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from benchwright.hub.links import ViewLink, read_link, view_link
from benchwright.hub.views import View

_ADDRESS = re.compile(r"(?<=[^\\]\]\()https?://[^\s<>()\[\]\"'*`]+(?=\))")
"""That of a link. One that is only written, as an origin may, is no link of ours."""
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
    """A body with the links of boards led to other views, and without the lines of boards whose view is None.

    A line that links another board besides stays as it is.
    """
    lines = []
    for line in body.splitlines(keepends=True):
        keys = [board_key(link.dataset, link.task or "") for _, link in _links(line)]
        if not keys or not all(key in views and views[key] is None for key in keys):
            lines.append(_ADDRESS.sub(lambda found: _relinked(found[0], views), line))
    return "".join(lines)


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
