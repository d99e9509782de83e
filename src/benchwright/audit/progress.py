"""The progress of jobs wherever they are: folders here, and those that Iris wrote to buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from benchwright.audit.iris_jobs import EVALS, IrisJob, chosen, iris_table
from benchwright.audit.iris_results import Buckets, Results, read_all
from benchwright.audit.troubles import Troubles
from benchwright.contract import Failure, Failures, usage_error
from benchwright.harbor import (
    Benchmarks,
    Job,
    JobPlace,
    Profile,
    Taxonomy,
    benchmark_of,
    figures,
    find_jobs,
    plan_of,
    read_jobs,
    resolve_job_folder,
)
from benchwright.harbor.progress import DEFAULT_LIMITS, REJECTED, Limits, Progress, progress_of
from benchwright.objects import StoreLocation

_ADDRESS = "the address of a job, gs://BUCKET/FOLDER/JOB or s3://BUCKET/FOLDER/JOB; all jobs of a bucket: --iris"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs are looked at. A ``table`` that does not come is a failure, and no job is known to be dead then.

    ``places`` are folders of jobs, addresses of jobs in buckets, and names of jobs in ``buckets``; ``root`` is a folder
    of jobs. Without ``places`` every job of ``buckets`` is looked at that ``table`` has, or without a table their
    listing, whose name fits ``tags`` and that was launched ``since``.
    """

    places: tuple[str, ...] = ()
    root: Path | None = None
    buckets: Buckets | None = None
    table: Sequence[IrisJob] | Failure | None = None
    tags: Sequence[str] = EVALS
    since: datetime | None = None

    @property
    def told(self) -> Sequence[IrisJob]:
        """The jobs of the table, none without one."""
        return () if self.table is None or isinstance(self.table, Failure) else self.table

    @classmethod
    def asked_for(
        cls,
        places: Sequence[str],
        root: Path | None,
        buckets: Sequence[str],
        jobs: Path | None,
        *,
        tags: Sequence[str] | None,
        since: datetime | None,
        environment: Mapping[str, str],
    ) -> Wanted:
        """What the options of a script ask for; ``jobs`` is the file of the jobs table.

        Raises:
            Failure: no job is named, an address or the table is none; every problem (exit 2).
        """
        if not places and root is None and not buckets:
            raise usage_error(
                "PLACE",
                "missing",
                "a job, --jobs-root or --iris",
                "name a job's folder, or all of them: --jobs-root DIR",
            )
        failures = Failures()
        opened: Buckets | None = None
        table: list[IrisJob] | Failure | None = None
        with failures.collected():
            opened = Buckets.at(buckets) if buckets else None
        with failures.collected():
            table = iris_table(jobs, environment if buckets or any("://" in place for place in places) else {})
        failures.settle()
        return cls(places=tuple(places), root=root, buckets=opened, table=table, tags=tags or EVALS, since=since)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the progress of jobs is judged by."""

    profile: Profile
    benchmarks: Benchmarks
    limits: Limits = DEFAULT_LIMITS

    @classmethod
    def load(cls, profile: str | None, benchmarks: Path | None, limits: Limits = DEFAULT_LIMITS) -> Rules:
        """The rules of a profile, with the benchmarks that are shipped and those of a file.

        Raises:
            Failure: there is no such profile, or the file is none of benchmarks; every problem (exit 2).
        """
        failures = Failures()
        with failures.collected():
            named = Taxonomy.load().profile(profile)
        with failures.collected():
            known = Benchmarks.load(benchmarks)
        failures.settle()
        return cls(named, known, limits)


def look_at(wanted: Wanted, rules: Rules, troubles: Troubles) -> list[Progress]:
    """How far each job is, by name. One that cannot be looked at is UNKNOWN, and its failure one of ``troubles``.

    Raises:
        Failure: places that are no jobs; all of them (exit 2).
    """
    if isinstance(wanted.table, Failure):
        troubles.add(wanted.table)
        wanted = replace(wanted, table=None)
    folders, remote = _places(wanted, troubles)
    table = chosen(wanted.told, tags=("*",))
    live = {job.name: job.phase == "live" for job in table if job.phase is not None}
    looking = _Looking(live, rules, troubles)
    found = [looking.at_folder(*pair) for pair in zip(folders, read_jobs(folders), strict=True)]
    found += map(looking.at_bucket, read_all(remote))
    return sorted(found, key=lambda one: (one.name, one.where))


@dataclass(frozen=True, slots=True)
class _Looking:
    live: Mapping[str, bool]
    rules: Rules
    troubles: Troubles

    def at_folder(self, place: JobPlace, job: Job | Failure) -> Progress:
        """The progress of a job in a folder here."""
        if isinstance(job, Failure):
            where = str(place.folders[0])
            return self._unknown(place.name, where, self.troubles.add(job))
        around = [folder.parent for folder in place.folders if folder.parent.name == folder.name]
        rejected = any((folder / REJECTED).exists() for folder in (*place.folders, *around))
        return self._of(job, rejected)

    def at_bucket(self, results: Results) -> Progress:
        """The progress of a job in the buckets."""
        for failure in results.failures:
            self.troubles.add(failure)
        if results.job is None:
            return self._unknown(results.name, results.where[0], results.unknown)
        try:
            rejected = results.copy is not None and results.copy.folder.read(REJECTED, 0) is not None
        except Failure as failure:
            return self._unknown(results.name, results.job.folders[0], self.troubles.add(failure))
        one = self._of(results.job, rejected)
        return replace(one, why="; ".join(filter(None, (one.why, *results.notes))))

    def _of(self, job: Job, rejected: bool) -> Progress:
        rules = self.rules
        one = figures(job, rules.profile, plan_of(job, benchmark_of(job, rules.benchmarks)))
        return progress_of(job, one, live=self.live.get(job.name), rejected=rejected, limits=rules.limits)

    def _unknown(self, name: str, where: str, why: str) -> Progress:
        return Progress(name=name, where=where, status="UNKNOWN", why=why, live=self.live.get(name))


def _places(wanted: Wanted, troubles: Troubles) -> tuple[list[JobPlace], list[tuple[Buckets, str]]]:
    """The jobs to look at: those in folders here, and those in buckets by their names."""
    failures = Failures()
    folders: dict[tuple[Path, ...], JobPlace] = {}
    remote: list[tuple[Buckets, str]] = []
    for place in wanted.places:
        with failures.collected():
            if "://" in place:
                remote.append(_at_address(place))
            elif wanted.buckets is not None and "/" not in place and not _is_here(place):
                remote.append((wanted.buckets, place))
            else:
                found = resolve_job_folder(Path(place))
                folders[found.folders] = found
    if wanted.root is not None:
        with failures.collected():
            folders |= {found.folders: found for found in find_jobs(wanted.root)}
    failures.settle()
    if wanted.buckets is not None and not wanted.places:
        listed = wanted.buckets.jobs(troubles) if wanted.table is None else wanted.told
        named = chosen(listed, tags=wanted.tags, since=wanted.since)
        remote += [(wanted.buckets, job.name) for job in named]
    return list(folders.values()), remote


def _is_here(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long for a name here
        return False


def _at_address(address: str) -> tuple[Buckets, str]:
    """The job at an address, which may name the job's own folder or the one around it."""
    place = StoreLocation.parse(address, folders=False)
    folder, _, name = place.prefix.rpartition("/")
    if folder.rpartition("/")[2] == name:
        folder = folder.rpartition("/")[0]
    if not name or not folder:
        raise usage_error(
            address,
            "no job's address",
            _ADDRESS,
            code="bad-store",
            fix="gs://BUCKET/FOLDER/JOB, or --iris gs://BUCKET JOB",
        )
    return Buckets.at([str(replace(place, prefix=folder))]), name
