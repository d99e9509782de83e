"""Where the jobs are: which folder a path means, which folders of a root are jobs, which are shards of one run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, counted, some, usage_error
from benchwright.harbor.aggregate import read_aggregate
from benchwright.harbor.job_config import read_job_config, read_trial_config
from benchwright.harbor.scan import CONFIG, META, RESULT, TRIAL_NAME
from benchwright.harbor.tree import MOST_BYTES, Folder, Listing, Odd, Tree
from benchwright.harbor.trial import NoTrial, read_trial

_SHARD = re.compile(r"(?P<run>.+)_shard(?P<number>0|[1-9][0-9]{0,3})", re.DOTALL)
"""The folder of a shard. A longer number is a date or an id, and another spelling of one is another folder."""
_TRACES, _RECORDS = "trace_jobs", "eval_jobs"
_MOST_OF_A_JOB = 2**24
"""Bytes of a job's own result; what is larger is a trial's, with its tokens."""


@dataclass(frozen=True)
class JobPlace:
    """Where the results of one run are: its run tag and its folder, or the folders of its shards in their order.

    ``lacking`` are the numbers of shards that are not there though a higher one is.
    """

    name: str
    folders: tuple[Path, ...]
    lacking: tuple[int, ...] = ()


def find_jobs(root: Path) -> list[JobPlace]:
    """The runs in a folder of jobs, by name; the shards of a run as one. Links are followed.

    What may not be looked into counts as a job, so that whoever reads it is told why it cannot be read.

    Raises:
        Failure: the folder is none, or it holds no job; the problem says which folder is meant (code ``not-a-job``,
            exit 2). It may not be read (exit 3).
    """
    root = _absolute(root)
    if _job_at(root) is not None:
        raise _no_job(root, "a job and no folder of jobs", "a folder of Harbor jobs", "give it as JOB_DIR")
    with Folder(root) as tree:
        names = tree.listing().folders
    places = _places((name, job) for name in names if (job := _job_or_doubt(root / name)) is not None)
    if not places:
        raise _no_jobs(root, names)
    return places


def resolve_job_folder(path: Path) -> JobPlace:
    """The run that a path means: the job in that folder, in its copy inside, below its ``trace_jobs``, or its shards.

    Raises:
        Failure: it is no Harbor job; the problem says what it is and which folder is meant (code ``not-a-job``, exit
            2). It may not be read (exit 3).
    """
    path = _absolute(path)
    try:
        job = _job_at(path)
    except Failure as failure:  # no such folder: shards of it may be there
        if failure.exit is not Exit.USAGE:
            raise
        job = None
    if job is not None and not _SHARD.fullmatch(path.name):
        return JobPlace(job.name, (job,))  # below trace_jobs it is the job's folder that has the run's tag
    run = shard["run"] if (shard := _SHARD.fullmatch(path.name)) else path.name
    if path.parent.is_dir():
        with Folder(path.parent) as tree:
            siblings = [name for name in tree.listing().folders if name.startswith(f"{run}_shard")]
        places = _places((name, job) for name in siblings if (job := _job_at(path.parent / name)) is not None)
        for place in places:
            if place.name == run:
                return place
    raise _what_it_is(path)


def record_of(job: Path) -> Path | None:
    """The folder that a launch may have left its record in, for a job in ``trace_jobs``; None for any other job."""
    return job.parent.parent / _RECORDS / job.name if job.parent.name == _TRACES else None


def _absolute(path: Path) -> Path:
    return path.resolve() if ".." in path.parts else path.absolute()


def _job_at(folder: Path, *, inside: bool = True) -> Path | None:
    """The folder of the job that a folder is: itself, or what it holds as copies and run folders do; None for none."""
    with Folder(folder) as tree:
        listing = tree.listing()
        if any(_is_trial(tree, name) for name in listing.folders):
            return folder
        if inside and folder.name in listing.folders and _job_at(folder / folder.name, inside=False):
            return folder / folder.name
        if _is_job(tree, listing):
            return folder
    traces = _jobs_below(folder / _TRACES) if inside and _TRACES in listing.folders else []
    return traces[0] if len(traces) == 1 else None


def _job_or_doubt(folder: Path) -> Path | None:
    try:
        return _job_at(folder)
    except Failure as failure:
        return None if failure.exit is Exit.USAGE else folder  # wrong usage: it has gone meanwhile


def _jobs_below(root: Path) -> list[Path]:
    with Folder(root) as tree:
        return [root / name for name in tree.listing().folders if _job_at(root / name, inside=False)]


def _is_trial(tree: Tree, name: str) -> bool:
    """Whether a folder is a trial and not a job: a run's tag may look like a trial's name."""
    files = [file for file in (CONFIG, RESULT) if TRIAL_NAME.fullmatch(name) and tree.exists(f"{name}/{file}")]
    try:
        config = _content(tree, f"{name}/{CONFIG}") if CONFIG in files else b""
        if config and read_trial_config(config):
            return True
        result = _content(tree, f"{name}/{RESULT}", _MOST_OF_A_JOB) if RESULT in files else b""
    except Failure:  # whoever reads the trials is told
        return True
    return bool(files) and not (config and read_job_config(config).ok) and not (result and read_aggregate(result).ok)


def _is_job(tree: Tree, listing: Listing) -> bool:
    """Whether the folder's own files are those of a job, which may have no trial yet."""
    config, result = (_content(tree, file) if file in listing.files else b"" for file in (CONFIG, RESULT))
    return bool(
        (config and read_job_config(config).ok and read_trial_config(config) is None)
        or (result and read_aggregate(result).ok)
    )


def _content(tree: Tree, file: str, most: int = MOST_BYTES) -> bytes:
    try:
        content = tree.read(file, most)
    except Odd:
        return b""
    return content.data or b"" if content else b""


def _places(jobs: Iterable[tuple[str, Path]]) -> list[JobPlace]:
    """Runs by name, of jobs and the names of the folders that they are in."""
    places: list[JobPlace] = []
    parts: dict[str, dict[int, Path]] = defaultdict(dict)
    for name, job in jobs:
        if shard := _SHARD.fullmatch(name):
            parts[shard["run"]][int(shard["number"])] = job
        else:
            places.append(JobPlace(job.name, (job,)))
    for run, shards in parts.items():
        numbers = sorted(shards)
        lacking = tuple(sorted(set(range(numbers[-1])) - set(numbers)))
        places.append(JobPlace(run, tuple(shards[number] for number in numbers), lacking))
    return sorted(places, key=lambda place: (place.name, place.folders))


def _no_jobs(root: Path, names: Sequence[str]) -> Failure:
    """Why a root with some folders in it holds no job, and the root that may be meant."""
    with Folder(root) as tree:
        records = sum(tree.exists(f"{name}/{META}") for name in names)
    expected = "a folder of Harbor jobs"
    if records:
        found = f"no job, and the {'record' if records == 1 else 'records'} of {counted(records, 'run')}"
        return _no_job(root, found, expected, _meant(root.parent / _TRACES))
    return _no_job(root, f"no job in {counted(len(names), 'folder')}" if names else "no folder in it", expected)


_NAME_IT = "name the folder that Harbor wrote the run's trials to"


def _what_it_is(path: Path) -> Failure:
    """Why a path is no job, and the folder that may be meant."""
    with Folder(path) as tree:
        listing = tree.listing()
        own = [_content(tree, file) for file in (CONFIG, RESULT) if file in listing.files]
    if any(read_trial_config(data) is not None for data in own) or _is_result_of_a_trial(own):
        return _no_job(path, "one trial of a job", fix=f"the job is {path.parent}")
    traces = _jobs_below(path / _TRACES) if _TRACES in listing.folders else []
    if traces:
        found = f"the run folder of {counted(len(traces), 'job')}"
        return _no_job(path, found, fix=f"one of {some(map(str, traces))}")
    if META in listing.files:
        found = f"a run's record, with {META} and no trial in it"
        meant = _meant(path.parent.parent / _TRACES / path.name)
        return _no_job(path, found, "the folder that Harbor wrote the trials to", meant)
    jobs = _jobs_below(path)
    if jobs:
        fix = f"to look at all of them: --jobs-root {path}"
        return _no_job(path, f"a folder of {counted(len(jobs), 'job')}", fix=fix)
    found = (
        "an empty folder" if not listing.folders and not listing.files else "no trial, and no job's config or result"
    )
    return _no_job(path, found)


def _meant(folder: Path) -> str:
    where = "there it is" if folder.is_dir() else "it is not there either; look where the run's jobs_dir points"
    return f"{folder} is meant: {where}"


def _is_result_of_a_trial(contents: Iterable[bytes]) -> bool:
    for data in contents:
        try:
            read_trial("", data)
        except NoTrial:
            continue
        return True
    return False


def _no_job(path: Path, found: str, expected: str = "the folder of a Harbor job", fix: str = _NAME_IT) -> Failure:
    return usage_error(str(path), found, expected, fix, code="not-a-job")
