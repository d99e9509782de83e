"""Changes to a repo's files: new repos, commits, pull requests that begin with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch

from benchwright.rehearsal.hub import git
from benchwright.rehearsal.hub.conversation import add_event, comment_data, new_discussion
from benchwright.rehearsal.hub.records import MAIN, Commit, Discussion, FileEntry, Kind, Repo
from benchwright.rehearsal.hub.state import HubState, new_key

LARGEST_REGULAR = 10 * 1024 * 1024
"""Bytes over which the Hub takes a file as a large one alone."""
_ATTRIBUTES = "".join(
    f"*.{ending} filter=lfs diff=lfs merge=lfs -text\n"
    for ending in ("arrow", "bin", "gz", "npy", "npz", "parquet", "pt", "safetensors", "tar", "zip", "zst")
)


@dataclass(frozen=True)
class LargeFile:
    """A large file by the SHA-256 of its content, which is in the storage."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Change:
    """What a commit does: files that it writes, and paths that it deletes, a folder's with a slash at its end."""

    title: str
    message: str = ""
    files: Mapping[str, bytes | LargeFile] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()


def new_repo(state: HubState, kind: Kind, repo_id: str, author: str) -> Repo:
    """A new repo, with the commit that the Hub makes by itself. It is not saved yet."""
    created = state.now()
    repo = Repo(kind, repo_id, new_key(kind, repo_id, created), created)
    attributes = Change("initial commit", files={".gitattributes": _ATTRIBUTES.encode()})
    repo.refs[MAIN] = _new_commit(state, repo, attributes, author, None).oid
    return repo


def add_commit(state: HubState, repo: Repo, ref: str, change: Change, author: str) -> Commit:
    """Commit a change on top of a ref; a pull request whose ref it is tells of it. The repo is not saved.

    A change that changes nothing makes a commit all the same: the client is who leaves such ones out.
    """
    commit = _new_commit(state, repo, change, author, repo.refs[ref])
    repo.refs[ref] = commit.oid
    for pull in repo.discussions:
        if ref == f"refs/pr/{pull.num}":
            pull.head = commit.oid
            add_event(state, pull, "commit", author, {"subject": change.title, "oid": commit.oid})
    return commit


def open_pull_request(
    state: HubState, repo: Repo, change: Change, author: str, *, base: str | None = None
) -> Discussion:
    """Open a pull request with a commit on top of main, or of the commit ``base``. The repo is not saved."""
    discussion = new_discussion(state, repo, change.title, author, is_pull_request=True, status="open")
    add_event(state, discussion, "comment", author, comment_data(state, change.message, author))
    ref = f"refs/pr/{discussion.num}"
    repo.refs[ref] = base or repo.refs[MAIN]
    add_commit(state, repo, ref, change, author)
    return discussion


def is_large(files: Mapping[str, FileEntry], blobs: Mapping[str, bytes], path: str, size: int, sample: bytes) -> bool:
    """Whether the Hub takes a file as a large one: by ``.gitattributes``, by its size, or since it is no text."""
    attributes = blobs[files[".gitattributes"].oid].decode() if ".gitattributes" in files else ""
    for line in attributes.splitlines():
        pattern, _, words = line.partition(" ")
        if "filter=lfs" in words and fnmatch(path if "/" in pattern else path.rsplit("/", 1)[-1], pattern):
            return True
    return size > LARGEST_REGULAR or not _is_text(sample)


def _is_text(sample: bytes) -> bool:
    if b"\0" in sample:
        return False
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return error.start > len(sample) - 4 and error.reason == "unexpected end of data"
    return True


def _new_commit(state: HubState, repo: Repo, change: Change, author: str, parent: str | None) -> Commit:
    files = dict(repo.commits[parent].files) if parent else {}
    for path in change.deleted:
        for one in [one for one in files if one == path or (path.endswith("/") and one.startswith(path))]:
            del files[one]
    for path, content in change.files.items():
        files[path] = _entry(repo, content)
    words = {"title": change.title, "message": change.message, "author": author, "date": state.now()}
    commit = git.new_commit(files, [parent] if parent else [], **words)
    repo.commits[commit.oid] = commit
    return commit


def _entry(repo: Repo, content: bytes | LargeFile) -> FileEntry:
    held = git.pointer(content.sha256, content.size) if isinstance(content, LargeFile) else content
    oid = git.blob_oid(held)
    repo.blobs[oid] = held
    return FileEntry(oid, content.size, content.sha256) if isinstance(content, LargeFile) else FileEntry(oid, len(held))
