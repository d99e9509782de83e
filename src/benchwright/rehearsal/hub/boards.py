"""Leaderboards of benchmarks: the rows of a view, by value, computed from what models declare."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import yaml

from benchwright.rehearsal.hub import identity
from benchwright.rehearsal.hub.cards import base_models
from benchwright.rehearsal.hub.contents import require_entry
from benchwright.rehearsal.hub.records import Repo
from benchwright.rehearsal.hub.results import Result, results_of
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, refused, said

SIZES = {"1B": 1, "3B": 3, "6B": 6, "12B": 12, "32B": 32, "128B": 128, "500B": 500}
"""Tiers of size, in thousand millions of parameters."""
EVAL_FILE = "eval.yaml"


@dataclass(frozen=True)
class View:
    """A selection of models: those of a size, and those that declare no model as their base."""

    most_parameters: int | None
    base_only: bool

    def shows(self, repo: Repo) -> bool:
        """Whether a model is in the view. One whose parameters nobody counted is in no view of a size."""
        if self.base_only and base_models(repo):
            return False
        if self.most_parameters is None:
            return True
        return repo.parameters is not None and sum(repo.parameters.values()) <= self.most_parameters


def leaderboard(state: HubState, request: Request, *, repo_id: str) -> Answer:
    """Answer with the rows of a benchmark's task in a view; a task that there is not has none."""
    repo = state.seen_by(request, "dataset", repo_id)
    require_entry(state, request, repo)
    tasks = task_ids(repo)
    if not repo.official or not tasks:
        raise Refusal(refused(404, "This dataset is not a benchmark"))
    task = request.one("task_id") or tasks[0]
    size = request.one("max_params")
    if size is not None and size not in SIZES:
        raise Refusal(refused(400, f"✖ Invalid option: expected one of {'|'.join(SIZES)} → at max_params"))
    view = View(None if size is None else SIZES[size] * 10**9, request.truth("base_model", default=True))
    return said(rows(state, repo, task, view) if task in tasks else [])


def rows(state: HubState, benchmark: Repo, task: str, view: View) -> list[dict[str, Any]]:
    """The rows of a view, best first.

    A model has one row, with its best value. Of equal values that on main comes before one of a pull request, and the
    older before the newer, so that a newcomer stands behind all its equals.
    """
    lower = task in benchmark.lower
    found = []
    for repo in state.repos("model"):
        if not _may_be_listed(state, repo) or not view.shows(repo):
            continue
        own = [one for one in results_of(state, repo) if _is_of(one, benchmark, task) and _has_come(state, one)]
        if own:
            found.append((repo, min(own, key=lambda one: _order(one, lower=lower))))
    found.sort(key=lambda one: (_order(one[1], lower=lower), one[0].id))
    return [_row(state, number, repo, result, lower=lower) for number, (repo, result) in enumerate(found, start=1)]


def task_ids(repo: Repo) -> list[str]:
    """The ids of the tasks in a dataset's ``eval.yaml``, the default one first; none: it is no benchmark."""
    entry = repo.main.files.get(EVAL_FILE)
    if entry is None:
        return []
    try:
        told = yaml.safe_load(repo.blobs[entry.oid].decode())
        return [str(task["id"]) for task in told["tasks"]]
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError):
        return []


def _may_be_listed(state: HubState, repo: Repo) -> bool:
    owner = state.accounts.people[repo.namespace]
    return owner.type == "org" and not repo.private and not repo.disabled


def _is_of(result: Result, benchmark: Repo, task: str) -> bool:
    dataset = result.data["dataset"] if result.data else {}
    return dataset.get("task_id") == task and dataset.get("id") in {benchmark.id, *benchmark.former}


def _has_come(state: HubState, result: Result) -> bool:
    age = state.clock() - datetime.fromisoformat(result.date)
    return age.total_seconds() >= state.settings.board_lag


def _order(result: Result, *, lower: bool) -> tuple[float, int, str]:
    assert result.data is not None
    value = result.data["value"]
    return (value if lower else -value, result.pull_request or 0, result.date)


def _row(state: HubState, rank: int, repo: Repo, result: Result, *, lower: bool) -> dict[str, Any]:
    assert result.data is not None
    told: dict[str, Any] = {
        "rank": rank,
        "modelId": repo.id,
        "author": identity.author(state, repo.namespace),
        "value": result.data["value"],
        "filename": result.filename,
    }
    if result.verified or state.settings.verified_key:
        told["verified"] = result.verified
    if "source" in result.data:
        told["source"] = _source(state, result.data["source"])
    if result.pull_request is not None:
        told["pullRequest"] = result.pull_request
    if "notes" in result.data:
        told["notes"] = result.data["notes"]
    if lower:
        told["lower_is_better"] = True
    if repo.parameters is not None:
        told["num_parameters"] = sum(repo.parameters.values())
    return told


def _source(state: HubState, source: dict[str, str]) -> dict[str, Any]:
    host = urlsplit(source["url"]).netloc
    told: dict[str, Any] = {"url": source["url"]}
    told["isExternal"] = host not in {"huggingface.co", "hf.co", urlsplit(state.base).netloc}
    if "name" in source:
        told["name"] = source["name"]
    who = source.get("user") or source.get("org")
    if who in state.accounts.people:
        told["author"] = identity.author(state, who)
    return told


ROUTES = [route("GET", "/api/datasets/{repo_id}/leaderboard", leaderboard, "task_id max_params base_model")]
