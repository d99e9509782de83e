"""The protocol of large files (https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md), whole and in parts.

Xet, the Hub's newer storage, is not offered: a client that has ``hf_xet`` is told so with 404, and uploads here only
with ``HF_HUB_DISABLE_XET=1``.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from benchwright.rehearsal.hub import rights
from benchwright.rehearsal.hub.large_files import WrongContent
from benchwright.rehearsal.hub.records import Kind
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, refused, said

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LFS_TYPE = (("Content-Type", "application/vnd.git-lfs+json"),)


class Object(msgspec.Struct, forbid_unknown_fields=True):
    """A large file."""

    oid: str
    size: int


class Ref(msgspec.Struct, forbid_unknown_fields=True):
    """Where it goes."""

    name: str


class Batch(msgspec.Struct, forbid_unknown_fields=True):
    """The body that asks where large files are to be sent."""

    operation: Literal["upload"]
    transfers: list[str]
    objects: list[Object]
    hash_algo: Literal["sha256"] = "sha256"
    ref: Ref | None = None


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """A part that was sent."""

    partNumber: int
    etag: str


class Parts(msgspec.Struct, forbid_unknown_fields=True):
    """The body that says that all parts were sent."""

    oid: str
    parts: list[Part]


def batch(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Say where large files are to be sent, of those that are not there yet."""
    repo = state.seen_by(request, kind, repo_id)
    rights.require_user(request)
    wanted = request.words(Batch)
    # Without a ref the files are for a pull request, which whoever may discuss may open.
    writes = rights.may_write_at(state.accounts, request, repo.id)
    own = wanted.ref is None or wanted.ref.name.startswith("refs/pr/")
    if not writes and not (own and rights.may_discuss(request, repo)):
        raise Refusal(refused(403, rights.NO_RIGHT))
    in_parts = "multipart" in wanted.transfers and any(one.size > state.settings.part for one in wanted.objects)
    verify = {"href": f"{state.address(repo)}.git/info/lfs/objects/verify"}
    objects: list[dict[str, Any]] = []
    for one in wanted.objects:
        told: dict[str, Any] = {"oid": one.oid, "size": one.size, "authenticated": True}
        if _SHA256.fullmatch(one.oid) is None:
            told["error"] = {"code": 422, "message": "Invalid oid"}
        elif state.large.size(one.oid) != one.size:
            state.large.expected[one.oid] = one.size
            told["actions"] = {"upload": _place(state, one, in_parts="multipart" in wanted.transfers), "verify": verify}
        objects.append(told)
    answer = said({"transfer": "multipart" if in_parts else "basic", "objects": objects})
    return Answer(200, answer.body, _LFS_TYPE)


def verify(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Say whether a large file has arrived."""
    state.seen_by(request, kind, repo_id)
    one = request.words(Object)
    if state.large.size(one.oid) != one.size:
        raise Refusal(refused(404, "the object is not in the storage"))
    return said({})


def upload(state: HubState, request: Request, *, sha256: str) -> Answer:
    """Take a large file. Nobody is asked who they are: the address is as good as a signature."""
    _require_expected(state, sha256)
    assert request.stream is not None
    try:
        state.large.put(sha256, request.stream())
    except WrongContent as error:
        return _storage_says(400, f"BadDigest: {error}")
    return Answer(200, b"", (("ETag", f'"{sha256}"'),))


def upload_part(state: HubState, request: Request, *, sha256: str, num: str) -> Answer:
    """Take a part of a large file."""
    _require_expected(state, sha256)
    assert request.stream is not None
    tag = state.large.put_part(sha256, int(num), request.stream())
    return Answer(200, b"", (("ETag", f'"{tag}"'),))


def complete(state: HubState, request: Request, *, sha256: str) -> Answer:
    """Put the parts of a large file together."""
    _require_expected(state, sha256)
    parts = request.words(Parts)
    try:
        state.large.put_together(sha256, [part.partNumber for part in parts.parts])
    except WrongContent as error:
        raise Refusal(refused(400, str(error))) from None
    return said({})


def no_xet(_state: HubState, _request: Request, **_names: str) -> Answer:
    """Refuse a token for the storage that is not offered."""
    raise Refusal(refused(404, "Xet is not offered here: set HF_HUB_DISABLE_XET=1"))


def _place(state: HubState, one: Object, *, in_parts: bool) -> dict[str, Any]:
    place = f"{state.storage}/storage/{one.oid}"
    size = state.settings.part
    if one.size <= size or not in_parts:
        return {"href": place}
    numbers = range(1, -(-one.size // size) + 1)
    parts = {f"{number:05}": f"{place}/{number}" for number in numbers}
    return {"href": f"{state.base}/api/complete_multipart/{one.oid}", "header": {"chunk_size": str(size), **parts}}


def _require_expected(state: HubState, sha256: str) -> None:
    if sha256 not in state.large.expected:
        raise Refusal(_storage_says(403, "AccessDenied: Request has expired"))


def _storage_says(status: int, message: str) -> Answer:
    return Answer(status, message.encode(), (("Content-Type", "application/xml"),))


ROUTES = [
    route("POST", "/{prefix}{repo_id}.git/info/lfs/objects/batch", batch),
    route("POST", "/{prefix}{repo_id}.git/info/lfs/objects/verify", verify),
    route("PUT", "/storage/{sha256}", upload, streamed=True),
    route("PUT", "/storage/{sha256}/{num}", upload_part, streamed=True),
    route("POST", "/api/complete_multipart/{sha256}", complete),
    route("GET", "/api/{kind}s/{repo_id}/xet-{which}-token/{revision}", no_xet, "create_pr"),
]
