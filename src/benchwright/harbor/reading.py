"""Read a job's folder: every trial by itself, once; the aggregate beside them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.contract import Failure, usage_error
from benchwright.forks import shared
from benchwright.harbor.aggregate import MISSING, Aggregate, read_aggregate
from benchwright.harbor.cache import Scan, ScanCache, rules
from benchwright.harbor.job import Job, packed
from benchwright.harbor.job_config import NO_CONFIG, JobConfig, read_job_config, read_lock, read_meta
from benchwright.harbor.job_remarks import remarks_on
from benchwright.harbor.patient import AT_ONCE, mapped
from benchwright.harbor.places import JobPlace, record_of
from benchwright.harbor.remark import Remark
from benchwright.harbor.scan import CONFIG, LOCK, META, RESULT, Known, Trials, look_at
from benchwright.harbor.shards import merged
from benchwright.harbor.slots import with_owners, with_surplus
from benchwright.harbor.tally import by_eval, tally
from benchwright.harbor.tree import ABSENT, Folder, Odd, Stamp, Tree, is_young, settled, written
from benchwright.harbor.trial import Trial

_T = TypeVar("_T")
_ROOTS = (".", RESULT, CONFIG, META, LOCK)


def read_job(place: JobPlace | Path, *, cache: ScanCache | None = None, at_once: int = AT_ONCE) -> Job:
    """Read a job's folder, or the shards of one run as one.

    Nothing in the folder is written or touched. ``cache`` remembers what was read; results that have the same size,
    times and inode as then are not read again. ``at_once`` threads read where the file system is slow.

    Raises:
        Failure: the folder or a result in it may not be read (exit 3), does not come for the moment (exit 4), or the
            cache is inside the folder (exit 2). What is damaged is a state of the job and no failure.
    """
    if isinstance(place, Path):
        place = JobPlace(place.name, (place,))
    jobs = [_with_record(_read_folder(folder, cache, at_once), folder) for folder in place.folders]
    if len(jobs) == 1 and not place.lacking:
        return msgspec.structs.replace(jobs[0], name=place.name)
    return merged(place, jobs)


def read_jobs(
    places: Sequence[JobPlace], *, cache: ScanCache | None = None, at_once: int = AT_ONCE
) -> list[Job | Failure]:
    """Read many jobs as ``read_job`` does, on several processors; a job that cannot be read is its failure."""

    def read(place: JobPlace) -> Job | Failure:
        try:
            return read_job(place, cache=cache, at_once=at_once)
        except Failure as failure:
            return failure

    if threading.active_count() > 1:  # a lock that one of them holds would stay locked in a fork
        return list(map(read, places))
    return shared(read, places)


def _read_folder(folder: Path, cache: ScanCache | None, at_once: int) -> Job:
    with Folder(folder) as tree:
        if cache is None:
            return read_tree(tree, folder.name, at_once=at_once)
        place = os.path.realpath(folder)
        now = time.time_ns()
        roots = tree.stamps(_ROOTS)
        scan = cache.get(place)
        known: Known = {}
        if scan is not None:
            stamps = mapped(tree.stamps, [f"{name}/{RESULT}" for name in scan.folders], at_once)
            if (scan.roots, scan.stamps) == (b"".join(roots), b"".join(stamps)):
                return msgspec.structs.replace(scan.job, name=folder.name, folders=(tree.where,))
            known = _unchanged(scan, stamps)
        job, found = _look(tree, folder.name, known, at_once)
        if cache.folder.resolve().is_relative_to(place):
            raise usage_error("cache", str(cache.folder), f"a folder outside of {folder}", "--cache DIR elsewhere")
        if not job.live:
            cache.put(
                Scan(
                    rules=rules(),
                    place=place,
                    roots=b"".join(settled(stamp, now) for stamp in roots),
                    names="/".join(found.names),
                    stamps=b"".join(settled(found.stamps[name], now) for name in found.names),
                    job=job,
                )
            )
        return job


def _with_record(job: Job, folder: Path) -> Job:
    """A job with what its launch recorded in another folder, where nothing of that is in its own."""
    place = record_of(folder)
    if job.meta or place is None or not os.path.isfile(place / META):  # noqa: PTH113  no answer is none
        return job
    with Folder(place) as tree:
        nothing: dict[str, str] = {}
        meta = _read(tree, META, read_meta, nothing, lambda _: nothing)
    remark = Remark("record-elsewhere", "context", f"{META} of its launch is in {place}")
    return msgspec.structs.replace(job, meta=meta, remarks=(*job.remarks, remark)) if meta else job


def read_tree(tree: Tree, name: str, *, at_once: int = AT_ONCE) -> Job:
    """Read a job wherever its files are, as ``read_job`` does.

    Raises:
        Failure: as the tree does.
    """
    return _look(tree, name, {}, at_once)[0]


def _look(tree: Tree, name: str, known: Known, at_once: int) -> tuple[Job, Trials]:
    found = look_at(tree, tree.listing().folders, known, at_once)
    if found.gone:  # once more: a resume removes folders and makes others
        found = look_at(tree, tree.listing().folders, _readable(found.trials, found.stamps), at_once)
    return _job(tree, name, found), found


def _job(tree: Tree, name: str, found: Trials) -> Job:
    """What the trials and the job's own files amount to."""
    (aggregate, unfinished), config = _aggregate(tree), _config(tree)
    if unfinished:
        found = replace(found, changing=[*found.changing, RESULT])
    by_folder = sorted(found.trials, key=lambda trial: trial.folder)  # what was known before comes in another order
    trials, remarks = with_surplus(with_owners(by_folder), config, aggregate.id)
    groups, whole = by_eval(trials), tally(trials)
    evals = {key: whole if len(groups) == 1 else tally(group) for key, group in groups.items()}
    return Job(
        name=name,
        folders=(tree.where,),
        config=config,
        aggregate=aggregate,
        locked=_read(tree, LOCK, read_lock, {}, lambda _: {}) if aggregate.planned is None or len(groups) > 1 else {},
        meta=_read(tree, META, read_meta, {}, lambda _: {}),
        whole=whole,
        evals=evals,
        remarks=(*remarks, *remarks_on(trials, evals, config, aggregate, found)),
        live=bool(found.gone or found.changing),
        written=written(found.stamps.values()),
        packed_trials=packed(trials),
    )


def _aggregate(tree: Tree) -> tuple[Aggregate, bool]:
    """The aggregate, and whether it is in the middle of being written: a running job does so again and again."""
    found, young = MISSING, False
    for _ in range(2):
        try:
            content = tree.read(RESULT)
        except Odd as error:
            return Aggregate(state="corrupt", why=str(error)), False
        if content is None or content.data is None:
            return MISSING, False
        found, young = read_aggregate(content.data), is_young(content.stamp, time.time_ns())
        if found.ok:
            return found, False
    return found, young


def _config(tree: Tree) -> JobConfig:
    return _read(tree, CONFIG, read_job_config, NO_CONFIG, lambda why: JobConfig(state="corrupt", why=why))


def _read(tree: Tree, file: str, parse: Callable[[bytes], _T], absent: _T, odd: Callable[[str], _T]) -> _T:
    """What one of the job's own files says."""
    try:
        content = tree.read(file)
    except Odd as error:
        return odd(str(error))
    return absent if content is None or content.data is None else parse(content.data)


def _unchanged(scan: Scan, stamps: Sequence[Stamp]) -> Known:
    """The trials of an earlier look whose results have the stamps that they had then."""
    size = len(ABSENT)
    then = (scan.stamps[start : start + size] for start in range(0, len(scan.stamps), size))
    looks = zip(scan.folders, then, stamps, strict=True)
    return _readable(scan.job.trials, {name: now for name, before, now in looks if now == before})


def _readable(trials: Iterable[Trial], stamps: Mapping[str, Stamp]) -> Known:
    """What need not be read again. A trial without a readable result is: its owner comes from its other files."""
    known = {}
    for trial in trials:
        stamp = stamps.get(trial.folder, ABSENT)
        if stamp != ABSENT and trial.state in ("valid", "unscored"):
            known[trial.folder] = stamp, msgspec.structs.replace(trial, surplus=False) if trial.surplus else trial
    return known
