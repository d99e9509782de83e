"""Job files: the bundles of work items that a set-up wrote for the runner.

The public launcher's format, ``{"defaults": {...}, "jobs": [{"items": [...]}]}``, with two more defaults, ``entry``
and ``preload`` (``module:function``), and a ``task_key`` in each item whose task has another name in the results tree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NEEDED_DEFAULTS = ("python", "output_dir", "entry")
RESULT_NAME = "results.pkl"


class JobFileError(Exception):
    """A job file that cannot be used; the message says what was found and expected."""


@dataclass(frozen=True)
class Item:
    """One fit: an experiment (config) on one split of a task."""

    experiment: str
    dataset: str
    repeat: int
    fold: int
    task_key: str

    def label(self) -> str:
        """The item's coordinates as log lines state them."""
        return f"experiment={self.experiment} dataset={self.dataset} repeat={self.repeat} fold={self.fold}"

    def coordinates(self) -> dict[str, Any]:
        """The item's coordinates as events state them."""
        return {"experiment": self.experiment, "dataset": self.dataset, "repeat": self.repeat, "fold": self.fold}

    def result(self, output_dir: Path | str) -> Path:
        """Where the item's result goes below a run's output folder."""
        return Path(output_dir, "data", self.experiment, self.task_key, f"{self.repeat}_{self.fold}", RESULT_NAME)


@dataclass(frozen=True)
class JobFile:
    """A job file's content: the defaults all items share, and the bundles, one an array task."""

    path: Path
    defaults: Mapping[str, Any]
    bundles: tuple[tuple[Item, ...], ...]


def read_job_file(path: Path | str, only: int | None = None) -> JobFile:
    """Read and check a job file. With ``only``, all bundles but that one are left empty, unchecked: they are many.

    Raises:
        JobFileError: it cannot be read, is not a job file, or names a path outside its output folder.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise JobFileError(f"{path}: cannot be read ({error.strerror}), expected a set-up's job file") from None
    except ValueError as error:
        raise JobFileError(f"{path}: not JSON ({error}), expected a set-up's job file") from None
    try:
        defaults, jobs = content["defaults"], content["jobs"]
        missing = [name for name in _NEEDED_DEFAULTS if not isinstance(defaults.get(name), str)]
        if missing:
            raise JobFileError(f"{path}: defaults without {', '.join(missing)}, expected a job file of this launcher")
        bundles = tuple(
            tuple(_item(record) for record in job["items"]) if only in (None, number) else ()
            for number, job in enumerate(jobs)
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JobFileError(f"{path}: not a job file ({type(error).__name__}: {error})") from None
    return JobFile(path.absolute(), defaults, bundles)


def _item(record: Mapping[str, Any]) -> Item:
    experiment, dataset = record["experiment"], record["dataset"]
    task_key = record.get("task_key", dataset)
    for name in (experiment, task_key):
        if not isinstance(name, str) or not name or name in {".", ".."} or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is no folder name")
    return Item(experiment, str(dataset), _count(record["repeat"]), _count(record["fold"]), task_key)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no repeat or fold")
    return value
