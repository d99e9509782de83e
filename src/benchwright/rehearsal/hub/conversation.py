"""Discussions and pull requests: how they begin, what happens in them, how they end."""

from __future__ import annotations

import secrets
from html import escape
from typing import Any

from benchwright.rehearsal.hub import git
from benchwright.rehearsal.hub.records import MAIN, Commit, Discussion, Event, FileEntry, Repo, Status
from benchwright.rehearsal.hub.state import HubState


def new_discussion(
    state: HubState, repo: Repo, title: str, author: str, *, is_pull_request: bool, status: Status
) -> Discussion:
    """A discussion with the next number, still without events. The repo is not saved."""
    num = max((one.num for one in repo.discussions), default=0) + 1
    discussion = Discussion(num, title, author, status, is_pull_request, state.now(), [])
    repo.discussions.append(discussion)
    return discussion


def add_event(state: HubState, discussion: Discussion, type_: str, author: str, data: dict[str, Any]) -> Event:
    """Note what happened. The repo is not saved."""
    event = Event(secrets.token_hex(12), type_, author, state.now(), data)
    discussion.events.append(event)
    return event


def comment_data(state: HubState, text: str, author: str) -> dict[str, Any]:
    """What the event of a new comment says."""
    latest = {"raw": text, "html": f"<p>{escape(text)}</p>", "updatedAt": state.now(), "author": author}
    return {"edited": False, "hidden": False, "latest": latest, "history": [], "numEdits": 0, "editors": [author]}


def edit_comment(state: HubState, event: Event, text: str, editor: str) -> None:
    """Give a comment another text, and keep the old one in its history. The repo is not saved."""
    data = event.data
    new = comment_data(state, text, editor)
    data["history"] = [data["latest"], *data["history"]]
    data["numEdits"] += 1
    data["edited"], data["latest"] = True, new["latest"]
    data["editors"] = list(dict.fromkeys([*data["editors"], editor]))


def change_status(state: HubState, discussion: Discussion, status: Status, author: str) -> Event:
    """Open, close, or mark as merged. The repo is not saved."""
    discussion.status = status
    return add_event(state, discussion, "status-change", author, {"status": status})


def base_of(repo: Repo, discussion: Discussion) -> Commit:
    """The commit that a pull request began from, or was last in step with."""
    assert discussion.head is not None
    return git.merge_base(repo.commits, discussion.head, repo.refs[MAIN])


def conflicts(repo: Repo, discussion: Discussion) -> list[str]:
    """The paths that both main and the pull request changed, each in another way."""
    base, head, main = base_of(repo, discussion).files, _head(repo, discussion).files, repo.main.files
    ours = set(git.changed(base, head))
    return [path for path in git.changed(base, main) if path in ours and head.get(path) != main.get(path)]


def difference(repo: Repo, discussion: Discussion) -> str:
    """What a pull request changes, as ``git diff`` writes it."""
    if discussion.merge_commit is not None:
        before = repo.commits[repo.commits[discussion.merge_commit].parents[0]].files
        return git.unified_diff(before, repo.commits[discussion.merge_commit].files, repo.blobs)
    return git.unified_diff(base_of(repo, discussion).files, _head(repo, discussion).files, repo.blobs)


def merge(state: HubState, repo: Repo, discussion: Discussion, author: str) -> Commit:
    """Bring a pull request without conflicts into main. The repo is not saved."""
    base, head = base_of(repo, discussion).files, _head(repo, discussion)
    files: dict[str, FileEntry] = dict(repo.main.files)
    for path in git.changed(base, head.files):
        if path in head.files:
            files[path] = head.files[path]
        else:
            files.pop(path, None)
    title = f"{discussion.title} (#{discussion.num})"
    parents = (repo.refs[MAIN], head.oid)
    commit = git.new_commit(files, parents, title=title, message="", author=author, date=state.now())
    repo.commits[commit.oid] = commit
    repo.refs[MAIN] = discussion.merge_commit = commit.oid
    change_status(state, discussion, "merged", author)
    return commit


def _head(repo: Repo, discussion: Discussion) -> Commit:
    assert discussion.head is not None
    return repo.commits[discussion.head]
