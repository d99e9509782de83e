"""Earlier launches of a run in a bucket: whether someone may still run bundles of them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Sequence

from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.bucket_queue import BucketQueue, launches
from benchwright.launch.sky_jobs import NoSky, read_jobs
from benchwright.objects import ObjectStore

_EXPECTED = "no earlier launch at work"


def refuse_undrained(store: ObjectStore, *, ask_sky: bool) -> list[str]:
    """Refuse to set up while a launch of this run has bundles that someone may still run; notes on what was closed.

    A launch whose workers are gone is closed, so that a job that SkyPilot starts again later finds nothing to take.

    Raises:
        Failure: every launch at work, or of which that is not known (exit 5); as the store does.
    """
    problems, notes = [], []
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
        left = standing.bundles - len(standing.done | standing.failed)
        jobs = read_jobs(queue.launch) if ask_sky else NoSky("it was not asked")
        if isinstance(jobs, NoSky):
            problems.append(_unknown(queue, f"{left} bundles have not ended, and {jobs.why}"))
        elif not jobs:
            why = f"sky lists no job called {queue.launch}: it may be launched yet"
            problems.append(_unknown(queue, f"{left} bundles have not ended, and {why}"))
        elif at_work := [job for job in jobs if job.at_work]:
            problems.append(_at_work(queue, left, [f"{job.id} {job.status}" for job in at_work]))
        else:
            notes.append(
                f"launch {queue.launch}: {left} bundles had not ended, and none of its {len(jobs)} jobs is at work"
            )
            queue.close("its workers were gone when setup ran again")
    if problems:
        raise Failure(problems, exit=Exit.REFUSED)
    return notes


def refuse_company(store: ObjectStore, own: Collection[str]) -> None:
    """Refuse launches that another set-up staged while this one staged its ``own``, which are closed then.

    Each of two sees at least the one that was written first, so that never both are left.

    Raises:
        Failure: there is such a launch (exit 5); as the store does.
    """
    others = [BucketQueue(store, name) for name in launches(store) if name not in own]
    company = [queue for queue in others if not queue.closed and not queue.standing().drained]
    if not company:
        return
    for name in own:
        BucketQueue(store, name).close("another set-up staged the same at the same time")
    fix = "run setup again when that launch has ended; what this one staged is closed"
    raise Failure(
        [Problem("still-launched", one.url, "staged by another set-up meanwhile", _EXPECTED, fix) for one in company],
        exit=Exit.REFUSED,
    )


def _at_work(queue: BucketQueue, left: int, jobs: Sequence[str]) -> Problem:
    found = f"{left} bundles have not ended; jobs at work: {', '.join(jobs)}"
    fix = f"wait until sky_progress.sh says DONE, or sky jobs cancel {' '.join(one.split()[0] for one in jobs)}"
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
