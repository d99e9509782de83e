"""Which route answers a request. What no route takes is unknown, and so is a query word that a route does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Request, UnknownToEmulator

_PART = re.compile(r"\{(\w+)\}")
_SHAPES = {
    "kind": "model|dataset",
    "prefix": "(?:datasets/)?",
    "repo_id": "[^/]+/[^/]+",
    "num": r"[1-9]\d*",
    "path": ".+",
    "sha256": "[0-9a-f]{64}",
}


@dataclass(frozen=True)
class Route:
    """``method`` and ``path`` with ``{names}``, which become the handler's further arguments, decoded.

    A name is one segment of the path; ``{repo_id}`` is two, ``{path}`` is all the rest. ``{kind}`` is model or dataset;
    ``{prefix}`` is ``datasets/`` or nothing, and comes as ``kind`` too. ``query`` are the words known. A ``streamed``
    route reads its body itself, and is not held up by what others do meanwhile.
    """

    method: str
    path: str
    handler: Callable[..., Answer]
    query: frozenset[str] = frozenset()
    streamed: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        literal = True
        pattern = ""
        for part in _PART.split(self.path):
            pattern += re.escape(part) if literal else f"(?P<{part}>{_SHAPES.get(part, '[^/]+')})"
            literal = not literal
        object.__setattr__(self, "pattern", re.compile(pattern))


def route(method: str, path: str, handler: Callable[..., Answer], query: str = "", *, streamed: bool = False) -> Route:
    """A route; ``query`` are its words, with spaces between."""
    return Route(method, path, handler, frozenset(query.split()), streamed)


class Router:
    """All routes. A request goes to the first that fits."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)

    def find(self, request: Request) -> tuple[Route, dict[str, str]]:
        """The route that takes a request, and what stands for the names of its path.

        Raises:
            UnknownToEmulator: there is none, or it does not have a word of the query.
        """
        for one in self.routes:
            match = one.pattern.fullmatch(request.path)
            if match is None or request.method not in {one.method, "HEAD" if one.method == "GET" else one.method}:
                continue
            unknown = sorted({name for name, _ in request.query} - one.query)
            if unknown:
                raise UnknownToEmulator(f"the query words {', '.join(unknown)} of {one.method} {one.path}")
            return one, _names(match)
        raise UnknownToEmulator(f"{request.method} {request.path}")

    def answer(self, state: HubState, request: Request) -> Answer:
        """What a request is answered with."""
        one, names = self.find(request)
        if one.streamed:
            return one.handler(state, request, **names)
        with state.lock:
            return one.handler(state, request, **names)


def _names(match: re.Match[str]) -> dict[str, str]:
    names = {name: unquote(value) for name, value in match.groupdict().items()}
    if "prefix" in names:
        names["kind"] = "dataset" if names.pop("prefix") else "model"
    return names
