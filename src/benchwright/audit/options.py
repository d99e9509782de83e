"""What an audit is asked for: the options of its command, and which runs they mean."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from benchwright.audit.facts import Given
from benchwright.audit.manifest import NO_HINT, Entry, Hint, hint_in, read_manifest
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.harbor import JobPlace, find_jobs
from benchwright.harbor.scan import as_text

_REPORTS = (".md", ".html")
_MOST_NAMED = 20
"""Folders that are no job which a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What is asked for; see the script's help. Paths are as they were given.

    ``hint`` is what was said of the runs in ``job_dirs``, or of ``iris_job``, the one job of the buckets that is meant.
    With ``all_listed`` the runs are ``job_dirs`` alone, and a manifest has to list each of them. ``outputs`` are the
    files that the command is to write, by their options.
    """

    job_dirs: tuple[Path, ...] = ()
    jobs_root: Path | None = None
    manifest: Path | None = None
    all_listed: bool = False
    iris: tuple[str, ...] = ()
    iris_jobs: Path | None = None
    iris_job: str | None = None
    hint: Hint = NO_HINT
    since: datetime | None = None
    profile: str | None = None
    benchmarks: Path | None = None
    grandfather: Path | None = None
    database: Literal["postgres", "supabase", "none"] | None = None
    hub: bool = True
    slurm: bool | None = None
    cache: Path | None = None
    remember: bool = True
    facts: Path | None = None
    report: Path | None = None
    outputs: Mapping[str, Path] = field(default_factory=dict)

    @property
    def given(self) -> Given:
        """What commands that the audit recommends have to be given, too."""
        return Given(
            manifest=_absolute(self.manifest),
            jobs_root=_absolute(self.jobs_root) if self.manifest else None,
            profile=self.profile,
            benchmarks=_absolute(self.benchmarks),
            grandfather=_absolute(self.grandfather),
            iris_jobs=_absolute(self.iris_jobs),
            database=self.database,
            slurm=self.slurm,
            hub=self.hub,
        )

    def check(self) -> None:
        """Whether the options go together.

        Raises:
            Failure: they do not; every problem (exit 2).
        """
        places = {
            "JOB_DIR": self.job_dirs,
            "--jobs-root": self.jobs_root,
            "--manifest": self.manifest,
            "--iris": self.iris,
        }
        given = [name for name, value in places.items() if value]
        problems = []

        def wrong(where: str, found: str, expected: str, fix: str) -> None:
            problems.append(Problem("usage", where, found, expected, fix))

        if self.facts and given:
            expected = "facts, or folders to gather from"
            wrong("--facts", f"beside {', '.join(given)}", expected, "leave out --facts, or the runs")
        if self.facts:
            gathering = {
                "--benchmarks": self.benchmarks,
                "--since": self.since,
                "--db": self.database not in (None, "none"),
                "--slurm": self.slurm,
                "--cache": self.cache,
            }
            for name in (name for name, value in gathering.items() if value):
                wrong(name, "beside --facts", "facts as they were gathered", "leave one of the two out")
        if not self.facts and not given:
            expected = f"one of {', '.join((*places, '--facts'))}"
            wrong("JOB_DIR", "missing", expected, "name a run: audit_evals.py JOB_DIR")
        if self.iris_jobs and not self.iris:
            fix = "name them: --iris gs://BUCKET s3://OTHER"
            wrong("--iris-jobs", "without --iris", "the buckets of its jobs, too", fix)
        if self.all_listed and self.jobs_root and not self.manifest:
            wrong("--jobs-root", "without --manifest", "what a manifest's paths are below", "leave it out")
        if self.cache and not self.remember:
            wrong("--no-cache", "beside --cache", "one of them", "leave one of them out")
        if self.report and self.report.suffix not in _REPORTS:
            expected = f"a name that ends in {' or '.join(_REPORTS)}"
            wrong("--report", str(self.report), expected, "--report FILE.md, or --report FILE.html")
        if problems:
            raise Failure(problems, exit=Exit.USAGE)


def check_outputs(outputs: Mapping[str, Path], folders: Iterable[Path]) -> None:
    """Whether files are to be written outside of jobs' folders, which an audit only reads.

    In one they may take the place of Harbor's own, and a file that is new there looks like a job at work. What facts
    call a folder may be none here, or the root, and counts for nothing.

    Raises:
        Failure: some are not; all of them (exit 2).
    """
    problems = list(_inside(outputs, folders))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def _inside(outputs: Mapping[str, Path], folders: Iterable[Path]) -> Iterator[Problem]:
    jobs = sorted({folder.resolve() for folder in folders if os.path.isdir(folder)})  # noqa: PTH112  no answer is none
    for name, path in outputs.items():
        places = (path.resolve(), path.parent.resolve() / path.name)  # a link there counts as what it is, too
        job = next((job for job in jobs if job.name and any(place.is_relative_to(job) for place in places)), None)
        if job is not None:
            yield Problem("usage", name, str(path), f"a file outside of {job}", f"{name} FILE elsewhere")


@dataclass(frozen=True, slots=True)
class Asked:
    """The runs that are asked for, each once, and what is to be told of folders that were passed over or not listed."""

    entries: tuple[Entry, ...] = ()
    remarks: tuple[Problem, ...] = ()

    @classmethod
    def by(cls, options: AuditOptions) -> Asked:
        """The runs that options name, and those in the folder of jobs that they do.

        Where they name a run, a manifest says more of it, and else only what is in a bucket that they name.

        Raises:
            Failure: the manifest lacks a run that it has to list (code ``not-listed``), or it or the folder of jobs is
                none; as ``read_manifest`` and ``find_jobs`` (exit 2).
        """
        entries = [Entry(path, options.hint) for path in options.job_dirs]
        remarks: list[Problem] = []
        if options.manifest is not None:
            listed = read_manifest(options.manifest, options.jobs_root)
            alone = options.iris_job
            of_iris = [one for one in listed if one.remote and alone in (None, one.path.name)]
            if entries:
                told = [(entry, hint_in(listed, entry.path)) for entry in entries]
                remarks += [_not_listed(options.manifest, entry.path) for entry, hint in told if hint is None]
                if remarks and options.all_listed:
                    raise Failure(remarks, exit=Exit.USAGE)
                entries = [replace(entry, hint=entry.hint.over(hint or NO_HINT)) for entry, hint in told]
                entries += of_iris if options.iris else []
            else:
                entries = listed if alone is None else of_iris
        elif options.jobs_root is not None:
            places = find_jobs(options.jobs_root)
            entries += [Entry(place.folders[0], place=place) for place in places]
            remarks += _passed_over(options.jobs_root, places)
        once: dict[Path, Entry] = {}
        for entry in entries:
            once.setdefault(entry.path.absolute(), entry)
        return cls(tuple(once.values()), tuple(remarks))


def _absolute(path: Path | None) -> str | None:
    return as_text(str(path.absolute())) if path is not None else None


def _not_listed(manifest: Path, folder: Path) -> Problem:
    where, found = as_text(str(folder)), f"{as_text(str(manifest))} does not list it"
    return Problem("not-listed", where, found, "a line with its job_dir", "add one, or leave --manifest out")


def _passed_over(root: Path, places: Iterable[JobPlace]) -> Iterator[Problem]:
    """The folders in a folder of jobs that are none: a run that never wrote its own is among them."""
    whole = root.resolve() if ".." in root.parts else root.absolute()
    jobs = {folder.relative_to(whole).parts[0] for place in places for folder in place.folders}
    others = sorted(
        folder.name
        for folder in whole.iterdir()
        if folder.name not in jobs and folder.name[0] != "." and folder.is_dir()
    )
    if not others:
        return
    number = "1 folder that is no Harbor job" if len(others) == 1 else f"{counted(len(others), 'folder')} that are none"
    found = f"{number}, passed over: {some(map(as_text, others), _MOST_NAMED)}"
    look = "give one as JOB_DIR to be told what it is: a run that failed at once has no job's folder"
    yield Problem("not-a-job", str(root), found, "Harbor jobs", look)
