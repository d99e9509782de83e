"""All facts about some runs: each source is asked in turn, and what one does not tell is unknown, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime

from benchwright.audit.copies import without_copies
from benchwright.audit.facts import EvalFacts, Given, JobFacts
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.gather_iris import IrisSource, read_iris_legs
from benchwright.audit.gather_job import job_facts
from benchwright.audit.gather_rows import FoundRows, Judging, doubles, find_rows, row_facts, siblings
from benchwright.audit.gather_traces import NO_ORGS, Looks, Wanted, is_enough, look_into, trace_facts, wanted
from benchwright.audit.manifest import Entry
from benchwright.audit.run import Leg, Run
from benchwright.audit.scheduler import NOT_ASKED, Scheduler, ask
from benchwright.audit.trace_hub import TraceHub
from benchwright.audit.trial_cells import TrialCell, trial_cells
from benchwright.audit.troubles import Troubles
from benchwright.contract import Failure, Progress
from benchwright.evaldb import EvalDatabase
from benchwright.slurm import Clients

ShowProgress = Callable[[str], AbstractContextManager[Progress]]
"""Gives a callable that shows how far a long piece of work is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What may be asked; a text in place of a source is why it is not, a failure why it cannot be.

    ``slurm`` says whether the scheduler has to answer; None where a run or a row names a job of it.
    ``given`` is what the audit was given besides the runs. Of the runs that nobody named, those that showed no sign
    from ``since`` on are left out, and told.
    """

    folders: FolderRules
    iris: IrisSource | None = None
    database: EvalDatabase | Failure | str
    owners: frozenset[str] = frozenset()
    slurm: bool | None = None
    clients: Clients = field(default_factory=Clients)
    hub: TraceHub | Failure | str
    trace_orgs: tuple[str, ...] = ()
    grandfathered: frozenset[str] = frozenset()
    since: datetime | None = None
    given: Given = field(default_factory=Given)


@dataclass(frozen=True)
class Gathered:
    """The evals of some runs, with what kept sources from answering."""

    legs: tuple[Leg, ...]
    troubles: Troubles

    @property
    def facts(self) -> tuple[EvalFacts, ...]:
        """The facts of every eval."""
        return tuple(leg.facts for leg in self.legs)

    def trials_of(self, facts: EvalFacts) -> list[TrialCell] | None:
        """The trials of an eval for a report, None where its folder has none that could be read."""
        for leg in self.legs:
            if leg.facts is facts and leg.run.job is not None:
                return trial_cells(leg.run.job, leg.key)
        return None


def gather(entries: Sequence[Entry], sources: Sources, *, now: datetime, progress: ShowProgress) -> Gathered:
    """Ask every source about some runs, and about those of Iris. Nothing is written anywhere.

    Raises:
        Failure: paths that are no job folders, all of them (exit 2).
    """
    troubles = Troubles()
    # Before anything that starts threads: it forks.
    here = read_legs(entries, sources.folders, troubles, since=sources.since)
    iris = read_iris_legs(sources.iris, sources.folders, troubles) if sources.iris else []
    legs = [leg.learned(owners=sources.owners, given=sources.given) for leg in (*here, *iris)]
    runs = list(dict.fromkeys(leg.run for leg in legs if not leg.facts.measurement))
    found = _find_rows(runs, sources, troubles, progress)
    by_iris = {leg.run for leg in iris}
    scheduled = [run for run in runs if run not in by_iris]
    scheduler = _ask_scheduler(scheduled, found, sources, troubles, now)
    jobs = {run: job_facts(run, _jobs_of(run, found[run], now), scheduler, now) for run in scheduled}
    exempt = [leg for leg in legs if leg.facts.measurement]
    audited = [leg for leg in legs if not leg.facts.measurement]
    audited = [_with_job(leg, jobs[leg.run]) if leg.run in jobs else leg for leg in audited]
    by = Judging(None, scheduler, sources.folders.profile.benign, now)
    audited = [_with_rows(leg, found[leg.run], by, sources.grandfathered) for leg in audited]
    audited = _with_traces(audited, sources, troubles, progress)
    return Gathered((*without_copies(audited), *exempt), troubles)


_Found = FoundRows | str
"""The rows of a run, or why they are not known."""


def _find_rows(runs: Sequence[Run], sources: Sources, troubles: Troubles, progress: ShowProgress) -> dict[Run, _Found]:
    """The rows of each run, asked for together. Where the database fails no run's are known: half of them are none."""
    database = sources.database
    if isinstance(database, Failure) and runs:
        database = troubles.add(database)
    if not isinstance(database, EvalDatabase):
        return dict.fromkeys(runs, str(database))
    if not runs:
        return {}
    with progress("rows") as show:
        try:
            answers = find_rows(database, runs)
        except Failure as failure:
            return dict.fromkeys(runs, troubles.add(failure))
        show(len(runs), len(runs))
    return {
        run: troubles.add(answer) if isinstance(answer, Failure) else answer
        for run, answer in zip(runs, answers, strict=True)
    }


def _jobs_of(run: Run, found: _Found, now: datetime) -> dict[str, bool]:
    return found.scheduler_jobs(run, now) if isinstance(found, FoundRows) else {}


def _ask_scheduler(
    runs: Sequence[Run], found: Mapping[Run, _Found], sources: Sources, troubles: Troubles, now: datetime
) -> Scheduler:
    """The scheduler's answers about every job that a run or a row names.

    That it does not answer matters where it ran what is audited, and not for rows of other runs.
    """
    if sources.slurm is False:
        return NOT_ASKED
    ids = {id for run in runs for id in run.slurm_ids}
    for rows in found.values():
        ids |= rows.job_ids if isinstance(rows, FoundRows) else frozenset()
    scheduler, failures = ask(sources.clients, ids)
    needed = sources.slurm or any(run.launched_by_slurm or _jobs_of(run, found[run], now) for run in runs)
    if not needed and not scheduler.answers:
        return NOT_ASKED
    for failure in failures:
        troubles.add(failure)
    return scheduler


def _with_job(leg: Leg, job: JobFacts | str) -> Leg:
    if isinstance(job, str):
        return leg.lacking("job", job)
    told = leg.learned(job=job)
    unfinished = leg.run.job is not None and leg.run.job.aggregate.ok and leg.run.ended is None
    if job.phase == "completed" and unfinished:
        return told.noted(f"job {job.id} is {job.state} by {job.told_by}, and Harbor has not written that it finished")
    return told


def _with_rows(leg: Leg, found: _Found, by: Judging, grandfathered: frozenset[str]) -> Leg:
    if isinstance(found, str):
        return leg.lacking("rows", found)
    rows = row_facts(found, leg, replace(by, job=leg.facts.job))
    if isinstance(rows, str):
        return leg.lacking("rows", rows)
    spared = frozenset(row.id for row in rows if row.id.lower() in grandfathered)
    return leg.learned(rows=rows, grandfathered=spared).noted(*siblings(rows, leg.facts), *doubles(found))


def _with_traces(legs: Sequence[Leg], sources: Sources, troubles: Troubles, progress: ShowProgress) -> list[Leg]:
    hub = sources.hub
    if isinstance(hub, Failure) and legs:
        hub = troubles.add(hub)
    if not isinstance(hub, TraceHub):
        return [leg.lacking("traces", str(hub)) for leg in legs]
    places = [wanted(leg.run, leg.facts.rows, sources.trace_orgs) for leg in legs]
    with progress("traces") as show:
        looks = look_into(hub, (repo for place in places for repo in (*place.linked, *place.named)), show)
    return [_with_repos(leg, place, looks, sources, troubles) for leg, place in zip(legs, places, strict=True)]


def _with_repos(leg: Leg, place: Wanted, looks: Looks, sources: Sources, troubles: Troubles) -> Leg:
    """An eval with the repos that could be looked into, where they tell; with the reason where others might."""
    known, why = trace_facts(leg.run, place, looks, sources.trace_orgs)
    if not why:
        return leg.learned(traces=known)
    enough = is_enough(known, place.linked)
    for repo in place.linked if enough else (*place.linked, *place.named):
        answer = looks[repo]
        if isinstance(answer, Failure):
            troubles.add(answer)
    if enough:
        return leg.learned(traces=known)
    if not sources.trace_orgs:
        troubles.add(NO_ORGS)
    return leg.lacking("traces", why)
