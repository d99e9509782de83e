"""The items of an array's tasks: its job file, found from the job's own command or by its length."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.node.job_file import Item, JobFile, JobFileError, read_job_file
from benchwright.slurm import parse_time

_SECONDS_OF_DOUBT = 60.0
"""A job file that is younger than its array by more than this is a later set-up's."""


@dataclass(frozen=True)
class ArrayItems:
    """What each task of an array is to fit; ``places`` are where the results go, below the results tree."""

    job_file: Path
    places: Mapping[int, tuple[str, ...]]
    items: Mapping[str, Item]


def setup_folder(results_dir: Path | None, log_dir: Path | None) -> Path | None:
    """Where the set-up of a run wrote its job files, by the workspace's layout.

    ``<workspace>/output/<benchmark>/data`` and ``<workspace>/slurm_out/<benchmark>/<job>`` lie beside
    ``<workspace>/setup_out/<benchmark>``.
    """
    for folder, kind in ((results_dir, "output"), (log_dir, "slurm_out")):
        if folder is not None:
            benchmark = folder.absolute().parent
            if benchmark.parent.name == kind:
                return benchmark.parent.parent / "setup_out" / benchmark.name
    return None


def find_items(
    folder: Path | None, *, given: Path | None, command: str, tasks: int, submitted: str, or_more: bool = False
) -> ArrayItems | str:
    """The items of an array of ``tasks`` tasks, ``or_more``; a clause that says why they are not known.

    ``given`` is the job file if someone named it. Otherwise it is the one of ``folder`` that the job's ``command``
    names, else the only one with as many bundles. One that was written after the array was ``submitted`` (ISO) belongs
    to a later set-up.
    """
    most = math.inf if or_more else tasks
    try:
        if given is not None:
            return _of_length(read_job_file(given), tasks, most)
        candidates = [] if folder is None else sorted(folder.glob("slurm_run_data_*.json"))
        if not candidates:
            return "no job file is known"
        named = [path for path in candidates if _names(command, path)]
        if named:
            return _of_length(read_job_file(_of_that_time(named[0], submitted)), tasks, most)
        fitting = [file for file in _readable(candidates) if tasks <= len(file.bundles) <= most]
        if len(fitting) != 1:
            found = "no job file has" if not fitting else f"{len(fitting)} job files have"
            return f"{found} {tasks} bundles{' or more' if or_more else ': name it with --job-file'}"
        _of_that_time(fitting[0].path, submitted)
        return _items(fitting[0])
    except JobFileError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"


def _names(command: str, path: Path) -> bool:
    """Whether a command holds the file, by whatever name its folder goes on the machine that submitted it."""
    return f"/{path.name} " in f"{command} "


def _readable(paths: Iterable[Path]) -> Iterable[JobFile]:
    for path in paths:
        with contextlib.suppress(JobFileError):
            yield read_job_file(path)


def _of_that_time(path: Path, submitted: str) -> Path:
    time = parse_time(submitted)
    if time is not None and path.stat().st_mtime > time + _SECONDS_OF_DOUBT:
        raise JobFileError(f"{path} was written after the array was submitted")
    return path


def _of_length(file: JobFile, tasks: int, most: float) -> ArrayItems:
    if not tasks <= len(file.bundles) <= most:
        raise JobFileError(f"{file.path} has {len(file.bundles)} bundles, and {tasks} tasks are watched")
    return _items(file)


def _items(file: JobFile) -> ArrayItems:
    items: dict[str, Item] = {}
    places: dict[int, tuple[str, ...]] = {}
    for index, bundle in enumerate(file.bundles):
        own = {f"{item.experiment}/{item.task_key}/{item.repeat}_{item.fold}": item for item in bundle}
        items.update(own)
        places[index] = tuple(own)
    return ArrayItems(file.path, places, items)
