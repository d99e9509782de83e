"""The emulated Hub's state: in memory, and in a folder that a kill at any moment leaves whole.

A repo is one file there, accounts and tokens are another, each replaced as a whole; large files lie beside them under
their SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchwright.files import write_bytes
from benchwright.rehearsal.hub import rights
from benchwright.rehearsal.hub.large_files import LargeFiles
from benchwright.rehearsal.hub.records import Accounts, Kind, Repo
from benchwright.rehearsal.hub.wire import Refusal, Request, refused


@dataclass
class Settings:
    """What the real Hub's behaviour leaves open, or sizes that tests make small.

    ``verified_key`` False leaves ``verified`` out of rows that are not, which the Hub's description allows;
    ``board_lag`` is how many seconds after its commit a result comes on boards; ``open_has_drafts`` says whether a list
    of open discussions has drafts; files over ``part`` bytes are uploaded in parts.
    """

    discussions_page: int = 10
    tree_page: int = 1000
    list_page: int = 1000
    part: int = 16_000_000
    verified_key: bool = True
    board_lag: float = 0
    open_has_drafts: bool = False


@dataclass
class HubState:
    """Everything the emulated Hub knows. Whoever reads or changes it holds ``lock``."""

    folder: Path
    clock: Callable[[], datetime]
    settings: Settings = field(default_factory=Settings)
    accounts: Accounts = field(default_factory=Accounts)
    lock: threading.RLock = field(default_factory=threading.RLock)
    versions: dict[str, int] = field(default_factory=dict)
    computed: dict[str, tuple[int, Any]] = field(default_factory=dict)
    base: str = ""
    storage: str = ""

    def __post_init__(self) -> None:
        self.large = LargeFiles(self.folder / "lfs")
        self._repos: dict[tuple[Kind, str], Repo] = {}
        self._held: list[Repo] | None = None

    def load(self) -> None:
        """Read what the folder has."""
        with contextlib.suppress(FileNotFoundError):
            self.accounts = msgspec.json.decode((self.folder / "accounts.json").read_bytes(), type=Accounts)
        for path in sorted((self.folder / "repos").glob("*.json")):
            repo = msgspec.json.decode(path.read_bytes(), type=Repo)
            self._repos[repo.kind, repo.id] = repo

    def now(self) -> str:
        """The present, as the Hub writes a date."""
        return self.clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def save_accounts(self) -> None:
        """Keep accounts and tokens."""
        if self._held is None:
            write_bytes(self.folder / "accounts.json", msgspec.json.encode(self.accounts))

    def save(self, repo: Repo) -> None:
        """Keep a repo that is new or changed."""
        self._repos[repo.kind, repo.id] = repo
        self.versions[repo.key] = self.versions.get(repo.key, 0) + 1
        if self._held is None:
            write_bytes(self.folder / "repos" / f"{repo.key}.json", msgspec.json.encode(repo))
        else:
            self._held.append(repo)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Write what is changed here only at the end: each repo once, then the accounts."""
        held: list[Repo] = []
        self._held = held
        try:
            yield
        finally:
            self._held = None
            for key, repo in {one.key: one for one in held}.items():
                write_bytes(self.folder / "repos" / f"{key}.json", msgspec.json.encode(repo))
            self.save_accounts()

    def repos(self, kind: Kind) -> list[Repo]:
        """All repos of a kind, by name."""
        return [repo for _, repo in sorted(self._repos.items()) if repo.kind == kind]

    def get(self, kind: Kind, repo_id: str) -> Repo | None:
        """The repo that has this name now."""
        return self._repos.get((kind, repo_id))

    def rename(self, repo: Repo, new: str) -> None:
        """Give a repo another name; the old one leads to it."""
        del self._repos[repo.kind, repo.id]
        repo.former.append(repo.id)
        repo.id = new
        self.save(repo)

    def forget(self, repo: Repo) -> None:
        """Remove a repo."""
        del self._repos[repo.kind, repo.id]
        (self.folder / "repos" / f"{repo.key}.json").unlink(missing_ok=True)

    def address(self, repo: Repo) -> str:
        """Where a repo's page is."""
        return f"{self.base}/{'datasets/' if repo.kind == 'dataset' else ''}{repo.id}"

    def seen_by(self, request: Request, kind: Kind, repo_id: str) -> Repo:
        """The repo that a request names.

        Raises:
            Refusal: it has another name by now (307); it is not there for who asks (401 or 404, which of them says
                whether a token came along); it is disabled (403).
        """
        repo = self.get(kind, repo_id)
        if repo is None:
            renamed = next((one for one in self.repos(kind) if repo_id in one.former), None)
            if renamed is not None and rights.may_read(self.accounts, request, renamed):
                place = request.target.replace(f"/{repo_id}", f"/{renamed.id}", 1)
                raise Refusal(refused(307, f"moved to {renamed.id}", None, ("Location", place)))
        if repo is None or not rights.may_read(self.accounts, request, repo):
            if request.user is None:
                # The Hub sends no code here, and its client reads the address, of which it knows https alone.
                raise Refusal(refused(401, rights.NO_LOGIN, "RepoNotFound"))
            raise Refusal(refused(404, "Repository not found", "RepoNotFound"))
        if repo.disabled:
            raise Refusal(refused(403, "Access to this resource is disabled."))
        return repo


def new_key(kind: Kind, repo_id: str, created: str) -> str:
    """What a repo is called in the state's folder, whatever its name becomes."""
    return f"{kind}-{object_id(kind, repo_id, created)}"


def object_id(*parts: str) -> str:
    """An id in the form of the Hub's, 24 hexadecimal digits, that its parts make."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
