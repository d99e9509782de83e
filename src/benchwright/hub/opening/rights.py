"""Who holds the token, and whether it may open pull requests: known before the first one is tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.contract import Exit, Failure, Problem, some
from benchwright.hub.client import Hub

_OPENS = frozenset({"discussion.write", "repo.write"})
_FIX = "make one at the Hub's settings that may write discussions, then: hf auth login"


@dataclass(frozen=True)
class Holder:
    """The holder of a token. ``everywhere`` says that it may open pull requests anywhere, ``at`` names where else."""

    name: str
    everywhere: bool
    at: frozenset[str] = field(default=frozenset())

    def may_open(self, repo: str) -> bool:
        """Whether the token may open pull requests of a model."""
        return self.everywhere or not self.at.isdisjoint({repo.lower(), repo.lower().partition("/")[0]})

    def check(self, repos: Iterable[str]) -> None:
        """Refuse models of which it may not open pull requests.

        Raises:
            Failure: there are such (code ``token-rights``, exit 3).
        """
        if shut := [repo for repo in repos if not self.may_open(repo)]:
            found = f"no right to open pull requests of {some(shut)}"
            raise Failure(Problem("token-rights", "HF_TOKEN", found, "discussion.write", _FIX), exit=Exit.ENVIRONMENT)


def holder_of(hub: Hub) -> Holder:
    """Who holds the token of a session, and what it may do: one request a run, which the Hub limits strictly.

    Raises:
        Failure: there is no token, or it only reads, or what it may do is not told (exit 3).
    """
    if hub.token is None:
        problem = Problem("no-token", "HF_TOKEN", "no token", "one that may open pull requests", _FIX)
        raise Failure(problem, exit=Exit.ENVIRONMENT)
    told = hub.json("/api/whoami-v2")
    try:
        name, token = str(told["name"]), told["auth"]["accessToken"]
        role = token["role"]
        if role in ("write", "god"):
            return Holder(name, everywhere=True)
        if role == "fineGrained":
            return _fine_grained(name, token["fineGrained"])
        found = f"a token that may {role} only"
    except (TypeError, KeyError, AttributeError):
        found = "a token of which the Hub does not say what it may do"
    problem = Problem("token-rights", "HF_TOKEN", found, "one that may open pull requests", _FIX)
    raise Failure(problem, exit=Exit.ENVIRONMENT)


def _fine_grained(name: str, told: Mapping[str, Any]) -> Holder:
    scoped = [one for one in told.get("scoped") or () if not _OPENS.isdisjoint(one["permissions"])]
    at = frozenset(str(one["entity"]["name"]).lower() for one in scoped)
    return Holder(name, not _OPENS.isdisjoint(told.get("global") or ()), at)
