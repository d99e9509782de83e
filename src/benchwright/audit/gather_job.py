"""Facts about the job: whether it is live, and how it ended. SLURM says so, or Harbor where no scheduler ran it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from benchwright.audit.facts import JobFacts
from benchwright.audit.run import Run
from benchwright.audit.scheduler import Scheduler, Standing

_ZOMBIES = timedelta(hours=1)
"""Sandboxes that outlive their job go on writing for up to this long; what writes later is alive."""
_QUIET = timedelta(days=2)
"""No run is silent for longer and alive: it is the longest that batch systems let one go on."""
_CLOCKS = timedelta(minutes=10)
"""How far the clocks of two machines may be apart."""


def job_facts(run: Run, row_jobs: Mapping[str, bool], scheduler: Scheduler, now: datetime) -> JobFacts | str:
    """What is known of a run's job, or why nothing is.

    ``row_jobs`` are the ids of scheduler jobs that the run's rows name, and whether a row still waits for it.
    """
    ids = list(dict.fromkeys((*run.slurm_ids, *row_jobs)))
    if not ids and (not scheduler.asked or not scheduler.answers) and not run.launched_by_slurm:
        return _by_folder(run, now)
    waiting = scheduler.named(run.tag)
    if waiting is not None:
        return JobFacts(phase="live", state=str(waiting.state), id=waiting.ids[1], told_by="squeue")
    standings = {id: scheduler.standing(id) for id in ids}
    for id, one in standings.items():
        if one.phase == "live":
            return _facts(id, one)
    if not scheduler.answers:
        return scheduler.silent
    open_ = [id for id, waits in row_jobs.items() if waits and standings[id].phase == "unknown"]
    if open_:
        return (
            f"neither squeue nor sacct knows job {', '.join(open_)}, which a row waits for: is it on another cluster?"
        )
    if (writer := _writer(run, standings.values(), now)) is not None:
        return writer
    ended = {id: one for id, one in standings.items() if one.phase == "ended" and _is_of(run, one)}
    if ended:
        return _facts(*max(ended.items(), key=lambda pair: (_moment(pair[1].submitted), pair[0])))
    return _forgotten(run, ids, now)


def ran_during(run: Run, standing: Standing) -> bool:
    """Whether Harbor ran within the time of a job, from its first to its last sign: then it is the job that ran it."""
    began, last = run.began, run.last_sign
    if began is None or last is None or standing.began is None or standing.ended is None:
        return False
    return standing.began - _CLOCKS <= began and last <= standing.ended + _ZOMBIES


def _facts(id: str, standing: Standing) -> JobFacts:
    phase = "live" if standing.phase == "live" else "completed" if standing.done else "ended"
    account = standing.account
    submit = f"cd {shlex.quote(account.folder)} && {account.command}" if account and account.command else None
    return JobFacts(phase=phase, state=standing.state, id=id, told_by=standing.told_by, submit=submit)  # type: ignore[arg-type]


def _forgotten(run: Run, ids: list[str], now: datetime) -> JobFacts | str:
    """A run of which the queue has no live job, and the accounts none that ended."""
    if not ids:
        return _by_folder(run, now)
    if run.ended is not None:
        return JobFacts(phase="completed", state="finished", id=ids[0], told_by="squeue and Harbor")
    if _is_quiet(run, now):
        return JobFacts(phase="ended", state="not finished", id=ids[0], told_by="squeue and its folder")
    return f"neither squeue nor sacct knows job {', '.join(ids)} as one of this run: was it on another cluster?"


def _by_folder(run: Run, now: datetime) -> JobFacts | str:
    """What the folder alone tells of a run that no scheduler's job is known of."""
    if run.job is None:
        return "no job of it is known, and its folder could not be read"
    if run.written is not None and now - run.written < _ZOMBIES and run.ended is None:
        return JobFacts(phase="live", state="still writing", told_by="its folder")
    if run.ended is not None:
        return JobFacts(phase="completed", state="finished", told_by="Harbor")
    if _is_quiet(run, now):
        return JobFacts(phase="ended", state="not finished", told_by="its folder")
    return "no job of it is known, and Harbor has not finished: name its slurm_job_id in a manifest"


def _writer(run: Run, standings: Iterable[Standing], now: datetime) -> JobFacts | str | None:
    """A job that nobody knows of and that goes on with the run: results that change long after the known ones ended.

    Whether it is live is unknown between its last result and the time that no run is silent for.
    """
    ends = [one.ended for one in standings if one.phase == "ended" and one.ended is not None]
    if not ends or run.written is None or run.ended is not None or run.written <= max(ends) + _ZOMBIES:
        return None
    if now - run.written < _ZOMBIES:
        return JobFacts(phase="live", state="still writing", told_by="its folder, after the job that is known of it")
    return None if _is_quiet(run, now) else "its results changed after the job that is known of it had ended"


def _is_of(run: Run, standing: Standing) -> bool:
    """Whether a job that ended may be this run's: one that was over before Harbor began is another cluster's."""
    return standing.ended is None or run.began is None or standing.ended >= run.began - _CLOCKS


def _is_quiet(run: Run, now: datetime) -> bool:
    return run.last_sign is not None and now - run.last_sign > _QUIET


def _moment(time: datetime | None) -> float:
    return time.timestamp() if time else 0.0
