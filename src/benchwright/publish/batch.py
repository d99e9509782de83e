"""A batch: several methods processed, checked and uploaded, each as soon as it can be, whatever becomes of others."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.arena import default_cache_root
from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.files import FileLock, inside
from benchwright.node.stopping import StopRequest, stop_signals
from benchwright.objects import missing_credentials, settings_from_environment
from benchwright.publish.batch_manifest import BatchMethod
from benchwright.publish.batch_record import inputs_of, recall, remember
from benchwright.publish.batch_report import DRY, BatchReport, MethodReport, labels
from benchwright.publish.batch_steps import Answer, RunningStep, StepName, end_steps, step_command

_UPLOADS = 4
"""Methods that are uploaded side by side; each of them sends several parts at once already."""
_TICK = 0.1
_CHANGED = ("artifact-changed", "odd-file")
"""What the dry run says of an artifact that is no longer as processing left it."""
Tell = Callable[[str, Mapping[str, Any]], None]
"""Says one thing, as a line for people and as an event for programs."""


@dataclass(frozen=True)
class BatchOptions:
    """How a batch runs. ``scripts`` is the folder of the steps' scripts, ``logs`` where their talk and answers go.

    ``jobs`` methods are processed side by side, each with its share of the processors. A step that writes nothing for
    ``stall`` seconds is told of; one that writes nothing for ``timeout`` seconds is ended, where that is not None.
    """

    scripts: Path
    logs: Path
    apply: bool = False
    jobs: int = 1
    stall: float = 900.0
    timeout: float | None = None
    cache_root: Path | None = None

    @property
    def processes(self) -> int | None:
        """How many processes a method is processed with; None: as many as processing takes by itself."""
        return max(1, len(os.sched_getaffinity(0)) // self.jobs) if self.jobs > 1 else None


def run_batch(methods: Sequence[BatchMethod], options: BatchOptions, tell: Tell) -> BatchReport:
    """Process every method, check its upload, and with ``options.apply`` upload it; ``tell`` hears of each end.

    A method whose step fails goes no further; the others do. SIGINT and SIGTERM end the steps at work, and the report
    of what was finished is returned.

    Raises:
        Failure: credentials for the upload are missing (exit 3); another batch is at work in ``options.logs`` (exit 5).
    """
    if options.apply:
        _require_credentials(methods)
    with FileLock(options.logs / "batch.lock", f"batch of {counted(len(methods), 'method')}"), stop_signals() as stop:
        tell(*_opening(methods, options))
        batch = _Batch(methods, options, tell)
        batch.run(stop)
    return BatchReport(tuple(track.report() for track in batch.tracks), options.apply, stop.number)


def _opening(methods: Sequence[BatchMethod], options: BatchOptions) -> tuple[str, dict[str, Any]]:
    """What is told first: what is written where."""
    root = default_cache_root() if options.cache_root is None else options.cache_root
    line = f"{counted(len(methods), 'method')}; processing fills the cache {root}; logs in {options.logs}"
    line = line if options.apply else f"{DRY}; {line}"
    return line, {"event": "started", "applied": options.apply, "methods": len(methods), "line": line}


def _require_credentials(methods: Sequence[BatchMethod]) -> None:
    """Raise at once for what hours of processing would end at."""
    settings = settings_from_environment()
    kinds = sorted({method.store.kind for method in methods})
    problems = [problem for kind in kinds for problem in missing_credentials(kind, settings)]
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)


@dataclass
class _Track:
    """A method on its way: the steps ahead of it, the one at work, and what those behind it answered."""

    method: BatchMethod
    label: str
    folder: Path
    artifact: Path
    ahead: list[StepName]
    answers: dict[StepName, Answer] = field(default_factory=dict)
    running: RunningStep | None = None
    inputs: str = ""
    anew: bool = False
    """Whether what an earlier batch processed is not to be adopted."""

    def take(self, step: StepName, answer: Answer) -> None:
        """Note the answer of a step; nothing is ahead of a failed one."""
        self.answers[step] = answer
        self.ahead = self.ahead[1:] if answer.ok else []
        self.running = None

    def begin_anew(self) -> None:
        """Go back to processing, whose finished work was adopted and turned out to be damaged since."""
        self.answers.clear()
        self.ahead = ["process", *self.ahead]
        self.running, self.anew = None, True

    def report(self) -> MethodReport:
        return MethodReport(self.method, self.label, self.answers, tuple(self.ahead), self.folder)


class _Batch:
    def __init__(self, methods: Sequence[BatchMethod], options: BatchOptions, tell: Tell) -> None:
        self.tracks = [_track(method, label, options) for method, label in zip(methods, labels(methods), strict=True)]
        self._options = options
        self._tell = tell

    def run(self, stop: StopRequest) -> None:
        """Go on until every method has ended, or a signal came."""
        try:
            while stop.number is None and self._advance():
                select.select([stop.handle], [], [], _TICK)
        finally:
            end_steps([track.running for track in self.tracks if track.running])
            for track in self.tracks:
                if track.running and (answer := track.running.answer()).ok:
                    self._take(track, track.running.step, answer)

    def _advance(self) -> bool:
        """Follow the steps at work and start what can be; whether there is anything to wait for."""
        for track in self.tracks:
            if track.running:
                self._follow(track, track.running)
        for track in self.tracks:
            if track.ahead and track.running is None and self._has_room(track.ahead[0]):
                self._start(track, track.ahead[0])
        return any(track.ahead for track in self.tracks)

    def _has_room(self, step: StepName) -> bool:
        processing = [track.running.step == "process" for track in self.tracks if track.running]
        if step == "process":
            return sum(processing) < self._options.jobs
        return len(processing) - sum(processing) < _UPLOADS

    def _start(self, track: _Track, step: StepName) -> None:
        if step == "process":
            track.inputs = inputs_of(track.method)
            answer = None if track.anew else recall(track.folder, track.inputs, track.artifact)
            if answer:
                self._take(track, step, answer)
                return
        options = self._options
        command = step_command(step, track.method, options.scripts, options.cache_root, options.processes)
        track.running = RunningStep(step, command, track.folder)

    def _follow(self, track: _Track, running: RunningStep) -> None:
        step, timeout = running.step, self._options.timeout
        if running.ended:
            self._take(track, step, running.answer())
        elif timeout is not None and running.silence() >= timeout:
            end_steps([running])
            found = f"ended after {_length(timeout)} in which it wrote nothing"
            fix = "read the log; if it only needs longer, run the batch again with a longer --timeout"
            problem = Problem("step-silent", str(running.log), found, "", fix)
            self._take(track, step, Answer(Exit.REMOTE, found, {}, (problem,)))
        elif running.is_newly_silent(self._options.stall):
            name, log = track.label, str(running.log)
            line = f"STALLED {name} at {step}: nothing written for {_length(running.silence())}; look at {log}"
            self._tell(
                line,
                {"event": "stalled", "method": track.method.metadata.method, "step": step, "log": log, "line": line},
            )

    def _take(self, track: _Track, step: StepName, answer: Answer) -> None:
        """Note a step's answer; a method without a step ahead is told of."""
        if step == "dry-run" and track.answers["process"].adopted and (changed := _changed(answer)) is not None:
            name = track.label
            line = f"AGAIN {name} from process: {changed.where}: {changed.found} (since it was processed)"
            self._tell(line, {"event": "again", "method": track.method.metadata.method, "line": line})
            track.begin_anew()
            return
        if step == "process" and answer.ok and not answer.adopted:
            remember(track.folder, track.inputs, track.artifact, answer)
        track.take(step, answer)
        if not track.ahead:
            report = track.report()
            self._tell(report.line(), {"event": report.state, **report.to_dict()})


def _track(method: BatchMethod, label: str, options: BatchOptions) -> _Track:
    folder = inside(inside(options.logs, method.metadata.suite), method.metadata.method)
    artifact = replace(method.metadata, artifact_dir=None, cache_root=options.cache_root).path
    steps: list[StepName] = ["process", "dry-run", "upload"] if options.apply else ["process", "dry-run"]
    return _Track(method, label, folder, artifact, steps)


def _changed(answer: Answer) -> Problem | None:
    """What a dry run says of files that are no longer those that processing recorded."""
    return next((problem for problem in answer.problems if problem.code in _CHANGED), None)


def _length(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
