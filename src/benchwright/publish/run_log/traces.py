"""What a run left on disk: when it was at work, how many results there are, and what its event logs say of failures."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.contract import Failure
from benchwright.files import RunPaths, read_json
from benchwright.files.run_paths import RESULT_NAME

LAUNCH_NAME = "launch.json"
_TASK_LOG = re.compile(r"slurm-(\d+)_\d+\.out")
_LARGEST_LAUNCH = 2**20
_LATEST = 2**33
"""Seconds since the epoch: no run is of the 23rd century."""
_DONE = ("item-done", "item-skipped")
"""The events after which an item has its result."""


@dataclass(frozen=True, slots=True)
class FailedItem:
    """An item that failed: its coordinates, why, and whether it has a result since."""

    label: str
    reason: str
    mended: bool


@dataclass(frozen=True, slots=True)
class Traces:
    """What is there of a run. Moments are seconds since the epoch, None where nothing is there to tell.

    ``job_file``, ``log`` and ``result`` are the earliest modifications of such files, ``begun`` and ``ended`` the
    first and the last that is known of the run: an event or a result. ``failures`` is None without event logs.
    ``parallel`` holds how many items the runs on this machine had side by side, ``arrays`` the ids of a cluster's that
    left logs. ``unfinished`` items were begun and neither failed nor have a result: they were stopped, lost with their
    task, or are at work.
    """

    job_file: float | None
    log: float | None
    result: float | None
    begun: float | None
    ended: float | None
    results: int
    failures: tuple[FailedItem, ...] | None
    unfinished: int
    parallel: tuple[int, ...]
    arrays: tuple[int, ...]
    launches: tuple[Mapping[str, Any], ...]

    @property
    def first(self) -> tuple[float, str] | None:
        """The earliest moment of the run itself, set-up left out, and what was written then."""
        found = [(self.log, "the first log"), (self.result, "the first result")]
        return min(((at, what) for at, what in found if at is not None), default=None)


@dataclass
class _Moments:
    """The first and the last of what was seen."""

    first: float | None = None
    last: float | None = None
    count: int = 0

    def see(self, at: float) -> None:
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        self.count += 1


@dataclass
class _Events:
    """What event logs say, of each item no more than how it ended last."""

    times: _Moments = field(default_factory=_Moments)
    logs: int = 0
    parallel: set[int] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    done: dict[str, float] = field(default_factory=dict)
    failed: dict[str, tuple[float, str]] = field(default_factory=dict)

    def read(self, path: Path, *, local: bool) -> None:
        """Take in a log; lines that are no events, such as one that is being written, are left out.

        A bundle of a ``local`` run is one of several at work; elsewhere it has its task or machine to itself.
        """
        self.logs += 1
        with path.open("rb") as file:
            for line in file:
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    event = json.loads(line)
                    self._take(float(event["time"]), event["event"], event, local)

    def _take(self, at: float, kind: str, event: Mapping[str, Any], local: bool) -> None:
        if not 0 <= at < _LATEST:
            return
        self.times.see(at)
        if local and kind == "run-started" and isinstance(event.get("parallel"), int):
            self.parallel.add(event["parallel"])
        elif kind == "item-failed":
            reason = str(event.get("reason") or f"exit {event.get('exit')}")
            label = _label(event)
            self.failed[label] = max(self.failed.get(label, (at, reason)), (at, reason))
        elif kind == "item-started":
            self.begun.add(_label(event))
        elif kind in _DONE:
            label = _label(event)
            self.done[label] = max(self.done.get(label, at), at)

    def failures(self) -> tuple[FailedItem, ...]:
        """Every item that failed, by its latest failure."""
        return tuple(
            FailedItem(label, reason, self.done.get(label, at) > at)
            for label, (at, reason) in sorted(self.failed.items())
        )


def read_traces(paths: RunPaths) -> Traces:
    """Look through a benchmark's results, logs and set-up files, once each. Links are not followed.

    Raises:
        OSError: a folder or an event log cannot be read.
    """
    results, logs, job_files, run = _Moments(), _Moments(), _Moments(), _Moments()
    events = _Events()
    launches = []
    arrays = set()
    for path, at in _files(paths.data):
        if path.name == RESULT_NAME:
            results.see(at)
            run.see(at)
    for path, at in _files(paths.logs):
        logs.see(at)
        if path.name.startswith("events") and path.suffix == ".jsonl":
            events.read(path, local=path.parent.name.startswith(paths.local_logs("").name))
        elif match := _TASK_LOG.fullmatch(path.name):
            arrays.add(int(match[1]))
        elif path.name == LAUNCH_NAME:
            launches.append(path)
    for path, at in _files(paths.setup):
        if path.name.startswith(f"slurm_run_data_{paths.benchmark}_") and path.suffix == ".json":
            job_files.see(at)
        elif path.name == LAUNCH_NAME:
            launches.append(path)
    for moment in (events.times.first, events.times.last):
        if moment is not None:
            run.see(moment)
            logs.see(moment)
    return Traces(
        job_file=job_files.first,
        log=logs.first,
        result=results.first,
        begun=run.first,
        ended=run.last,
        results=results.count,
        failures=events.failures() if events.logs else None,
        unfinished=len(events.begun - events.done.keys() - events.failed.keys()),
        parallel=tuple(sorted(events.parallel)),
        arrays=tuple(sorted(arrays)),
        launches=tuple(_launches(sorted(launches))),
    )


def _files(folder: Path) -> Iterator[tuple[Path, float]]:
    """The regular files below a folder with their times of modification; none where there is no folder."""
    if not folder.is_dir():
        return
    for place, folders, names in os.walk(folder, onerror=_fail):
        folders.sort()
        for name in sorted(names):
            with contextlib.suppress(FileNotFoundError):  # what is at work there may just have renamed it
                path = Path(place, name)
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield path, status.st_mtime


def _fail(error: OSError) -> None:
    raise error


def _launches(paths: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    """What the readable launch files hold."""
    for path in paths:
        with contextlib.suppress(Failure, OSError):
            content = read_json(path, limit=_LARGEST_LAUNCH)
            if isinstance(content, dict):
                yield content


def _label(event: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={event.get(name)}" for name in ("experiment", "dataset", "repeat", "fold"))
