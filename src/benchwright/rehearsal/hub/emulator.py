"""The Hub emulator: a server that the real client takes for the Hub, and its state's maker."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from benchwright.files import FileLock
from benchwright.rehearsal.hub import (
    boards,
    changes,
    commits,
    contents,
    conversation,
    discussions,
    identity,
    infos,
    lfs,
)
from benchwright.rehearsal.hub.changes import Change, LargeFile
from benchwright.rehearsal.hub.faults import Fault
from benchwright.rehearsal.hub.limits import RateLimits
from benchwright.rehearsal.hub.records import MAIN, Account, Discussion, Kind, Repo, Rights
from benchwright.rehearsal.hub.routing import Router
from benchwright.rehearsal.hub.server import Desk, HubServer, Seen
from benchwright.rehearsal.hub.state import HubState, Settings
from benchwright.rehearsal.hub.wire import Request

Content = str | bytes | LargeFile

ROUTES = [
    *identity.ROUTES,
    *infos.ROUTES,
    *boards.ROUTES,
    *discussions.ROUTES,
    *commits.ROUTES,
    *lfs.ROUTES,
    *contents.ROUTES,
]


class RepoFlags(TypedDict, total=False):
    """Fields of a repo that are not in its files (see ``Repo``); ``parameters`` are counts by type."""

    private: bool
    gated: Literal["auto", "manual", False]
    granted: list[str]
    disabled: bool
    discussions_disabled: bool
    parameters: dict[str, int] | None
    official: bool
    lower: list[str]


class HubEmulator:
    """The emulator over the state in ``folder``, served while its context lasts.

    ``url`` is what ``HF_ENDPOINT`` would be. ``fault`` picks the fault of a request, ``limits`` are the rate limits,
    ``settings`` what the real Hub leaves open. ``seen`` is the log of requests, and ``unknown`` names what they asked
    for that the emulator does not know: a test ends with that empty. The methods that change the state do so as the
    owner of what they change, unless an author is named.
    """

    def __init__(
        self, folder: Path | str, *, port: int = 0, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.folder = Path(folder)
        self.state = HubState(self.folder, clock)
        self._desk = Desk(self.state, Router(ROUTES), RateLimits(clock), self.folder / "requests.jsonl")
        self._lock = FileLock(self.folder / "lock", "the Hub emulator")
        self._port = port
        self._running = contextlib.ExitStack()

    def __enter__(self) -> HubEmulator:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._lock)
            self.state.load()
            hub = stack.enter_context(HubServer(self._desk, self._port))
            storage = stack.enter_context(HubServer(self._desk, 0))
            # Clients tell the storage from the Hub by its host, and some of them do not look at the port.
            self.state.base, self.state.storage = hub.url, f"http://localhost:{storage.server_port}"
            self._running = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    @property
    def url(self) -> str:
        """The address of the Hub."""
        return self.state.base

    @property
    def settings(self) -> Settings:
        """What the real Hub's behaviour leaves open."""
        return self.state.settings

    @property
    def limits(self) -> RateLimits:
        """The rate limits."""
        return self._desk.limits

    @property
    def seen(self) -> list[Seen]:
        """All requests since the start, in the order in which they were answered."""
        return self._desk.seen

    @property
    def unknown(self) -> list[str]:
        """What was asked for that the emulator does not know."""
        return self._desk.unknown

    @property
    def fault(self) -> Callable[[Request], Fault | None] | None:
        """What picks the fault of a request."""
        return self._desk.fault

    @fault.setter
    def fault(self, pick: Callable[[Request], Fault | None] | None) -> None:
        self._desk.fault = pick

    @contextlib.contextmanager
    def at(self, when: datetime) -> Iterator[None]:
        """Have what is changed in this context happen at another time."""
        clock, self.state.clock = self.state.clock, lambda: when
        try:
            yield
        finally:
            self.state.clock = clock

    def at_once(self) -> AbstractContextManager[None]:
        """Keep what is added in this context at its end alone, which is faster."""
        return self.state.at_once()

    def add_user(self, name: str, *, fullname: str = "", pro: bool = False) -> None:
        """A person."""
        self._add(Account(name, "user", fullname or name, self.state.now(), is_pro=pro))

    def add_organisation(
        self, name: str, members: Mapping[str, Literal["read", "write", "admin"]] | None = None, *, fullname: str = ""
    ) -> None:
        """An organisation and its members, who become persons where they are none yet."""
        for member in members or {}:
            if member not in self.state.accounts.people:
                self.add_user(member)
        self._add(Account(name, "org", fullname or name, self.state.now(), dict(members or {})))

    def token(self, user: str, rights: Rights | Literal["read", "write"] = "write") -> str:
        """A new token of a person, who is made where there is none."""
        if user not in self.state.accounts.people:
            self.add_user(user)
        value = f"rehearsal-{secrets.token_hex(16)}"
        with self.state.lock:
            self.state.accounts.tokens[value] = (user, Rights(rights) if isinstance(rights, str) else rights)
            self.state.save_accounts()
        return value

    def add_model(self, repo_id: str, files: Mapping[str, Content] | None = None, **flags: Unpack[RepoFlags]) -> Repo:
        """A model, of an organisation where its namespace is no person."""
        return self._add_repo("model", repo_id, files, flags)

    def add_dataset(self, repo_id: str, files: Mapping[str, Content] | None = None, **flags: Unpack[RepoFlags]) -> Repo:
        """A dataset, of an organisation where its namespace is no person. ``official`` makes it a benchmark."""
        return self._add_repo("dataset", repo_id, files, flags)

    def repo(self, repo_id: str, kind: Kind = "model") -> Repo:
        """A repo, to look at."""
        repo = self.state.get(kind, repo_id)
        if repo is None:
            raise KeyError(f"no {kind} {repo_id}")
        return repo

    def commit(
        self,
        repo: Repo,
        files: Mapping[str, Content] | None = None,
        *,
        deleted: Iterable[str] = (),
        title: str = "Update",
        author: str | None = None,
        ref: str = MAIN,
    ) -> str:
        """Commit to main, or to ``refs/pr/N``; returns the commit's id. A folder to delete ends with a slash."""
        by = author or repo.namespace
        with self.state.lock:
            made = changes.add_commit(self.state, repo, ref, _change(title, "", files, deleted), by)
            self.state.save(repo)
        return made.oid

    def open_pull_request(
        self, repo: Repo, files: Mapping[str, Content], *, author: str, title: str, body: str = ""
    ) -> Discussion:
        """Open a pull request with a commit."""
        with self.state.lock:
            pull = changes.open_pull_request(self.state, repo, _change(title, body, files), author)
            self.state.save(repo)
        return pull

    def close_pull_request(self, repo: Repo, num: int, *, author: str | None = None) -> None:
        """Close a pull request or a discussion."""
        with self.state.lock:
            conversation.change_status(self.state, self._discussion(repo, num), "closed", author or repo.namespace)
            self.state.save(repo)

    def merge_pull_request(self, repo: Repo, num: int, *, author: str | None = None) -> str:
        """Merge a pull request; returns the commit's id."""
        with self.state.lock:
            made = conversation.merge(self.state, repo, self._discussion(repo, num), author or repo.namespace)
            self.state.save(repo)
        return made.oid

    def comment(self, repo: Repo, num: int, text: str, *, author: str | None = None) -> str:
        """Write a comment; returns its id."""
        by = author or repo.namespace
        with self.state.lock:
            data = conversation.comment_data(self.state, text, by)
            event = conversation.add_event(self.state, self._discussion(repo, num), "comment", by, data)
            self.state.save(repo)
        return event.id

    def delete_ref(self, repo: Repo, num: int) -> None:
        """Delete the ref of a pull request, as an owner may once it is done."""
        with self.state.lock:
            del repo.refs[f"refs/pr/{num}"]
            self.state.save(repo)

    def rename(self, repo: Repo, new: str) -> None:
        """Give a repo another name; the old one leads to it."""
        with self.state.lock:
            self.state.rename(repo, new)

    def delete(self, repo: Repo) -> None:
        """Remove a repo."""
        with self.state.lock:
            self.state.forget(repo)

    def change(self, repo: Repo, **flags: Unpack[RepoFlags]) -> None:
        """Set fields of a repo."""
        with self.state.lock:
            for name, value in flags.items():
                setattr(repo, name, value)
            self.state.save(repo)

    def _add(self, account: Account) -> None:
        with self.state.lock:
            self.state.accounts.people[account.name] = account
            self.state.save_accounts()

    def _add_repo(self, kind: Kind, repo_id: str, files: Mapping[str, Content] | None, flags: RepoFlags) -> Repo:
        namespace = repo_id.partition("/")[0]
        if namespace not in self.state.accounts.people:
            self.add_organisation(namespace)
        with self.state.lock:
            repo = changes.new_repo(self.state, kind, repo_id, namespace)
            if files:
                changes.add_commit(self.state, repo, MAIN, _change("Upload", "", files), namespace)
            self.change(repo, **flags)
        return repo

    def _discussion(self, repo: Repo, num: int) -> Discussion:
        return next(one for one in repo.discussions if one.num == num)


def _change(title: str, message: str, files: Mapping[str, Content] | None, deleted: Iterable[str] = ()) -> Change:
    content = {path: one.encode() if isinstance(one, str) else one for path, one in (files or {}).items()}
    return Change(title, message, content, tuple(deleted))
