"""Run a plan's job files on this machine, under one fork server."""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Outcome, Problem, Progress, usage_error
from benchwright.files import FileLock, RunPaths
from benchwright.forks import processors
from benchwright.launch.checks import require_folders
from benchwright.launch.groups import group_jobs, identity_of
from benchwright.launch.plan import BenchmarkPlan, LocalSetup
from benchwright.launch.record import PlanRecord, read_records
from benchwright.node import (
    Bundle,
    Event,
    EventLog,
    JobFileError,
    RunTotals,
    ServerUnusable,
    read_job_file,
    run_bundles,
)

_MOST_ITEMS_A_PROCESSOR = 4
EVENTS_NAME = "events.jsonl"


@dataclass(frozen=True)
class ItemFailure:
    """A failed item: its coordinates, how it ended, the last line of its traceback, and the log that has the rest."""

    experiment: str
    dataset: str
    repeat: int
    fold: int
    exit: int
    reason: str
    log: str

    def line(self) -> str:
        """The failure for people."""
        where = f"experiment={self.experiment} dataset={self.dataset} repeat={self.repeat} fold={self.fold}"
        return f"FAILED (exit {self.exit}) {where}: {self.reason}"


@dataclass(frozen=True)
class RunReport:
    """What became of a run's items; ``skipped`` ones had their result already, ``left`` ones were not run.

    ``signal`` is the one that stopped the run, None for a run that went to its end.
    """

    benchmark: str
    ok: int
    failed: int
    skipped: int
    left: int
    signal: int | None
    failures: tuple[ItemFailure, ...]
    logs: Path | None

    def outcome(self, next_command: str = "") -> Outcome:
        """The report in a script's form; ``next_command`` is the run script's own, without its step."""
        counts = {"ok": self.ok, "failed": self.failed, "skipped": self.skipped, "left": self.left}
        complete = not (self.failed or self.left)
        return Outcome(
            summary=self._summary(),
            data={
                "benchmark": self.benchmark,
                **counts,
                "signal": self.signal,
                "logs": str(self.logs) if self.logs else None,
                "failures": [vars(failure) for failure in self.failures],
            },
            details=[f"logs: {self.logs}"] if self.logs else [],
            problems=[_problem(failure) for failure in self.failures],
            next=[f"{next_command} {step}" for step in self._steps(complete)] if next_command else (),
            exit=Exit.DONE if complete else Exit.NO,
            signal=self.signal,
        )

    def _summary(self) -> str:
        if not self.ok + self.failed + self.skipped + self.left:
            return "Nothing is missing: there was nothing to run."
        text = f"{self.ok} done, {self.failed} failed, {self.left} left"
        if self.skipped:
            text += f", {self.skipped} were done before"
        if self.signal:
            text += f"; stopped by {signal.Signals(self.signal).name}, what is finished is kept"
        return text

    def _steps(self, complete: bool) -> Sequence[str]:
        if complete:
            return ("eval",)
        return ("run",) if self.signal else ("setup", "run")


def _problem(failure: ItemFailure) -> Problem:
    return Problem("item-failed", failure.log, failure.line(), "", "mend the cause, then run setup and run again")


def run_local(
    plan: BenchmarkPlan | RunPaths,
    parallel: int | None = None,
    progress: Progress | None = None,
    *,
    identity: str | None = None,
) -> RunReport:
    """Run every bundle that the set-up of ``plan`` wrote, ``parallel`` items side by side (default: the plan's own).

    With the paths of a benchmark instead of a plan, the run is that of its only set-up, or of the one that ``identity``
    names. SIGINT and SIGTERM end the items at work, keep what is finished and return.

    Raises:
        Failure: no set-up for this machine is there, or several to choose from, or more than four items a CPU are asked
            for (exit 2); no item can run here (exit 3); a set-up or another run of this benchmark is at work (exit 5).
    """
    if isinstance(plan, BenchmarkPlan):
        paths, identity = plan.paths, identity_of(plan, group_jobs(plan))
        if parallel is None:
            parallel = plan.scheduler_setup.parallel if isinstance(plan.scheduler_setup, LocalSetup) else 1
    else:
        paths = plan
    parallel = 1 if parallel is None else parallel
    _refuse_too_many(parallel)
    require_folders(paths)
    with FileLock(paths.run_lock, f"run of {paths.benchmark}"):
        record = _record(paths, identity)
        _refuse_other_workspace(record, paths)
        _refuse_launched_elsewhere(record, paths)
        if not record.job_files:
            return RunReport(paths.benchmark, 0, 0, 0, 0, None, (), None)
        logs = _new_log_folder(paths)
        return _run(paths, logs, list(_bundles(record, logs)), parallel, progress)


def _refuse_too_many(parallel: int) -> None:
    most = _MOST_ITEMS_A_PROCESSOR * processors()
    if not 1 <= parallel <= most:
        expected = f"1 to {most}: this machine has {processors()} CPUs"
        raise usage_error("parallel", str(parallel), expected, f"--parallel {min(max(parallel, 1), most)}")


def _new_log_folder(paths: RunPaths) -> Path:
    """Make the log folder of a run that starts now, numbered when another started in the same second."""
    now = time.strftime("%Y%m%d-%H%M%S")
    for started in itertools.chain([now], (f"{now}-{number}" for number in itertools.count(2))):
        folder = paths.local_logs(started)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    return folder


def _record(paths: RunPaths, identity: str | None) -> PlanRecord:
    records, unreadable = read_records(paths)
    if identity is None and len(records) > 1:
        raise Failure(
            Problem(
                "several-plans",
                str(paths.plans),
                f"{len(records)} plans of {paths.benchmark!r}: {', '.join(records)}",
                "one to run",
                "name one of these identities",
            ),
            exit=Exit.USAGE,
        )
    record = records.get(identity) if identity else next(iter(records.values()), None)
    if record is None and unreadable:
        raise Failure(unreadable, exit=Exit.ENVIRONMENT)
    if record is None:
        raise Failure(
            Problem(
                "no-setup",
                str(paths.plans),
                f"no finished set-up of {'this plan' if identity else repr(paths.benchmark)}",
                "the job files that set-up writes",
                "run setup first",
            ),
            exit=Exit.USAGE,
        )
    return record


def _refuse_other_workspace(record: PlanRecord, paths: RunPaths) -> None:
    """A copied workspace still holds the job files of its original: running them would write there."""
    strange = [path for path in record.job_files if path.absolute().parent != paths.setup]
    if strange:
        raise Failure(
            Problem(
                "other-workspace",
                str(paths.setup),
                f"a set-up of another workspace, with job files in {strange[0].parent}",
                "job files of this one",
                "run setup again, it finds the results that are here",
            ),
            exit=Exit.REFUSED,
        )


def _refuse_launched_elsewhere(record: PlanRecord, paths: RunPaths) -> None:
    """Job files for a cluster may be at work there already; a set-up for this machine asks whether they are."""
    if record.commands or record.runs:
        raise Failure(
            Problem(
                "set-up-for-slurm" if record.commands else "set-up-for-skypilot",
                str(paths.setup),
                f"a set-up for {'SLURM' if record.commands else 'SkyPilot'}, which its own commands launch",
                "one for this machine",
                "setup --scheduler local, then run",
            ),
            exit=Exit.USAGE,
        )


def _bundles(record: PlanRecord, logs: Path) -> Iterable[Bundle]:
    """The bundles of all job files, numbered through."""
    number = 0
    for path in record.job_files:
        try:
            job_file = read_job_file(path)
        except JobFileError as error:
            raise Failure(
                Problem("bad-job-file", str(path), str(error), "", "run setup again"), exit=Exit.ENVIRONMENT
            ) from None
        for items in job_file.bundles:
            log = logs / f"bundle_{number}.log"
            yield Bundle(number, items, job_file.defaults, log, logs / "ray_logs" / f"task_{number}")
            number += 1


def _run(paths: RunPaths, logs: Path, bundles: Sequence[Bundle], parallel: int, progress: Progress | None) -> RunReport:
    watch = _Watch(EventLog(logs / EVENTS_NAME), progress)
    try:
        totals = run_bundles(bundles, watch, parallel=parallel, server_log=logs / "server.log")
    except (ServerUnusable, JobFileError) as error:
        raise Failure(
            Problem("cannot-fit", paths.benchmark, str(error), "a Python that fits", "mend that, then run again"),
            exit=Exit.ENVIRONMENT,
        ) from None
    return _report(paths, logs, totals, watch.failures)


def _report(paths: RunPaths, logs: Path, totals: RunTotals, failures: Iterable[ItemFailure]) -> RunReport:
    return RunReport(
        benchmark=paths.benchmark,
        ok=totals.ok,
        failed=totals.failed,
        skipped=totals.skipped,
        left=totals.left,
        signal=totals.signal,
        failures=tuple(failures),
        logs=logs,
    )


class _Watch:
    """Passes events on to the log and the progress bar, and collects the failures."""

    def __init__(self, log: EventLog, progress: Progress | None) -> None:
        self.failures: list[ItemFailure] = []
        self._log = log
        self._progress = progress
        self._total = 0
        self._done = 0

    def __call__(self, event: Event) -> None:
        self._log(event)
        kind = event["event"]
        if kind == "run-started":
            self._total = event["total"]
        elif kind in ("item-done", "item-skipped"):
            self._done += 1
        elif kind == "item-failed":
            self.failures.append(_failure(event))
        elif kind != "item-started":
            return
        if self._progress:
            self._progress(self._done, self._total, failed=len(self.failures), note=_note(event))


def _failure(event: dict[str, Any]) -> ItemFailure:
    coordinates = {name: event[name] for name in ("experiment", "dataset", "repeat", "fold")}
    return ItemFailure(**coordinates, exit=event["exit"], reason=event["reason"], log=event["log"])


def _note(event: Event) -> str:
    """What a progress line says of an event: the item that was started."""
    if event["event"] != "item-started":
        return ""
    return f"{event['experiment']} on {event['dataset']}, repeat {event['repeat']} fold {event['fold']}"
