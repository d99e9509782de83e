"""The Hub's rate limits: fixed windows, one for each kind of request and each who asks.

The figures are the documented ones (https://huggingface.co/docs/hub/rate-limits); single actions (``whoami``,
``commit``, ``discussion``, ``comment``) have limits that nobody publishes, so none is set unless a rehearsal does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from benchwright.rehearsal.hub.wire import Answer, Request, refused

_ACTIONS = {
    "whoami": ("GET", re.compile(r"/api/whoami-v2")),
    "commit": ("POST", re.compile(r"/api/\w+/[^/]+/[^/]+/commit/.+")),
    "discussion": ("POST", re.compile(r"/api/\w+/[^/]+/[^/]+/discussions")),
    "comment": ("POST", re.compile(r"/api/\w+/[^/]+/[^/]+/discussions/\d+/comment.*")),
}
ACTIONS = tuple(_ACTIONS)


@dataclass(frozen=True)
class Limit:
    """So many requests in a window of so many seconds."""

    most: int
    window: int = 300


@dataclass
class RateLimits:
    """Limits of kinds of requests (``api``, ``resolvers``, ``pages``) without and with a token, and of single actions.

    ``retry_after`` has a 429 say ``Retry-After`` too; a 429 of an action says nothing else about when to come again.
    """

    clock: Callable[[], datetime]
    anonymous: dict[str, Limit] = field(
        default_factory=lambda: {"api": Limit(500), "resolvers": Limit(3000), "pages": Limit(100)}
    )
    known: dict[str, Limit] = field(
        default_factory=lambda: {"api": Limit(1000), "resolvers": Limit(5000), "pages": Limit(200)}
    )
    actions: dict[str, Limit] = field(default_factory=dict)
    retry_after: bool = False
    _used: dict[tuple[str, str | None, int], int] = field(default_factory=dict)

    def take(self, request: Request) -> tuple[tuple[tuple[str, str], ...], Answer | None]:
        """Count a request; returns the headers that its answer has, and a 429 where it is one too many."""
        kind = _kind(request.path)
        if kind is None:
            return (), None
        limit = (self.known if request.user else self.anonymous)[kind]
        left, wait = self._count(kind, request.user, limit)
        headers = (
            ("RateLimit", f'"{kind}";r={max(left, 0)};t={wait}'),
            ("RateLimit-Policy", f'"fixed window";"{kind}";q={limit.most};w={limit.window}'),
        )
        if left < 0:
            message = (
                f"We had to rate limit you, you hit the quota of {limit.most} {kind} requests per"
                f" {limit.window // 60} minutes period."
            )
            return headers, self._too_many(message, wait)
        for action, (method, pattern) in _ACTIONS.items():
            if action in self.actions and request.method == method and pattern.fullmatch(request.path):
                left, wait = self._count(action, request.user, self.actions[action])
                if left < 0:
                    return headers, self._too_many(f"You have exceeded our quotas for action: {action}.", wait)
        return headers, None

    def _count(self, name: str, user: str | None, limit: Limit) -> tuple[int, int]:
        """How many requests are left in this window (below zero: one too many), and seconds to the next."""
        now = self.clock().timestamp()
        window = int(now // limit.window)
        used = self._used.get((name, user, window), 0) + 1
        self._used[name, user, window] = used
        return limit.most - used, math.ceil((window + 1) * limit.window - now)

    def _too_many(self, message: str, wait: int) -> Answer:
        return refused(429, message, None, *((("Retry-After", str(wait)),) if self.retry_after else ()))


def _kind(path: str) -> str | None:
    if path.startswith("/storage/"):
        return None
    if "/resolve/" in path or "/raw/" in path:
        return "resolvers"
    return "api" if path.startswith("/api/") else "pages"
