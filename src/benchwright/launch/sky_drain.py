"""Earlier launches of a run in a bucket: whether someone may still run bundles of them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.bucket_queue import BucketQueue, Standing, launches
from benchwright.launch.sky_jobs import NoSky, SkyJob, read_jobs
from benchwright.launch.watch_commands import watch_launch
from benchwright.objects import ObjectStore

_EXPECTED = "no earlier launch at work"


def refuse_undrained(store: ObjectStore, logs: Path, *, ask_sky: bool) -> list[str]:
    """Refuse to set up while a launch of this run has bundles that someone may still run; notes on what was closed.

    A launch whose workers are gone is closed, so that a job that SkyPilot starts again later finds nothing to take.
    ``logs`` is the run's folder of logs here.

    Raises:
        Failure: every launch at work, or of which that is not known (exit 5), with the commands that watch them; as the
            store does.
    """
    problems, notes, watches = [], [], []
    for queue in (BucketQueue(store, launch) for launch in launches(store)):
        if queue.closed:
            continue
        try:
            standing = queue.standing()
        except Failure as failure:
            if failure.exit != Exit.NO:
                raise
            problems.append(_unknown(queue, failure.problems[0].found))
            continue
        if standing.drained:
            continue
        jobs = read_jobs(queue.launch) if ask_sky else NoSky("it was not asked")
        problem = _doubt(queue, standing.left, jobs)
        if problem is None:
            notes.append(
                f"launch {queue.launch}: {standing.left} bundles had not ended, and none of its jobs is at work"
            )
            queue.close("its workers were gone when setup ran again")
            continue
        problems.append(problem)
        watches.append(_watch(queue, standing, logs))
    if problems:
        raise Failure(problems, exit=Exit.REFUSED, next=watches)
    return notes


def refuse_company(store: ObjectStore, own: Collection[str], logs: Path) -> None:
    """Refuse launches that another set-up staged while this one staged its ``own``, which are closed then.

    Each of two sees at least the one that was written first, so that never both are left. ``logs`` is the run's folder
    of logs here.

    Raises:
        Failure: there is such a launch (exit 5), with the command that watches it; as the store does.
    """
    others = [BucketQueue(store, name) for name in launches(store) if name not in own]
    open_ones = [(queue, queue.standing()) for queue in others if not queue.closed]
    company = [(queue, standing) for queue, standing in open_ones if not standing.drained]
    if not company:
        return
    for name in own:
        BucketQueue(store, name).close("another set-up staged the same at the same time")
    fix = "run setup again when that launch has ended; what this one staged is closed"
    found = "staged by another set-up meanwhile"
    raise Failure(
        [Problem("still-launched", queue.url, found, _EXPECTED, fix) for queue, _ in company],
        exit=Exit.REFUSED,
        next=[_watch(queue, standing, logs) for queue, standing in company],
    )


def _watch(queue: BucketQueue, standing: Standing, logs: Path) -> str:
    return watch_launch(sys.executable, queue.url, standing.bundles, queue.launch, logs)


def _doubt(queue: BucketQueue, left: int, jobs: list[SkyJob] | NoSky) -> Problem | None:
    """Why someone may still run bundles of a launch; None where all its jobs have ended."""
    if isinstance(jobs, NoSky):
        return _unknown(queue, f"{left} bundles have not ended, and {jobs.why}")
    if not jobs:
        why = f"sky lists no job called {queue.launch}: it may be launched yet"
        return _unknown(queue, f"{left} bundles have not ended, and {why}")
    at_work = [job for job in jobs if job.at_work]
    if not at_work:
        return None
    found = f"{left} bundles have not ended; jobs at work: {', '.join(f'{job.id} {job.status}' for job in at_work)}"
    fix = f"wait until sky_progress.sh says DONE, or sky jobs cancel {' '.join(str(job.id) for job in at_work)}"
    return Problem("still-launched", queue.url, found, _EXPECTED, f"{fix}; then run setup again")


def _unknown(queue: BucketQueue, why: str) -> Problem:
    found = f"whether someone works on it is not known: {why}"
    fix = (
        "run setup where sky lists the launch's jobs; a launch that is given up is closed by "
        f"{close_command(queue.store.url, queue.launch)}"
    )
    return Problem("still-launched", queue.url, found, _EXPECTED, fix)


def close_command(run_uri: str, launch: str) -> str:
    """The command that lets no worker take a bundle of a launch any more."""
    return shlex.join([sys.executable, "-m", "benchwright.launch.bucket_worker", run_uri, launch, "--close"])
