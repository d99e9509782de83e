"""Benchmarks: datasets whose ``eval.yaml`` makes leaderboards, one a task."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem, some, usage_error
from benchwright.hub.client import Hub, api_path
from benchwright.hub.model_repo import is_id
from benchwright.hub.refusals import NotFound

OFFICIAL = "benchmark:official"
_EVAL_FILE = "eval.yaml"
_NAMES = Path(__file__).with_name("names.yaml")


@dataclass(frozen=True)
class Benchmark:
    """A dataset, by its canonical id, that says which ``tasks`` it has, the default one first.

    ``name`` is as its authors write it: from ``names.yaml``, else from its ``eval.yaml``, else the dataset's own.
    ``official`` datasets alone have leaderboards. ``revision`` is the commit of main.
    """

    dataset: str
    name: str
    tasks: tuple[str, ...]
    official: bool
    revision: str

    def check_task(self, task: str) -> None:
        """Refuse a task that the benchmark does not have: its board would be empty, and look like rank 1.

        Raises:
            Failure: that is so (code ``unknown-task``, exit 2), with the ids that there are.
        """
        if task not in self.tasks:
            fix = "correct the task; the name of a split is none"
            raise usage_error(
                self.dataset, f"no task {task!r}", f"one of {', '.join(self.tasks)}", fix, code="unknown-task"
            )

    def check_official(self) -> None:
        """Refuse a dataset without leaderboards.

        Raises:
            Failure: that is so (code ``not-official``, exit 1).
        """
        if not self.official:
            fix = "leave its results out: the dataset has no leaderboard"
            raise Failure(
                Problem("not-official", self.dataset, f"without the tag {OFFICIAL}", "an official benchmark", fix)
            )


def benchmark(hub: Hub, dataset: str) -> Benchmark:
    """A benchmark by its dataset's id, or by one that it had: two requests, once a run.

    Raises:
        NotFound: there is no such dataset, or it has no ``eval.yaml`` (``kind`` "repo", "file").
        Gated: its files are kept from this token.
        Failure: its ``eval.yaml`` does not list tasks (code ``benchmark-unreadable``, exit 1), or it is not told.
    """
    if not is_id(dataset):
        raise NotFound(repr(dataset)[:200], "repo", "no dataset's id, org/name")
    told = hub.json(api_path("dataset", dataset))
    canonical, tags = str(told["id"]), told.get("tags") or []
    text = hub.text(canonical, _EVAL_FILE, kind="dataset")
    content = _loaded(text, canonical)
    name = names().get(canonical.lower()) or _plain(content.get("name")) or canonical.partition("/")[2]
    return Benchmark(canonical, name, _tasks(content, canonical), OFFICIAL in tags, str(told.get("sha") or ""))


def official_benchmarks(hub: Hub) -> tuple[str, ...]:
    """The ids of all official benchmarks, in the order of the alphabet."""
    return tuple(sorted(str(one["id"]) for one in hub.pages("/api/datasets", filter=OFFICIAL, limit=200)))


@functools.cache
def names() -> Mapping[str, str]:
    """Names of benchmarks as their authors write them, by the dataset's id in lower case: ``names.yaml``."""
    import yaml

    return {dataset.lower(): name for dataset, name in yaml.safe_load(_NAMES.read_text("utf-8")).items()}


def _loaded(text: str, dataset: str) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _unreadable(dataset, " ".join(str(error).split())[:200]) from None
    if not isinstance(content, dict):
        raise _unreadable(dataset, "no mapping")
    return content


def _tasks(content: Mapping[str, Any], dataset: str) -> tuple[str, ...]:
    tasks = content.get("tasks")
    told = [one.get("id") if isinstance(one, dict) else None for one in tasks] if isinstance(tasks, list) else []
    ids = [one for one in told if isinstance(one, str) and one]
    if not ids or len(ids) < len(told):
        raise _unreadable(dataset, "not a list of tasks with an id each")
    if len(set(ids)) != len(ids):
        raise _unreadable(dataset, f"ids of tasks that are there twice: {some(sorted(ids))}")
    return tuple(ids)


def _plain(name: Any) -> str:
    return " ".join(name.split()) if isinstance(name, str) else ""


def _unreadable(dataset: str, found: str) -> Failure:
    fix = "leave its results out, and tell the owners of the dataset"
    return Failure(
        Problem("benchmark-unreadable", f"datasets/{dataset}: {_EVAL_FILE}", found, "tasks with their ids", fix)
    )
