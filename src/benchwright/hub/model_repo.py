"""Models on the Hub: what a repo says of itself, who owns it, and what its own metadata get wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from benchwright.contract import Failure, Problem
from benchwright.hub.client import Hub, api_path
from benchwright.hub.refusals import Forbidden, NotFound, unavailable

NamespaceKind = Literal["org", "user"]
RESULTS_FOLDER = ".eval_results"
_EXPAND = (
    "author",
    "baseModels",
    "cardData",
    "disabled",
    "evalResults",
    "gated",
    "lastModified",
    "private",
    "safetensors",
    "sha",
    "siblings",
)
_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co", "www.hf.co"})
_NO_NAMESPACES = frozenset(
    {"api", "blog", "collections", "datasets", "docs", "learn", "models", "organizations", "papers", "posts", "spaces"}
)
_PART = re.compile(r"(?!.*(?:--|\.\.))[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?", re.ASCII)
_SIZE_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([BM])(?![A-Za-z0-9])", re.IGNORECASE)


class RepoMissing(Failure):
    """A model that was deleted or is private, or never was."""

    def __init__(self, repo: str, found: str) -> None:
        super().__init__(
            Problem("repo-missing", repo, found, "a model that may be read", "correct its name, or leave it out")
        )


@dataclass(frozen=True)
class ModelRepo:
    """A model as its API describes it; ``id`` is the name it has now, whatever name it was asked for by.

    ``kind`` is the owner's: what a person's repo declares is on no leaderboard. ``parameters`` counts what its
    safetensors hold, None where there is no count. ``bases`` are the models that its card is built on, itself too where
    the card says so. ``eval_results`` are the raw items of ``evalResults``: of main and of what open pull requests add.
    ``result_files`` are the paths below ``.eval_results/`` on main.
    """

    id: str
    sha: str
    author: str
    kind: NamespaceKind
    private: bool = False
    gated: bool = False
    disabled: bool = False
    parameters: int | None = None
    bases: tuple[str, ...] = ()
    eval_results: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    result_files: tuple[str, ...] = ()
    last_modified: str | None = None

    def metadata_problems(self) -> tuple[Problem, ...]:
        """What keeps the model out of views, or puts it into wrong ones, for its owners to know."""
        problems = []
        if self.parameters is None:
            found = "no count of parameters in its safetensors: it is in no view of a size"
            fix = "tell its owners: safetensors with their index have a count"
            problems.append(Problem("no-parameter-count", self.id, found, "", fix))
        elif (named := _size_in(self.id)) and not named / 2 <= self.parameters <= named * 2:
            found = f"{self.parameters:,} parameters counted, {named:,} by its name: views of sizes misplace it"
            fix = "tell its owners: the count is that of their safetensors index"
            problems.append(Problem("odd-parameter-count", self.id, found, "", fix))
        if self.id in self.bases:
            found = "its card names the model itself as its base: the default view hides it"
            fix = "tell its owners: base_model of the card names another model, or none"
            problems.append(Problem("own-base", self.id, found, "", fix))
        return tuple(problems)


def model_repo(hub: Hub, repo: str, *, cached: bool = True) -> ModelRepo:
    """A model by its id or one that it had: one request, and one or two for its owner, once a run.

    ``cached`` False asks for it again, not for its owner.

    Raises:
        RepoMissing: it is not there for who asks.
        Disabled: the Hub has disabled it.
        Failure: it is not told (exit 4 or 3).
    """
    try:
        told = hub.json(api_path("model", repo), cached=cached, expand=_EXPAND)
    except NotFound as missing:
        if missing.kind == "repo":
            raise RepoMissing(repo, missing.problems[0].found) from None
        raise
    if not isinstance(told, dict) or not isinstance(told.get("id"), str) or not isinstance(told.get("sha"), str):
        raise unavailable(repo, "an answer that describes no model")
    author = told.get("author") or told["id"].partition("/")[0]
    kind = namespace_kind(hub, author)
    if kind is None:
        raise unavailable(repo, f"its owner {author} is neither an organisation nor a person")
    files = [one.get("rfilename", "") for one in told.get("siblings") or ()]
    return ModelRepo(
        id=told["id"],
        sha=told["sha"],
        author=author,
        kind=kind,
        private=bool(told.get("private")),
        gated=bool(told.get("gated")),
        disabled=bool(told.get("disabled")),
        parameters=_parameters(told.get("safetensors")),
        bases=_bases(told),
        eval_results=tuple(one for one in told.get("evalResults") or () if isinstance(one, dict)),
        result_files=tuple(sorted(one for one in files if one.startswith(f"{RESULTS_FOLDER}/"))),
        last_modified=told.get("lastModified"),
    )


def namespace_kind(hub: Hub, namespace: str) -> NamespaceKind | None:
    """Whose a namespace is, an organisation's or a person's; None: nobody has it, or it is no name of one.

    Raises:
        Failure: that is not told (exit 4 or 3).
    """
    if not _PART.fullmatch(namespace):
        return None
    kinds: tuple[tuple[str, NamespaceKind], ...] = (("organizations", "org"), ("users", "user"))
    for plural, kind in kinds:
        try:
            hub.json(f"/api/{plural}/{namespace}/overview")
        except NotFound:
            continue
        return kind
    return None


def card_of(hub: Hub, repo: ModelRepo) -> str | None:
    """The text of a model's card at the commit that was looked at; None where there is none.

    Raises:
        Gated: its files are kept from this token.
        Failure: it is not told.
    """
    try:
        return hub.text(repo.id, "README.md", repo.sha)
    except NotFound as missing:
        if missing.kind == "file":
            return None
        raise


def discussions_open(hub: Hub, repo: str) -> bool:
    """Whether a model takes discussions and pull requests at all.

    Raises:
        Failure: that is not told.
    """
    try:
        hub.json(api_path("model", repo, "discussions"), p=0, type="pull_request", status="all")
    except Forbidden as refused:
        if refused.no_discussions or hub.json(api_path("model", repo)).get("discussionsDisabled") is True:
            return False
        raise
    return True


def normalise_url(url: str) -> str | None:
    """The id of the model that an address is about, or an id itself; None for whatever is not a model's."""
    text = url.strip()
    place = urlsplit(text if "//" in text else f"//{text}")
    path = unquote(place.path)
    if place.scheme not in ("", "http", "https") or (place.hostname or "") not in _HOSTS:
        if "//" in text or text.count("/") != 1:
            return None
        path = text
    parts = path.strip("/").split("/")
    if len(parts) < 2 or parts[0].lower() in _NO_NAMESPACES or not all(_PART.fullmatch(one) for one in parts[:2]):
        return None
    return "/".join(parts[:2])


def is_id(text: str) -> bool:
    """Whether a text is of the form ``owner/name``."""
    parts = text.split("/")
    return len(parts) == 2 and all(_PART.fullmatch(one) for one in parts)


def _parameters(safetensors: Any) -> int | None:
    if not isinstance(safetensors, dict):
        return None
    total = safetensors.get("total")
    if not isinstance(total, int):
        counts = safetensors.get("parameters")
        total = sum(one for one in counts.values() if isinstance(one, int)) if isinstance(counts, dict) else 0
    return total or None


def _bases(told: Mapping[str, Any]) -> tuple[str, ...]:
    models = (told.get("baseModels") or {}).get("models") or ()
    in_card = (told.get("cardData") or {}).get("base_model") or ()
    in_card = [in_card] if isinstance(in_card, str) else in_card
    return tuple(dict.fromkeys([*(str(one["id"]) for one in models if "id" in one), *map(str, in_card)]))


def _size_in(repo: str) -> int | None:
    """The largest number of parameters that a model's name tells: 30 thousand millions of ``nova-30B-A3B``."""
    found = _SIZE_IN_NAME.findall(repo.partition("/")[2])
    return max((round(float(number) * (1e9 if unit in "bB" else 1e6)) for number, unit in found), default=None)
