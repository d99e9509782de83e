"""The routes that create repos and write to them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Literal

import msgspec
import yaml

from benchwright.rehearsal.hub import rights
from benchwright.rehearsal.hub.cards import metadata_of
from benchwright.rehearsal.hub.changes import Change, LargeFile, add_commit, is_large, new_repo, open_pull_request
from benchwright.rehearsal.hub.contents import commit_at
from benchwright.rehearsal.hub.records import Discussion, Kind, Repo
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState, object_id
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, UnknownToEmulator, refused, said

_PULL_REQUEST = re.compile(r"refs/pr/(\d+)")
_NAME = re.compile(r"[\w.-]{1,96}", re.ASCII)


class NewRepo(msgspec.Struct, forbid_unknown_fields=True):
    """The body that creates a repo."""

    name: str
    organization: str | None = None
    type: Kind = "model"
    private: bool = False
    visibility: Literal["public", "private"] | None = None


class Sample(msgspec.Struct, forbid_unknown_fields=True):
    """A file that is going to be uploaded."""

    path: str
    sample: str
    size: int


class Samples(msgspec.Struct, forbid_unknown_fields=True):
    """The body that asks how files are to be uploaded."""

    files: list[Sample]


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """The first line of a commit."""

    summary: str
    description: str = ""
    parentCommit: str | None = None


class File(msgspec.Struct, forbid_unknown_fields=True):
    """A file in a commit."""

    path: str
    content: str
    encoding: Literal["base64"]


class LfsFile(msgspec.Struct, forbid_unknown_fields=True):
    """A large file in a commit."""

    path: str
    algo: Literal["sha256"]
    oid: str
    size: int


class DeletedFile(msgspec.Struct, forbid_unknown_fields=True):
    """A file that a commit deletes."""

    path: str


class DeletedFolder(msgspec.Struct, forbid_unknown_fields=True):
    """A folder that a commit deletes."""

    path: str


class Card(msgspec.Struct, forbid_unknown_fields=True):
    """The body that has a README's metadata checked."""

    content: str
    repoType: Kind = "model"


_LINES: dict[str, type[msgspec.Struct]] = {
    "header": Header,
    "file": File,
    "lfsFile": LfsFile,
    "deletedFile": DeletedFile,
    "deletedFolder": DeletedFolder,
}


def create_repo(state: HubState, request: Request) -> Answer:
    """Create a repo at the user's own name, or at an organisation's."""
    user = rights.require_user(request)
    wanted = request.words(NewRepo)
    repo_id = f"{wanted.organization or user}/{wanted.name}"
    if _NAME.fullmatch(wanted.name) is None:
        raise Refusal(refused(400, f"Invalid repo name: {wanted.name}"))
    if not rights.may_write_at(state.accounts, request, repo_id):
        where = wanted.organization or user
        message = f'You don\'t have the rights to create a {wanted.type} under the namespace "{where}"'
        raise Refusal(refused(403, message))
    if (present := state.get(wanted.type, repo_id)) is not None:
        message = f"You already created this {wanted.type} repo: {repo_id}"
        return said({"error": message, "url": state.address(present)}, status=409)
    repo = new_repo(state, wanted.type, repo_id, user)
    repo.private = wanted.private or wanted.visibility == "private"
    state.save(repo)
    return said({"url": state.address(repo), "name": repo_id, "id": object_id(repo.key)})


def preupload(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str) -> Answer:
    """Say of each file whether it goes into the commit or into the storage, and what it is at the revision."""
    repo = state.seen_by(request, kind, repo_id)
    _require_right(state, request, repo, revision)
    commit = commit_at(repo, revision)
    told = []
    for one in request.words(Samples).files:
        sample = base64.b64decode(one.sample)
        large = is_large(commit.files, repo.blobs, one.path, one.size, sample)
        answer = {"path": one.path, "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
        present = commit.files.get(one.path)
        told.append(answer | ({"oid": present.lfs or present.oid} if present else {}))
    return said({"files": told, "commitOid": commit.oid})


def commit(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str) -> Answer:
    """Commit to a branch or to a pull request, or open a pull request with the commit."""
    repo = state.seen_by(request, kind, repo_id)
    ref = _require_right(state, request, repo, revision)
    user = rights.require_user(request)
    head = commit_at(repo, revision)
    header, change = _change(state, request)
    if not header.summary.strip():
        raise Refusal(refused(400, "✖ Too small: expected string to have >=1 characters → at summary"))
    parent = header.parentCommit
    if parent is not None and parent not in repo.commits:
        raise Refusal(refused(404, f"Invalid rev id: {parent}", "RevisionNotFound"))
    creates = request.truth("create_pr")
    base = repo.commits[parent] if creates and parent else head
    for path in change.deleted:
        if path not in base.files and not any(path.endswith("/") and one.startswith(path) for one in base.files):
            raise Refusal(refused(404, f"A file with this name doesn't exist: {path}", "EntryNotFound"))
    place = state.address(repo)
    told: dict[str, Any] = {"success": True, "hookOutput": ""}
    if creates:
        discussion = open_pull_request(state, repo, change, user, base=base.oid)
        oid = discussion.head
        told["pullRequestUrl"] = f"{place}/discussions/{discussion.num}"
    else:
        if parent is not None and parent != head.oid:
            raise Refusal(refused(412, "A commit has happened since. Please refresh and try again."))
        oid = add_commit(state, repo, ref, change, user).oid
    state.save(repo)
    return said(told | {"commitOid": oid, "commitUrl": f"{place}/commit/{oid}"})


def validate_yaml(_state: HubState, request: Request) -> Answer:
    """Check the metadata at the head of a README."""
    card = request.words(Card)
    try:
        metadata_of(card.content)
    except yaml.YAMLError as error:
        return said({"errors": [{"message": f"YAML Metadata Error: {error}"}], "warnings": []}, status=400)
    return said({"errors": [], "warnings": []})


def _pull_request(repo: Repo, revision: str) -> Discussion | None:
    match = _PULL_REQUEST.fullmatch(revision)
    return next((one for one in repo.discussions if match and one.num == int(match[1])), None)


def _require_right(state: HubState, request: Request, repo: Repo, revision: str) -> str:
    """The ref that a commit to the revision moves, where who asks may move it, or open a pull request of it."""
    user = rights.require_user(request)
    if request.truth("create_pr"):
        rights.require_discussing(request, repo)
        return ""
    pull = _pull_request(repo, revision)
    if pull is not None:
        own = user == pull.author and rights.may_discuss(request, repo)
        if not own and not rights.may_write_at(state.accounts, request, repo.id):
            raise Refusal(refused(403, rights.NO_RIGHT))
        if pull.status not in {"open", "draft"} and revision in repo.refs:
            raise Refusal(refused(403, f"This pull request is {pull.status}."))
        return revision
    if not rights.may_write_at(state.accounts, request, repo.id):
        raise Refusal(refused(403, rights.NOT_YOURS))
    ref = revision if revision in repo.refs else f"refs/heads/{revision}"
    if ref not in repo.refs:
        raise Refusal(refused(404, f"Invalid rev id: {revision}", "RevisionNotFound"))
    return ref


def _change(state: HubState, request: Request) -> tuple[Header, Change]:
    """What the lines of a commit's body say."""
    header: Header | None = None
    files: dict[str, bytes | LargeFile] = {}
    deleted: list[str] = []
    for line in request.body.splitlines():
        value = _line(line)
        if isinstance(value, Header):
            header = value
        elif isinstance(value, File):
            try:
                files[value.path] = base64.b64decode(value.content, validate=True)
            except binascii.Error:
                raise Refusal(refused(400, f"{value.path} is not in base64")) from None
        elif isinstance(value, LfsFile):
            if state.large.size(value.oid) != value.size:
                message = f"LFS pointer pointed to a file that does not exist: {value.path}"
                raise Refusal(refused(400, message))
            files[value.path] = LargeFile(value.oid, value.size)
        elif isinstance(value, DeletedFile):
            deleted.append(value.path)
        elif isinstance(value, DeletedFolder):
            deleted.append(value.path.rstrip("/") + "/")
    if header is None:
        raise Refusal(refused(400, "the commit has no header"))
    for path in [*files, *deleted]:
        if not {"", ".", ".."}.isdisjoint(path.removesuffix("/").split("/")):
            raise Refusal(refused(400, f"Invalid path: {path}"))
    return header, Change(header.summary, header.description, files, tuple(deleted))


def _line(line: bytes) -> msgspec.Struct:
    try:
        told = msgspec.json.decode(line, type=dict[str, Any])
        if told.keys() != {"key", "value"} or told["key"] not in _LINES:
            raise UnknownToEmulator(f"the line {line[:80]!r} of a commit")
        return msgspec.convert(told["value"], _LINES[told["key"]])
    except msgspec.DecodeError as error:
        if "unknown field" in str(error):
            raise UnknownToEmulator(f"in a line of a commit: {error}") from None
        raise Refusal(refused(400, str(error))) from None


ROUTES = [
    route("POST", "/api/repos/create", create_repo),
    route("POST", "/api/validate-yaml", validate_yaml),
    route("POST", "/api/{kind}s/{repo_id}/preupload/{revision}", preupload, "create_pr"),
    route("POST", "/api/{kind}s/{repo_id}/commit/{revision}", commit, "create_pr"),
]
