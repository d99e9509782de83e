"""The routes of discussions and pull requests."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchwright.rehearsal.hub import conversation, identity, rights
from benchwright.rehearsal.hub.records import MAIN, Discussion, Event, Kind, Repo
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, refused, said

_LONGEST = 65_536
"""Characters of a description or a comment."""


class New(msgspec.Struct, forbid_unknown_fields=True):
    """The body that opens a discussion, or a pull request without a commit."""

    title: str
    description: str
    pullRequest: bool = False


class Comment(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a comment."""

    comment: str


class Content(msgspec.Struct, forbid_unknown_fields=True):
    """The body that gives a comment another text."""

    content: str


class Title(msgspec.Struct, forbid_unknown_fields=True):
    """The body that gives a discussion another title."""

    title: str


class NewStatus(msgspec.Struct, forbid_unknown_fields=True):
    """The body that opens or closes."""

    status: Literal["open", "closed"]
    comment: str | None = None


class Merge(msgspec.Struct, forbid_unknown_fields=True):
    """The body that merges."""

    comment: str | None = None


def list_discussions(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """List discussions and pull requests, newest first, in pages."""
    repo = _repo(state, request, kind, repo_id)
    found = list(reversed(repo.discussions))
    of_type, status = request.one("type", "all"), request.one("status", "all")
    if of_type not in {"all", "discussion", "pull_request"} or status not in {"all", "open", "closed"}:
        raise Refusal(refused(400, "✖ Invalid option → at type or status"))
    if of_type != "all":
        found = [one for one in found if one.is_pull_request == (of_type == "pull_request")]
    author, search = request.one("author"), request.one("search")
    found = [one for one in found if author in {None, one.author} and (search or "").lower() in one.title.lower()]
    closed = sum(one.status in {"closed", "merged"} for one in found)
    if status != "all":
        wanted = {"closed", "merged"} if status == "closed" else {"open"}
        wanted |= {"draft"} if status == "open" and state.settings.open_has_drafts else set()
        found = [one for one in found if one.status in wanted]
    size = state.settings.discussions_page
    start = request.number("p", 0) * size
    page = [_head(state, repo, one) for one in found[start : start + size]]
    return said({"discussions": page, "count": len(found), "start": start, "numClosedDiscussions": closed})


def details(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Answer with all that happened in a discussion, and with what a pull request changes."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    told = _head(state, repo, one) | {"events": [_event(state, event) for event in one.events], "locked": False}
    if one.is_pull_request:
        changes: dict[str, Any] = {"base": MAIN}
        if one.merge_commit is not None:
            changes["mergeCommitId"] = one.merge_commit
        told |= {
            "changes": changes,
            "diffUrl": f"{state.address(repo)}/discussions/{num}/files.diff",
            "filesWithConflicts": [],
        }
        if one.head is not None:
            told["filesWithConflicts"] = conversation.conflicts(repo, one) if one.merge_commit is None else []
            told |= {"diff": conversation.difference(repo, one)} if request.truth("diff") else {}
    return said(told)


def open_one(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Open a discussion, or a pull request that is a draft until it has a commit and is published."""
    repo = _repo(state, request, kind, repo_id)
    user = _writer(request, repo)
    new = request.words(New)
    _require_length("title", new.title.strip(), 3, 200)
    _require_length("description", new.description, 0, _LONGEST)
    status: Literal["draft", "open"] = "draft" if new.pullRequest else "open"
    one = conversation.new_discussion(state, repo, new.title, user, is_pull_request=new.pullRequest, status=status)
    if new.pullRequest:
        one.head = repo.refs[f"refs/pr/{one.num}"] = repo.refs[MAIN]
    conversation.add_event(state, one, "comment", user, conversation.comment_data(state, new.description, user))
    state.save(repo)
    return said({"url": f"{state.address(repo)}/discussions/{one.num}", "num": one.num, "pullRequest": new.pullRequest})


def comment(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Write a comment."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user = _writer(request, repo)
    text = request.words(Comment).comment
    _require_length("comment", text, 1, _LONGEST)
    event = conversation.add_event(state, one, "comment", user, conversation.comment_data(state, text, user))
    state.save(repo)
    return said({"newMessage": _event(state, event)}, status=201)


def edit_comment(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str, event_id: str) -> Answer:
    """Give a comment another text; the first one is the body of a pull request."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user, event = _comment(state, request, repo, one, event_id)
    text = request.words(Content).content
    _require_length("content", text, 1, _LONGEST)
    conversation.edit_comment(state, event, text, user)
    state.save(repo)
    return said({"updatedComment": _event(state, event)})


def hide_comment(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str, event_id: str) -> Answer:
    """Hide a comment for good."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user, event = _comment(state, request, repo, one, event_id)
    conversation.edit_comment(state, event, "This comment has been hidden", user)
    event.data["hidden"] = True
    state.save(repo)
    return said({"updatedComment": _event(state, event)})


def rename(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Give a discussion another title."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user = _author_or_owner(state, request, repo, one)
    title = request.words(Title).title
    _require_length("title", title.strip(), 3, 200)
    event = conversation.add_event(state, one, "title-change", user, {"from": one.title, "to": title})
    one.title = title
    state.save(repo)
    return said({"newTitle": _event(state, event)})


def change_status(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Open or close. A comment that comes along is written first."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user = _author_or_owner(state, request, repo, one)
    wanted = request.words(NewStatus)
    if one.status in {wanted.status, "merged"}:
        raise Refusal(refused(400, f"This discussion is {one.status}"))
    if wanted.comment:
        conversation.add_event(state, one, "comment", user, conversation.comment_data(state, wanted.comment, user))
    event = conversation.change_status(state, one, wanted.status, user)
    state.save(repo)
    return said({"newStatus": _event(state, event)})


def merge(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Merge a pull request into main."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    user = _writer(request, repo)
    if not rights.may_write_at(state.accounts, request, repo.id):
        raise Refusal(refused(403, rights.NO_RIGHT))
    text = request.words(Merge).comment
    if not one.is_pull_request or one.status not in {"open", "draft"}:
        raise Refusal(refused(400, f"This discussion is {one.status}"))
    if conversation.conflicts(repo, one):
        raise Refusal(refused(409, "This pull request has conflicts"))
    if text:
        conversation.add_event(state, one, "comment", user, conversation.comment_data(state, text, user))
    conversation.merge(state, repo, one, user)
    state.save(repo)
    return said({})


def delete_ref(state: HubState, request: Request, *, kind: Kind, repo_id: str, num: str) -> Answer:
    """Delete the ref of a pull request that is done."""
    repo, one = _discussion(state, request, num, kind=kind, repo_id=repo_id)
    _author_or_owner(state, request, repo, one)
    ref = f"refs/pr/{one.num}"
    if ref not in repo.refs or one.status not in {"closed", "merged"}:
        raise Refusal(refused(400, f"The ref of a pull request that is {one.status} is not deleted"))
    del repo.refs[ref]
    state.save(repo)
    return said({})


def _repo(state: HubState, request: Request, kind: Kind, repo_id: str) -> Repo:
    repo = state.seen_by(request, kind, repo_id)
    if repo.discussions_disabled:
        raise Refusal(refused(403, rights.NO_DISCUSSIONS))
    return repo


def _discussion(state: HubState, request: Request, num: str, *, kind: Kind, repo_id: str) -> tuple[Repo, Discussion]:
    repo = _repo(state, request, kind, repo_id)
    for one in repo.discussions:
        if one.num == int(num):
            return repo, one
    raise Refusal(refused(404, "Discussion not found"))


def _writer(request: Request, repo: Repo) -> str:
    user = rights.require_user(request)
    rights.require_discussing(request, repo)
    return user


def _author_or_owner(state: HubState, request: Request, repo: Repo, one: Discussion) -> str:
    user = _writer(request, repo)
    if user != one.author and not rights.may_write_at(state.accounts, request, repo.id):
        raise Refusal(refused(403, rights.NO_RIGHT))
    return user


def _comment(state: HubState, request: Request, repo: Repo, one: Discussion, event_id: str) -> tuple[str, Event]:
    """Who edits, and the comment, where that is the editor's own or the editor owns the repo."""
    user = _writer(request, repo)
    for event in one.events:
        if event.id == event_id and event.type == "comment" and not event.data["hidden"]:
            if user != event.author and not rights.may_write_at(state.accounts, request, repo.id):
                raise Refusal(refused(403, rights.NO_RIGHT))
            return user, event
    raise Refusal(refused(404, "Comment not found"))


def _require_length(name: str, text: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        raise Refusal(refused(400, f"✖ Invalid length: expected {least} to {most} characters → at {name}"))


def _head(state: HubState, repo: Repo, one: Discussion) -> dict[str, Any]:
    told: dict[str, Any] = {
        "num": one.num,
        "title": one.title,
        "status": one.status,
        "isPullRequest": one.is_pull_request,
        "createdAt": one.date,
        "repo": {"name": repo.id, "type": repo.kind},
        "repoOwner": {"name": repo.namespace, "type": state.accounts.people[repo.namespace].type},
        "numComments": sum(event.type == "comment" for event in one.events),
        "numReactionUsers": 0,
        "topReactions": [],
        "pinned": False,
    }
    return told | _author(state, one.author)


def _event(state: HubState, event: Event) -> dict[str, Any]:
    data = dict(event.data)
    if event.type == "comment":
        data["latest"] = _version(state, data["latest"])
        data["history"] = [_version(state, version) for version in data["history"]]
        data |= {"editors": [one for one in data["editors"] if one in state.accounts.people], "reactions": []}
    return {"id": event.id, "type": event.type, "createdAt": event.date, "data": data} | _author(state, event.author)


def _version(state: HubState, version: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in version.items() if name != "author"}
    return rest | _author(state, version["author"])


def _author(state: HubState, name: str | None) -> dict[str, Any]:
    """Who it was; nothing where that user is no longer there."""
    return {"author": identity.author(state, name)} if name in state.accounts.people and name is not None else {}


ROUTES = [
    route("GET", "/api/{kind}s/{repo_id}/discussions", list_discussions, "p type status author search"),
    route("GET", "/api/{kind}s/{repo_id}/discussions/{num}", details, "diff"),
    route("POST", "/api/{kind}s/{repo_id}/discussions", open_one),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/comment", comment),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/comment/{event_id}/edit", edit_comment),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/comment/{event_id}/hide", hide_comment),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/title", rename),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/status", change_status),
    route("POST", "/api/{kind}s/{repo_id}/discussions/{num}/merge", merge),
    route("DELETE", "/api/{kind}s/{repo_id}/discussions/{num}/ref", delete_ref),
]
