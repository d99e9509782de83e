"""Pull requests of a model, read: which there are, which files they change, what was said and done in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchwright.hub.client import Hub, api_path
from benchwright.hub.model_repo import RESULTS_FOLDER
from benchwright.hub.refusals import NotFound, unavailable

Status = Literal["draft", "open", "closed", "merged"]
LIVE = ("draft", "open")
_STATUSES = frozenset({"draft", "open", "closed", "merged"})


@dataclass(frozen=True)
class PullRequest:
    """A pull request. ``author`` None: a user who is no longer there. ``comments`` counts its body too."""

    num: int
    title: str
    author: str | None
    status: Status
    created: str
    comments: int

    @property
    def live(self) -> bool:
        """Whether it may still be merged: it is open, or a draft."""
        return self.status in LIVE

    @property
    def merged(self) -> bool:
        """Whether its owner took it."""
        return self.status == "merged"

    @property
    def ref(self) -> str:
        """The revision that its files are at, until its owner deletes it."""
        return f"refs/pr/{self.num}"


@dataclass(frozen=True)
class ChangedFile:
    """A file that a pull request has and main has not so; ``oid`` is its git id there, None where it is deleted."""

    path: str
    change: Literal["added", "edited", "deleted"]
    oid: str | None


@dataclass(frozen=True)
class Event:
    """What happened in a pull request.

    ``type`` is the Hub's word (``comment``, ``commit``, ``status-change``, ``title-change``, others). ``text`` is a
    comment's newest text, a commit's subject, the new status or title. ``oid`` is a commit's id. ``hidden``,
    ``edited`` and ``editor``, who wrote its newest text, are of comments.
    """

    id: str
    type: str
    author: str | None
    created: str
    text: str = ""
    oid: str | None = None
    hidden: bool = False
    edited: bool = False
    editor: str | None = None


@dataclass(frozen=True)
class Thread:
    """A pull request with everything that happened in it. ``diff`` is there where it was asked for."""

    pull_request: PullRequest
    events: tuple[Event, ...]
    merge_commit: str | None = None
    diff: str | None = None

    @property
    def comments(self) -> tuple[Event, ...]:
        """The comments that are not hidden, the body first."""
        return tuple(event for event in self.events if event.type == "comment" and not event.hidden)

    @property
    def body(self) -> Event | None:
        """The first comment, which is the body: editing it edits the pull request's description."""
        return next((event for event in self.events if event.type == "comment"), None)

    @property
    def commits(self) -> tuple[Event, ...]:
        """The commits, the oldest first."""
        return tuple(event for event in self.events if event.type == "commit")

    @property
    def status_change(self) -> Event | None:
        """The newest change of its status: who closed it, or opened it again."""
        return next((event for event in reversed(self.events) if event.type == "status-change"), None)


def pull_requests(hub: Hub, repo: str, *, cached: bool = True) -> tuple[PullRequest, ...]:
    """All pull requests of a model, of every status, the newest first; every page is read.

    A list of open ones alone may lack drafts.

    Raises:
        Forbidden: the model has discussions disabled (``no_discussions``).
        Failure: they are not told.
    """
    found: dict[int, PullRequest] = {}
    page = start = 0
    while True:
        path = api_path("model", repo, "discussions")
        told = hub.json(path, cached=cached, p=page, type="pull_request", status="all")
        try:
            rows, count = told["discussions"], int(told["count"])
            start = int(told.get("start", start))
            found |= {one.num: one for one in map(_pull_request, rows) if one is not None}
        except (TypeError, KeyError, ValueError, AttributeError):
            raise unavailable(repo, "an answer that is no list of pull requests") from None
        start += len(rows)
        if start >= count:
            return tuple(sorted(found.values(), key=lambda one: one.num, reverse=True))
        if not rows:
            raise unavailable(repo, f"{start} of {count} pull requests")
        page += 1


def open_pull_requests(hub: Hub, repo: str, *, cached: bool = True) -> tuple[PullRequest, ...]:
    """The pull requests of a model that may still be merged, drafts too; `pull_requests` says what it raises."""
    return tuple(one for one in pull_requests(hub, repo, cached=cached) if one.live)


def heads(hub: Hub, repo: str) -> Mapping[str, str]:
    """The newest commit of each branch and of each pull request, by its ref, as of this moment.

    Raises:
        Failure: they are not told.
    """
    told = hub.json(api_path("model", repo, "refs"), cached=False, include_prs="1")
    try:
        listed = [*told["branches"], *told["pullRequests"]]
        return {str(one["ref"]): str(one["targetCommit"]) for one in listed}
    except (TypeError, KeyError, AttributeError):
        raise unavailable(repo, "an answer that is no listing of refs") from None


def files_below(
    hub: Hub, repo: str, revision: str = "main", folder: str = RESULTS_FOLDER, *, cached: bool = True
) -> Mapping[str, str]:
    """The files of a folder and its subfolders at a revision, with their git ids; none where there is no such folder.

    Raises:
        NotFound: the revision is not there (``kind`` "revision"), such as the deleted one of a pull request.
        Failure: they are not told.
    """
    path = api_path("model", repo, "tree", revision, folder)
    try:
        entries = list(hub.pages(path, cached=cached, recursive=True))
        return {str(one["path"]): str(one["oid"]) for one in entries if one["type"] == "file"}
    except NotFound as missing:
        if missing.kind == "file":
            return {}
        raise
    except (TypeError, KeyError):
        raise unavailable(repo, "an answer that is no listing of files") from None


def changed_files(
    hub: Hub, repo: str, num: int, folder: str = RESULTS_FOLDER, *, cached: bool = True
) -> tuple[ChangedFile, ...]:
    """The files below a folder that differ between main and a pull request, by path.

    Main may have moved since it was opened: then what main changed meanwhile differs too.

    Raises:
        NotFound: its ref was deleted (``kind`` "revision").
        Failure: they are not told.
    """
    there = files_below(hub, repo, f"refs/pr/{num}", folder, cached=cached)
    return differences(files_below(hub, repo, "main", folder, cached=cached), there)


def differences(main: Mapping[str, str], there: Mapping[str, str]) -> tuple[ChangedFile, ...]:
    """What differs between two listings of files with their git ids, by path."""
    changed: list[ChangedFile] = []
    for path in sorted({*there, *main}):
        if there.get(path) != main.get(path):
            how: Any = "deleted" if path not in there else "edited" if path in main else "added"
            changed.append(ChangedFile(path, how, there.get(path)))
    return tuple(changed)


def thread(hub: Hub, repo: str, num: int, *, diff: bool = False, cached: bool = False) -> Thread:
    """A pull request with all of its events, read now unless ``cached`` allows an earlier answer of this run.

    Raises:
        NotFound: there is none of that number. Forbidden: discussions are disabled.
        Failure: it is not told.
    """
    told = hub.json(api_path("model", repo, "discussions", str(num)), cached=cached, diff="1" if diff else None)
    try:
        pull_request = _pull_request(told)
        events = tuple(_event(one) for one in told["events"])
    except (TypeError, KeyError, ValueError, AttributeError):
        raise unavailable(repo, f"an answer that is not discussion {num}") from None
    if pull_request is None:
        raise NotFound(repo, "other", f"{num} is a discussion, and no pull request")
    return Thread(pull_request, events, (told.get("changes") or {}).get("mergeCommitId"), told.get("diff"))


def _pull_request(told: Mapping[str, Any]) -> PullRequest | None:
    if not told.get("isPullRequest"):
        return None
    status = told["status"]
    if status not in _STATUSES:
        raise ValueError(status)
    return PullRequest(
        int(told["num"]),
        str(told["title"]),
        _author(told),
        status,
        str(told["createdAt"]),
        int(told.get("numComments") or sum(one.get("type") == "comment" for one in told.get("events") or ())),
    )


def _event(told: Mapping[str, Any]) -> Event:
    data = told.get("data") or {}
    latest = data.get("latest") or {}
    text = latest.get("raw") or data.get("subject") or data.get("status") or data.get("to") or ""
    return Event(
        str(told["id"]),
        str(told["type"]),
        _author(told),
        str(told["createdAt"]),
        str(text),
        data.get("oid"),
        bool(data.get("hidden")),
        bool(data.get("edited")),
        _author(latest),
    )


def _author(told: Mapping[str, Any]) -> str | None:
    author = told.get("author")
    return author.get("name") if isinstance(author, dict) else None
