"""Changes to a repo's files: new repos, commits, pull requests that begin with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch

from benchwright.rehearsal.hub import git
from benchwright.rehearsal.hub.records import Commit, Discussion, FileEntry, Kind, Repo
from benchwright.rehearsal.hub.state import HubState, new_key
from benchwright.rehearsal.hub.talk import add_event, comment_data, new_discussion

MAIN = "refs/heads/main"
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
    """What a commit does: files that it writes, paths and folders that it deletes."""

    title: str
    message: str = ""
    files: Mapping[str, bytes | LargeFile] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()


def new_repo(state: HubState, kind: Kind, repo_id: str, author: str) -> Repo:
    """A new repo, with the commit that the Hub makes by itself. It is not saved yet."""
    created = state.now()
    repo = Repo(kind, repo_id, new_key(kind, repo_id, created), created)
    attributes = Change("initial commit", files={".gitattributes": _ATTRIBUTES.encode()})
    add_commit(state, repo, MAIN, attributes, author, parents=())
    return repo


def add_commit(
    state: HubState, repo: Repo, ref: str, change: Change, author: str, *, parents: tuple[str, ...] | None = None
) -> Commit:
    """Commit a change on top of a ref, or of the parents named, and let the ref lead to it. The repo is not saved.

    A change that changes nothing makes a commit all the same: the client is who leaves such ones out.
    """
    above = (repo.refs[ref],) if parents is None else parents
    files = dict(repo.commits[above[0]].files) if above else {}
    for path in change.deleted:
        for one in [one for one in files if one == path or one.startswith(f"{path}/")]:
            del files[one]
    for path, content in change.files.items():
        files[path] = _entry(repo, content)
    commit = git.new_commit(files, above, title=change.title, message=change.message, author=author, date=state.now())
    repo.commits[commit.oid] = commit
    repo.refs[ref] = commit.oid
    return commit


def open_pull_request(
    state: HubState, repo: Repo, change: Change, author: str, *, base: str | None = None
) -> tuple[Discussion, Commit]:
    """Open a pull request with a commit on top of main, or of the commit ``base``. The repo is not saved."""
    discussion = new_discussion(state, repo, change.title, author, is_pull_request=True, status="open")
    ref = f"refs/pr/{discussion.num}"
    commit = add_commit(state, repo, ref, change, author, parents=(base or repo.refs[MAIN],))
    discussion.head = commit.oid
    add_event(state, discussion, "comment", author, comment_data(state, change.message, author))
    add_event(state, discussion, "commit", author, {"subject": change.title, "oid": commit.oid})
    return discussion, commit


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


def _entry(repo: Repo, content: bytes | LargeFile) -> FileEntry:
    if isinstance(content, LargeFile):
        held, entry_size, sha256 = git.pointer(content.sha256, content.size), content.size, content.sha256
        oid = git.blob_oid(held)
        repo.blobs[oid] = held
        return FileEntry(oid, entry_size, sha256)
    oid = git.blob_oid(content)
    repo.blobs[oid] = content
    return FileEntry(oid, len(content))
