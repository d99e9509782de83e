"""What the emulated Hub remembers: accounts, tokens, repos with their commits, discussions. All of it is plain data."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["model", "dataset"]
Role = Literal["read", "write", "fineGrained"]
Status = Literal["draft", "open", "closed", "merged"]
MAIN = "refs/heads/main"


class Account(msgspec.Struct):
    """A person or an organisation, with its members' roles."""

    name: str
    type: Literal["user", "org"]
    fullname: str
    created: str
    members: dict[str, Literal["read", "write", "admin"]] = {}
    is_pro: bool = False


class Rights(msgspec.Struct, frozen=True):
    """What a token may do. A fine-grained one has permissions everywhere, and at an account or a repo by its name.

    The permissions known are ``repo.content.read``, ``repo.write`` and ``discussion.write``.
    """

    role: Role = "write"
    everywhere: tuple[str, ...] = ()
    at: dict[str, tuple[str, ...]] = {}
    gated: bool = True


class Accounts(msgspec.Struct):
    """Everybody, and the tokens: value → (user, rights)."""

    people: dict[str, Account] = {}
    tokens: dict[str, tuple[str, Rights]] = {}


class FileEntry(msgspec.Struct, frozen=True):
    """A file of a commit: the git id of its blob, its size, and of a large file the SHA-256 of its content."""

    oid: str
    size: int
    lfs: str | None = None


class Commit(msgspec.Struct, frozen=True):
    """A commit with all of its files by path."""

    oid: str
    parents: tuple[str, ...]
    files: dict[str, FileEntry]
    title: str
    message: str
    author: str
    date: str


class Event(msgspec.Struct):
    """What happened in a discussion; ``data`` is as the Hub gives it. No author: a user who is no longer there."""

    id: str
    type: str
    author: str | None
    date: str
    data: dict[str, Any]


class Discussion(msgspec.Struct):
    """A discussion or a pull request; of the latter ``head`` is the newest commit, also when its ref is gone."""

    num: int
    title: str
    author: str | None
    status: Status
    is_pull_request: bool
    date: str
    events: list[Event]
    head: str | None = None
    merge_commit: str | None = None


class Repo(msgspec.Struct):
    """A repo. ``former`` are names it had, ``granted`` whom its gate let in, ``lower`` tasks where less is better."""

    kind: Kind
    id: str
    key: str
    created: str
    former: list[str] = []
    private: bool = False
    gated: Literal["auto", "manual", False] = False
    granted: list[str] = []
    disabled: bool = False
    discussions_disabled: bool = False
    parameters: dict[str, int] | None = None
    official: bool = False
    lower: list[str] = []
    refs: dict[str, str] = {}
    commits: dict[str, Commit] = {}
    blobs: dict[str, bytes] = {}
    discussions: list[Discussion] = []

    @property
    def namespace(self) -> str:
        """The account that the repo belongs to."""
        return self.id.partition("/")[0]

    @property
    def main(self) -> Commit:
        """The newest commit of the default branch."""
        return self.commits[self.refs[MAIN]]

    def at(self, revision: str) -> Commit | None:
        """The commit that a branch, a full ref or a commit's id means."""
        oid = self.refs.get(f"refs/heads/{revision}") or self.refs.get(revision) or revision
        return self.commits.get(oid)

    def open_pull_requests(self) -> list[Discussion]:
        """The pull requests that are neither drafts nor done, oldest first."""
        return [one for one in self.discussions if one.is_pull_request and one.status == "open"]
