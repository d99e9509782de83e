"""The refusals of the Hub that mean something: not there, behind a gate, disabled, forbidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from benchwright.contract import Exit, Failure, Problem, redact

Missing = Literal["repo", "revision", "file", "other"]
_CODES: Mapping[str, Missing] = {"RepoNotFound": "repo", "RevisionNotFound": "revision", "EntryNotFound": "file"}
_LOOK: Mapping[Missing, str] = {
    "repo": "correct its name, or leave it out; a private one needs a token that may read it",
    "revision": "run this again, which looks anew: a ref of a pull request goes once that is done",
    "file": "name one that is there, or leave it out",
    "other": "correct the name or the number that was asked for",
}
_NO_LOGIN = "Invalid username or password."
_NO_DISCUSSIONS = re.compile(r"\bdiscussions\b.*\bdisabled\b", re.IGNORECASE)


class NotFound(Failure):
    """What was asked for is not there, or is private. ``kind`` "other": the Hub does not say what (no repo, then)."""

    def __init__(self, where: str, kind: Missing, found: str) -> None:
        self.kind = kind
        super().__init__(Problem("not-on-hub", where, found, "", _LOOK[kind]))


class Gated(Failure):
    """Files of a repo that only those may read whom its owners let in."""

    def __init__(self, where: str, found: str) -> None:
        fix = "set HF_TOKEN to a token of somebody who was let in at the repo's page"
        super().__init__(Problem("gated", where, found, "files that may be read", fix), exit=Exit.ENVIRONMENT)


class Disabled(Failure):
    """A repo that the Hub has disabled."""

    def __init__(self, where: str, found: str) -> None:
        super().__init__(Problem("disabled", where, found, "", "leave it out: nobody but the Hub can open it again"))


class Forbidden(Failure):
    """Something that this token may not ask for. ``no_discussions``: the Hub says that the repo has them disabled."""

    def __init__(self, where: str, found: str) -> None:
        self.no_discussions = _NO_DISCUSSIONS.search(found) is not None
        fix = "set HF_TOKEN to a token that may read it"
        super().__init__(Problem("hub-refused", where, found, "an answer", fix), exit=Exit.ENVIRONMENT)


def refusal(status: int, headers: Mapping[str, str], where: str, endpoint: str, *, with_token: bool) -> Failure:
    """The failure that an answer amounts to which is not what was asked for.

    Without a token the Hub tells no repo that is missing from one that is private: it is not there for who asks.
    """
    said = redact(headers.get("X-Error-Message") or headers.get("X-Error-Code") or "")
    code = headers.get("X-Error-Code") or ""
    found = f"HTTP {status}{f', {said}' if said else ''}".rstrip(".")
    if code == "GatedRepo" and status in (401, 403):
        return Gated(where, found)
    of_repo = code == "RepoNotFound" or (said == _NO_LOGIN and not where.startswith("/"))
    nobody = status == 401 and not with_token and of_repo
    if status == 404 or nobody:
        return NotFound(where, "repo" if nobody else _CODES.get(code, "other"), found)
    if status == 403 and "is disabled" in said and not _NO_DISCUSSIONS.search(said):
        return Disabled(where, found)
    if status in (401, 403):
        return Forbidden(where, found)
    problem = Problem("hub-answer", where, found, "an answer of the Hub's", f"is {endpoint} the Hub?")
    return Failure(problem, exit=Exit.ENVIRONMENT)


def unavailable(where: str, found: str) -> Failure:
    """The failure of a request that may go well later (exit 4)."""
    problem = Problem("hub-unavailable", where, redact(found), "an answer", "run this again later")
    return Failure(problem, exit=Exit.REMOTE)
