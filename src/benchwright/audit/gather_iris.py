"""Facts of Iris jobs: what the jobs table says of each, and what its results in the buckets amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchwright.audit.facts import EvalFacts
from benchwright.audit.gather_folder import FolderRules, legs_of, tell_left
from benchwright.audit.iris_jobs import EVALS, NO_TABLE, IrisJob, IrisKind, chosen
from benchwright.audit.iris_results import Buckets, Results, kind_at, read_all
from benchwright.audit.manifest import NO_HINT, Hint
from benchwright.audit.model_names import plain_model
from benchwright.audit.run import Leg, Run
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Failure, Problem, some
from benchwright.harbor import JobPlace
from benchwright.harbor.scan import as_text

_OTHER_BUCKET = "its results are in no bucket that was named"
_ONE_BUCKET = "one bucket alone was named, and its results may be in another"


@dataclass(frozen=True, slots=True, kw_only=True)
class IrisSource:
    """Where Iris's evals are looked up.

    ``table`` is None where no jobs table is at hand, and a failure where it does not come: then every folder of the
    buckets is a job, and so is each that a person names, and whether one is live is unknown. ``kind`` is what the jobs
    ran on where the table does not say, ``hints`` what a person says of a job, by its name.
    """

    buckets: Buckets
    table: Sequence[IrisJob] | Failure | None = None
    tags: Sequence[str] = EVALS
    since: datetime | None = None
    kind: IrisKind | None = None
    hints: Mapping[str, Hint] = field(default_factory=dict)


def read_iris_legs(source: IrisSource, rules: FolderRules, troubles: Troubles) -> list[Leg]:
    """The evals of Iris jobs with the facts of their job and of their results, by name.

    Their ``job`` is gathered with that: no scheduler is to be asked for it. The results of a live job are not read.
    What cannot be looked at is unknown, and its failure one of ``troubles``.
    """
    untold = troubles.add(source.table) if isinstance(source.table, Failure) else NO_TABLE
    jobs = _jobs(source, troubles)
    dead = [(source.buckets, job.name) for job in jobs if job.phase != "live"]
    found = {results.name: results for results in read_all(dead)}
    gathering = _Gathering(source, rules, troubles, untold)
    return [leg for job in jobs for leg in gathering.legs(job, found.get(job.name))]


def _jobs(source: IrisSource, troubles: Troubles) -> list[IrisJob]:
    """The jobs of the table, or without one those of the buckets and those that a person names."""
    table = source.table
    if table is None or isinstance(table, Failure):
        jobs = chosen(source.buckets.jobs(troubles), tags=source.tags)
        named = set(source.hints) - {job.name for job in jobs}
        jobs = sorted([*jobs, *map(IrisJob.unlisted, named)], key=lambda job: job.name)
    else:
        jobs = chosen(table, tags=source.tags)
        for name in sorted(set(source.hints) - {job.name for job in jobs}):
            found = "no eval of that name in the jobs table"
            problem = Problem("manifest", name, found, "an Iris job's name", "correct its job_dir in the manifest")
            troubles.add(Failure(problem, exit=Exit.NO))
    since = chosen(jobs, tags=("*",), since=source.since)
    tell_left([job.name for job in jobs if job not in since and job.name not in source.hints], troubles)
    return [job for job in jobs if job in since or job.name in source.hints]


@dataclass(frozen=True, slots=True)
class _Gathering:
    source: IrisSource
    rules: FolderRules
    troubles: Troubles
    untold: str

    def legs(self, job: IrisJob, results: Results | None) -> list[Leg]:
        """The evals of a job; ``results`` is None where they were not looked for."""
        where = results.copy.folder.where if results and results.copy else self.source.buckets.readers[0].url
        kind = job.kind or self.source.kind or kind_at(where)
        told = job.facts(self.untold)
        buckets = tuple(reader.url for reader in self.source.buckets.readers)
        legs = [leg.learned(kind=kind, buckets=buckets) for leg in self._with_trials(job, results)]
        return [leg.lacking("job", told) if isinstance(told, str) else leg.learned(job=told) for leg in legs]

    def _with_trials(self, job: IrisJob, results: Results | None) -> list[Leg]:
        name = job.name
        if results is None:
            return [self._unread(name, "not read while its job is live")]
        for failure in results.failures:
            self.troubles.add(failure)
        if results.job is None:
            return [self._unread(name, results.unknown)]
        if results.copy is None and job.phase == "completed":
            return [self._unread(name, f"it completed, and {some(results.notes)}: {_OTHER_BUCKET}")]
        if results.copy is None and len(self.source.buckets.readers) == 1:
            return [self._unread(name, f"{some(results.notes)}: {_ONE_BUCKET}")]
        legs = legs_of(JobPlace(name, ()), self._hint(name), results.job, self.rules)
        if results.copy is None:
            return [leg.learned(folder=None, notes=results.notes) for leg in legs]
        return [leg.noted(*results.notes) for leg in legs]

    def _unread(self, name: str, why: str) -> Leg:
        """An eval whose trials are not known."""
        tag, hint, benchmarks = as_text(name), self._hint(name), self.rules.benchmarks
        benchmark = benchmarks.resolve(hint.benchmark) if hint.benchmark else benchmarks.in_run_tag(tag)
        called = (benchmark.name, *benchmark.aliases, *benchmark.datasets) if benchmark else ()
        model = plain_model(hint.model)
        run = Run(tag=tag, hint=hint, models=(model,) if model else (), benchmarks=called)
        facts = EvalFacts(
            run_tag=tag,
            model=model,
            benchmark=benchmark.name if benchmark else hint.benchmark,
            measurement=bool(hint.measurement),
            profile=self.rules.profile.name,
        )
        return Leg(run=run, facts=facts).lacking("trials", why)

    def _hint(self, name: str) -> Hint:
        return self.source.hints.get(name, NO_HINT)
