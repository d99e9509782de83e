"""What is in a repo: listings, refs, and the files themselves."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

from benchwright.rehearsal.hub import git, rights
from benchwright.rehearsal.hub.records import Commit, FileEntry, Kind, Repo
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, UnknownToEmulator, refused, said

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


def commit_at(repo: Repo, revision: str) -> Commit:
    """The commit of a revision.

    Raises:
        Refusal: there is none (404).
    """
    commit = repo.at(revision)
    if commit is None:
        raise Refusal(refused(404, f"Invalid rev id: {revision}", "RevisionNotFound"))
    return commit


def require_entry(state: HubState, request: Request, repo: Repo) -> None:
    """Raise where a gate keeps who asks out.

    Raises:
        Refusal: that is so (401 without a token, else 403).
    """
    if not rights.may_enter(state.accounts, request, repo):
        message = f"Access to {repo.kind} {repo.id} is restricted. You must have access to it and be authenticated."
        raise Refusal(refused(401 if request.user is None else 403, message, "GatedRepo"))


def tree(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str, path: str = "") -> Answer:
    """Answer with the files and folders below a folder, in pages."""
    repo = state.seen_by(request, kind, repo_id)
    commit = commit_at(repo, revision)
    expand = request.truth("expand")
    found = git.below(commit.files, path.strip("/"), recursive=request.truth("recursive"))
    if not found and path:
        raise Refusal(_no_entry(path, commit))
    most = min(request.number("limit", state.settings.tree_page, least=1), state.settings.tree_page)
    start = request.number("cursor", 0)
    folders = git.tree_oids(commit.files)
    page = [_entry(one, entry, folders, repo, commit, expand=expand) for one, entry in found[start : start + most]]
    headers = []
    if start + most < len(found):
        words = [(name, value) for name, value in request.query if name != "cursor"] + [("cursor", str(start + most))]
        headers.append(("Link", f'<{state.base}{request.path}?{urlencode(words)}>; rel="next"'))
    return said(page, *headers)


def paths_info(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str) -> Answer:
    """Answer with the entries of the paths that are there, of those asked for in a form."""
    repo = state.seen_by(request, kind, repo_id)
    commit = commit_at(repo, revision)
    form = parse_qsl(request.body.decode(), keep_blank_values=True)
    unknown = {name for name, _ in form} - {"paths", "expand"}
    if unknown or "form" not in request.headers.get("content-type", ""):
        raise UnknownToEmulator(f"the words {unknown} of {request.path}, or that they are no form")
    everything = dict(git.below(commit.files, "", recursive=True))
    folders = git.tree_oids(commit.files)
    paths = [value.strip("/") for name, value in form if name == "paths"]
    expand = ("expand", "true") in [(name, value.lower()) for name, value in form]
    return said(
        [_entry(path, everything[path], folders, repo, commit, expand=expand) for path in paths if path in everything]
    )


def refs(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Answer with branches, and with the refs of pull requests where they are asked for."""
    repo = state.seen_by(request, kind, repo_id)
    found: dict[str, list[dict[str, str]]] = {"branches": [], "converts": [], "tags": []}
    wanted = {"refs/heads/": "branches", "refs/tags/": "tags"}
    if request.truth("include_prs"):
        found["pullRequests"] = []
        wanted["refs/pr/"] = "pullRequests"
    for ref, oid in repo.refs.items():
        for prefix, name in wanted.items():
            if ref.startswith(prefix):
                found[name].append({"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid})
    return said(found)


def resolve(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str, path: str) -> Answer:
    """Answer with a file; of a large one with where it is in the storage."""
    commit, entry, content = _file(state, request, kind, repo_id, revision, path)
    here = ("X-Repo-Commit", commit.oid)
    if entry.lfs is None:
        return _text(request, here, entry, content)
    linked = (("X-Linked-Size", str(entry.size)), ("X-Linked-ETag", f'"{entry.lfs}"'))
    return Answer(302, b"", (here, *linked, ("Location", f"{state.storage}/storage/{entry.lfs}")))


def raw(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str, path: str) -> Answer:
    """Answer with a file as git has it."""
    commit, entry, content = _file(state, request, kind, repo_id, revision, path)
    return _text(request, ("X-Repo-Commit", commit.oid), entry, content)


def stored(state: HubState, request: Request, *, sha256: str) -> Answer:
    """Answer with a large file from the storage, which asks nobody who they are: its addresses are signed."""
    size = state.large.size(sha256)
    if size is None:
        return Answer(403, b"AccessDenied", (("Content-Type", "application/xml"),))
    headers = (("Content-Type", "application/octet-stream"), ("ETag", f'"{sha256}"'), ("Accept-Ranges", "bytes"))
    return _part_of(request, Answer(200, b"", headers, state.large.path(sha256), (0, size)))


def _file(state: HubState, request: Request, kind: Kind, repo_id: str, *place: str) -> tuple[Commit, FileEntry, bytes]:
    """The file at a revision and path, and what git has of it."""
    revision, path = place
    repo = state.seen_by(request, kind, repo_id)
    require_entry(state, request, repo)
    commit = commit_at(repo, revision)
    entry = commit.files.get(path)
    if entry is None:
        raise Refusal(_no_entry(path, commit))
    return commit, entry, repo.blobs[entry.oid]


def _text(request: Request, here: tuple[str, str], entry: FileEntry, content: bytes) -> Answer:
    headers = (("Content-Type", "text/plain; charset=utf-8"), ("ETag", f'"{entry.oid}"'), ("Accept-Ranges", "bytes"))
    return _part_of(request, Answer(200, content, (here, *headers)))


def _part_of(request: Request, whole: Answer) -> Answer:
    """The range of an answer that a request asks for: from a byte on, with or without an end."""
    wanted = request.headers.get("range")
    if wanted is None:
        return whole
    match = _RANGE.fullmatch(wanted)
    if match is None:
        raise UnknownToEmulator(f"the range {wanted}")
    first = int(match[1])
    last = min(int(match[2] or whole.length - 1), whole.length - 1)
    if first >= whole.length:
        return Answer(416, b"", (*whole.headers, ("Content-Range", f"bytes */{whole.length}")))
    headers = (*whole.headers, ("Content-Range", f"bytes {first}-{last}/{whole.length}"))
    return Answer(206, whole.body[first : last + 1], headers, whole.file, (first, last + 1 - first))


def _entry(
    path: str, entry: FileEntry | None, folders: dict[str, str], repo: Repo, commit: Commit, *, expand: bool
) -> dict[str, Any]:
    if entry is None:
        told: dict[str, Any] = {"type": "directory", "oid": folders[path], "size": 0, "path": path}
    else:
        told = {"type": "file", "oid": entry.oid, "size": entry.size, "path": path}
        if entry.lfs is not None:
            told["lfs"] = {"oid": entry.lfs, "size": entry.size, "pointerSize": pointer_size(entry)}
    if expand:
        last = last_change(repo, commit, path)
        told["lastCommit"] = {"id": last.oid, "title": last.title, "date": last.date}
    return told


def last_change(repo: Repo, commit: Commit, path: str) -> Commit:
    """The commit that gave a path, or a folder's files, their present content."""
    inside = f"{path}/"

    def content(of: Commit) -> dict[str, FileEntry]:
        return {one: entry for one, entry in of.files.items() if one == path or one.startswith(inside)}

    present = content(commit)
    while commit.parents and content(repo.commits[commit.parents[0]]) == present:
        commit = repo.commits[commit.parents[0]]
    return commit


def pointer_size(entry: FileEntry) -> int:
    """Bytes of what git has in a large file's place."""
    return len(git.pointer(entry.lfs or "", entry.size))


def _no_entry(path: str, commit: Commit) -> Answer:
    return refused(404, f"{path} does not exist", "EntryNotFound", ("X-Repo-Commit", commit.oid))


ROUTES = [
    route("GET", "/api/{kind}s/{repo_id}/tree/{revision}", tree, "recursive expand limit cursor"),
    route("GET", "/api/{kind}s/{repo_id}/tree/{revision}/{path}", tree, "recursive expand limit cursor"),
    route("POST", "/api/{kind}s/{repo_id}/paths-info/{revision}", paths_info),
    route("GET", "/api/{kind}s/{repo_id}/refs", refs, "include_prs"),
    route("GET", "/{prefix}{repo_id}/resolve/{revision}/{path}", resolve, "download"),
    route("GET", "/{prefix}{repo_id}/raw/{revision}/{path}", raw),
    route("GET", "/storage/{sha256}", stored),
]
