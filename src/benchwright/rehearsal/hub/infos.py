"""What the Hub says about a repo as a whole, and its lists of repos."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from benchwright.rehearsal.hub import boards, rights
from benchwright.rehearsal.hub.cards import base_models, card
from benchwright.rehearsal.hub.contents import commit_at, pointer_size
from benchwright.rehearsal.hub.records import Commit, Kind, Repo
from benchwright.rehearsal.hub.results import results_of
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState, object_id
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, UnknownToEmulator, refused, said

_SHORT = ("author", "createdAt", "disabled", "downloads", "gated", "lastModified", "likes", "private", "tags")
_LONG = ("cardData", "sha", "siblings")
_MODEL = ("baseModels", "config", "evalResults", "safetensors")
_EXPANDABLE: dict[Kind, frozenset[str]] = {
    "model": frozenset(_SHORT + _LONG + _MODEL),
    "dataset": frozenset(_SHORT + _LONG),
}
_LIST = "author filter limit cursor expand search sort direction full cardData"


def info(state: HubState, request: Request, *, kind: Kind, repo_id: str, revision: str = "main") -> Answer:
    """Describe a model or a dataset."""
    repo = state.seen_by(request, kind, repo_id)
    commit = commit_at(repo, revision)
    wanted = _expanded(request, kind)
    if wanted is None:
        told = {"_id": object_id(repo.key), "id": repo.id} | _fields(state, repo, commit, _SHORT + _LONG)
        if kind == "model":
            told |= {"modelId": repo.id} | _fields(state, repo, commit, ("safetensors",))
        if repo.discussions_disabled:
            told["discussionsDisabled"] = True
        if request.truth("blobs"):
            told["siblings"] = [_blob(path, commit) for path in sorted(commit.files)]
        return said(told)
    return said({"_id": object_id(repo.key), "id": repo.id} | _fields(state, repo, commit, wanted))


def list_repos(state: HubState, request: Request, *, kind: Kind) -> Answer:
    """List models or datasets, in pages."""
    found = [repo for repo in state.repos(kind) if rights.may_read(state.accounts, request, repo)]
    author, search = request.one("author"), request.one("search")
    found = [repo for repo in found if author in {None, repo.namespace}]
    found = [repo for repo in found if (search or "").lower() in repo.id.lower()]
    for wanted in request.every("filter"):
        found = [repo for repo in found if wanted in tags(repo)]
    sort = request.one("sort", "createdAt")
    if sort not in {"createdAt", "lastModified"} or request.one("direction", "-1") != "-1":
        raise UnknownToEmulator(f"lists sorted by {sort}, in direction {request.one('direction')}")
    found.sort(key=lambda repo: repo.created if sort == "createdAt" else repo.main.date, reverse=True)
    most = min(request.number("limit", state.settings.list_page, least=1), state.settings.list_page)
    start = request.number("cursor", 0)
    fields = _expanded(request, kind)
    if fields is None:
        fields = (
            _SHORT + (("cardData",) if request.truth("cardData") else ()) + (_LONG if request.truth("full") else ())
        )
    page = [
        {"_id": object_id(repo.key), "id": repo.id} | _fields(state, repo, repo.main, fields)
        for repo in found[start : start + most]
    ]
    if start + most >= len(found):
        return said(page)
    words = [(name, value) for name, value in request.query if name != "cursor"] + [("cursor", str(start + most))]
    return said(page, ("Link", f'<{state.base}{request.path}?{urlencode(words)}>; rel="next"'))


def tags(repo: Repo) -> list[str]:
    """The tags of a repo, as far as its own files make them."""
    found = [f"license:{told}"] if (told := card(repo).get("license")) else []
    if repo.kind == "dataset":
        found += ["benchmark:official"] if repo.official else []
        return found + (["benchmark:eval-yaml"] if boards.task_ids(repo) else [])
    found += [f"base_model:{base}" for base in base_models(repo)]
    return found + (["eval-results"] if any(path.startswith(".eval_results/") for path in repo.main.files) else [])


def _expanded(request: Request, kind: Kind) -> tuple[str, ...] | None:
    wanted = tuple(request.every("expand"))
    unknown = sorted(set(wanted) - _EXPANDABLE[kind])
    if unknown == ["discussionsDisabled"]:
        raise Refusal(refused(400, "✖ Invalid option: discussionsDisabled → at expand"))
    if unknown:
        raise UnknownToEmulator(f"to expand {', '.join(unknown)} of a {kind}")
    return wanted or None


def _fields(state: HubState, repo: Repo, commit: Commit, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields asked for, of those that the repo has."""
    makers: dict[str, Any] = {
        "author": lambda: repo.namespace,
        "createdAt": lambda: repo.created,
        "lastModified": lambda: commit.date,
        "private": lambda: repo.private,
        "gated": lambda: repo.gated,
        "disabled": lambda: repo.disabled,
        "downloads": lambda: 0,
        "likes": lambda: 0,
        "tags": lambda: tags(repo),
        "sha": lambda: commit.oid,
        "siblings": lambda: [{"rfilename": path} for path in sorted(commit.files)],
        "cardData": lambda: card(repo) or None,
        "config": lambda: {},
        "evalResults": lambda: [one.told() for one in results_of(state, repo)] or None,
        "safetensors": lambda: _safetensors(repo),
        "baseModels": lambda: _base_models(repo),
    }
    told = {name: makers[name]() for name in names}
    return {name: value for name, value in told.items() if value is not None}


def _safetensors(repo: Repo) -> dict[str, Any] | None:
    if repo.parameters is None:
        return None
    return {"parameters": repo.parameters, "total": sum(repo.parameters.values())}


def _base_models(repo: Repo) -> dict[str, Any] | None:
    bases = base_models(repo)
    relation = card(repo).get("base_model_relation", "finetune")
    models = [{"_id": object_id(base), "id": base} for base in bases]
    return {"relation": relation, "models": models} if bases else None


def _blob(path: str, commit: Commit) -> dict[str, Any]:
    entry = commit.files[path]
    told: dict[str, Any] = {"rfilename": path, "size": entry.size, "blobId": entry.oid}
    if entry.lfs is not None:
        told["lfs"] = {"sha256": entry.lfs, "size": entry.size, "pointerSize": pointer_size(entry)}
    return told


ROUTES = [
    route("GET", "/api/{kind}s", list_repos, _LIST),
    route("GET", "/api/{kind}s/{repo_id}", info, "expand blobs"),
    route("GET", "/api/{kind}s/{repo_id}/revision/{revision}", info, "expand blobs"),
]
