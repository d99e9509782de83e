"""The results of Iris jobs: every bucket that a job may have written to is looked at, and the best copy read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from benchwright.audit.iris_jobs import IrisJob, IrisKind
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Failure, Failures, Problem, counted, some, usage_error
from benchwright.harbor import Aggregate, Job, RemoteFolder, read_tree
from benchwright.harbor.aggregate import MISSING, read_aggregate
from benchwright.harbor.scan import CONFIG, RESULT, TRIAL_NAME
from benchwright.harbor.tree import Odd
from benchwright.objects import ObjectReader, Patience, StoreLocation, open_reader
from benchwright.objects.keys import is_key
from benchwright.objects.reader import Names

PREFIX = "ot-agent"
"""Where in a bucket the jobs are, for an address that does not say."""
_JOBS_AT_ONCE = 4
_AT_ONCE = 10
"""As many requests are under way at the same time: Google's client keeps no more connections."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A job's folder in one of the buckets, with what tells whether it is the one that counts."""

    folder: RemoteFolder
    aggregate: Aggregate
    trials: int

    @property
    def complete(self) -> bool:
        """Whether Harbor finished the job there, and every planned trial with it."""
        stats = self.aggregate
        return stats.finished is not None and 0 < (stats.planned or 0) <= (stats.completed or 0)

    @property
    def rank(self) -> tuple[bool, bool, int, int, float]:
        """What makes it better than another: how far it came, and among equals the later one."""
        stats = self.aggregate
        last = stats.finished or stats.updated
        return self.complete, stats.ok, stats.completed or 0, self.trials, last.timestamp() if last else 0.0

    def __str__(self) -> str:
        """Where it is and what is there."""
        stats = self.aggregate
        done = f"{stats.completed} of {stats.planned} trials completed" if stats.ok else f"{stats.state} aggregate"
        return f"{self.folder.where}: {done}, {counted(self.trials, 'trial folder')}"


@dataclass(frozen=True, slots=True)
class Results:
    """What the buckets have of a job: the copy that counts, None where there is none, and the job as it shows it.

    ``where`` are the places looked at. ``unknown`` says why nothing can be told, so that there is no ``job``, and
    ``failures`` are those that kept it from being told. ``notes`` are what is worth knowing of the places.
    """

    name: str
    where: tuple[str, ...]
    copy: Copy | None = None
    job: Job | None = None
    unknown: str = ""
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unopened:
    """A bucket that cannot be asked from here: whatever is asked of it fails as its opening did."""

    url: str
    failure: Failure

    def names(self, folder: str = "") -> Names:
        """Not known, which is not the same as nothing."""
        raise self.failure

    def read(self, key: str, most: int) -> bytes | None:
        """Not known."""
        raise self.failure


@dataclass(frozen=True, slots=True)
class Buckets:
    """The places that Iris jobs may have written to, in the order in which equal copies are preferred."""

    readers: tuple[ObjectReader, ...]

    @classmethod
    def at(
        cls,
        addresses: Iterable[str],
        *,
        settings: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> Buckets:
        """The buckets at some addresses: ``gs://BUCKET`` means the jobs below ``ot-agent`` in it.

        One whose credentials or client are missing is ``Unopened``.

        Raises:
            Failure: addresses that are no bucket's; all of them (exit 2).
        """
        readers: list[ObjectReader] = []
        failures = Failures()
        for address in dict.fromkeys(addresses):
            with failures.collected():
                readers.append(_opened(StoreLocation.parse(address, folders=False), settings, patience))
        failures.settle()
        if not readers:
            raise usage_error(
                "bucket",
                "none",
                "gs://BUCKET or s3://BUCKET, each that a job may have written to",
                "--iris gs://BUCKET s3://OTHER",
            )
        return cls(tuple(readers))

    def jobs(self, troubles: Troubles) -> list[IrisJob]:
        """The jobs that have a folder in any bucket; one that cannot be listed is one of ``troubles``."""
        names: set[str] = set()
        for reader in self.readers:
            try:
                names.update(reader.names().folders)
            except Failure as failure:
                troubles.add(failure)
        return [IrisJob.unlisted(name) for name in sorted(names)]

    def find(self, name: str) -> Results:
        """Where the results of a job are. A bucket that cannot be looked at is no bucket without results."""
        where = tuple(f"{reader.url}/{name}" for reader in self.readers)
        if not is_key(name) or "/" in name:
            return Results(name, where, unknown=f"{name!a} names no folder of a bucket")
        copies: list[Copy] = []
        failures: list[Failure] = []
        for reader in self.readers:
            try:
                copies += _copies(reader, name)
            except Failure as failure:
                failures.append(failure)
        return _chosen(Results(name, where), copies, failures)

    def read(self, name: str, at_once: int) -> Results:
        """The results of a job, read, of which ``at_once`` are asked for at the same time."""
        found = self.find(name)
        if found.unknown:
            return found
        folder = found.copy.folder if found.copy else RemoteFolder(self.readers[0], name)
        try:
            return replace(found, job=read_tree(folder, name, at_once=at_once))
        except Failure as failure:
            return replace(found, copy=None, unknown=_said([failure]), failures=(failure,))


def read_all(jobs: Sequence[tuple[Buckets, str]]) -> list[Results]:
    """The results of some jobs in their order, each in its buckets; several are read at once."""
    several = max(1, min(_JOBS_AT_ONCE, len(jobs)))
    with ThreadPoolExecutor(several) as pool:
        return list(pool.map(lambda job: job[0].read(job[1], _AT_ONCE // several), jobs))


def kind_at(address: str) -> IrisKind:
    """What jobs ran on that write to such a bucket: those on TPUs write to Google's, those on GPUs to others."""
    return "iris-tpu" if address.startswith("gs:") else "iris-gpu"


def _opened(place: StoreLocation, settings: Mapping[str, str] | None, patience: Patience | None) -> ObjectReader:
    if not place.prefix and place.kind != "local":
        place = replace(place, prefix=PREFIX)
    try:
        return open_reader(place, settings=settings, patience=patience)
    except Failure as failure:
        if failure.exit is Exit.USAGE:
            raise
        return Unopened(f"{place.kind}://{place.place}/{place.prefix}", failure)


def _copies(reader: ObjectReader, name: str) -> list[Copy]:
    """The job's folder in a bucket, if it is there: ``<job>/<job>``, or ``<job>`` itself where trials are in it."""
    outer = reader.names(name)
    if name in outer.folders:
        path = f"{name}/{name}"
        inner = reader.names(path)
    elif {RESULT, CONFIG} & set(outer.objects) or any(map(TRIAL_NAME.fullmatch, outer.folders)):
        path, inner = name, outer
    elif not outer.folders and not outer.objects:
        return []
    else:
        where, held = f"{reader.url}/{name}", some([*outer.folders, *outer.objects])
        raise Failure(
            Problem(
                "not-a-job",
                where,
                f"holds {held}",
                f"{name}/ with the job in it",
                "name the folder above the job's: --iris gs://BUCKET/FOLDER",
            ),
            exit=Exit.NO,
        )
    trials = sum(TRIAL_NAME.fullmatch(folder) is not None for folder in inner.folders)
    folder = RemoteFolder(reader, path)
    return [Copy(folder, _aggregate(folder), trials)] if any(inner) else []


def _aggregate(folder: RemoteFolder) -> Aggregate:
    try:
        content = folder.read(RESULT)
    except Odd as odd:
        return Aggregate(state="corrupt", why=str(odd))
    return MISSING if content is None or content.data is None else read_aggregate(content.data)


def _chosen(found: Results, copies: Sequence[Copy], failures: Sequence[Failure]) -> Results:
    """The best of some copies, unless a place that could not be looked at may have a better one."""
    lost = _said(failures)
    unknown = replace(found, failures=tuple(failures))
    if not copies:
        nothing = f"nothing is in {' or '.join(found.where)}"
        return replace(unknown, unknown=lost) if lost else replace(found, notes=(nothing,))
    best = max(copies, key=lambda copy: copy.rank)  # of equals the first
    others = [copy for copy in copies if copy is not best]
    if not best.complete and lost:
        return replace(unknown, unknown=f"{best}; but it may be complete elsewhere: {lost}")
    if rivals := [copy for copy in others if copy.complete and copy.aggregate.id != best.aggregate.id]:
        return replace(unknown, unknown=f"two runs of it are complete: {best}; {rivals[0]}")
    notes = [f"another copy, which does not count: {copy}" for copy in others]
    notes += [f"not looked at: {lost}"] if lost else []
    return replace(found, copy=best, notes=tuple(notes))


def _said(failures: Sequence[Failure]) -> str:
    problems = [problem for failure in failures for problem in failure.problems]
    return some((f"{problem.where}: {problem.found}" for problem in problems), 2)
