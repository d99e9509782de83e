"""A batch of resumes: from its options to checked chunks, and from those to launchers that are called once each."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchwright.audit.gather import ShowProgress
from benchwright.contract import Exit, Problem, counted, near_names, usage_error
from benchwright.harbor import Benchmarks, Taxonomy, read_job
from benchwright.harbor.remark import named
from benchwright.harbor.resume import endangered, plan_resume
from benchwright.repair.at_rest import RestQuestion, ask_whether_at_rest
from benchwright.repair.resume.candidates import Candidate, Candidates, FoundJob, find_folders, lacking
from benchwright.repair.resume.chunks import ONCE_MORE, Chunk, Chunks, fire, rest_since
from benchwright.repair.resume.listener import LISTENER, ListenerOptions, Word, checks, policy_changes, settled
from benchwright.repair.resume.presets import known_presets

HOME = ".resume-chunks"
_LAUNCH_FILTER = "jupiter"
"""The errors whose trials the launch script has Harbor delete before a resume (see error_taxonomy.yaml)."""
_EACH = """\
code=0
for job; do "$0" job resume --job-path "$job" --filter-error-type '' || code=$?; done
exit $code
"""
"""A shell's script that has Harbor resume one job after another; no exception is called '', so none is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """What is asked for; see the script's help. Without ``listener`` it is Harbor itself that resumes."""

    jobs_dir: Path
    tag_prefix: str
    candidates: Candidates
    listener: ListenerOptions | None
    program: str | None
    python: str
    harness: Path
    chunk_size: int
    sleep_between: float
    again: Sequence[int]
    question: RestQuestion

    @property
    def launcher(self) -> str:
        """What is called for each chunk: the launcher in the harness's checkout, or Harbor."""
        if self.listener is None:
            return self.program or "harbor"
        return str(self.harness / (self.program or LISTENER))

    @property
    def env_file(self) -> Path | None:
        """The environment that the launcher needs."""
        return self.harness / self.listener.dotenv if self.listener else None


@dataclass(frozen=True)
class Batch:
    """What is to be fired, what is against it with the exit that it amounts to, and what makes legs not comparable.

    ``notes`` are what could not be checked.
    """

    options: BatchOptions
    chunks: Chunks
    problems: Sequence[Problem]
    exit: Exit
    changes: Sequence[str]
    notes: Sequence[str] = ()


def plan_batch(
    options: BatchOptions, *, apply: bool, now: datetime, talk: Callable[[str], None], progress: ShowProgress
) -> Batch:
    """Build the chunks, and look at every job of those that wait. Nothing is written.

    That the launcher or its environment is not on this machine stops an ``apply`` alone.

    Raises:
        Failure: there is no such folder of jobs, or no such chunk (exit 2).
    """
    preset = options.listener.preset if options.listener else None
    found = find_folders(options.jobs_dir, options.candidates.wanted, preset, Benchmarks.load())
    chunks = _chunks(options, found)
    for number in options.again:
        if number > len(chunks.chunks):
            raise usage_error(
                "--again", f"chunk {number}", f"one of 1 to {len(chunks.chunks)}", "name a chunk of the plan"
            )
    fired = {model for one in chunks.chunks if not _waits(one, options) for model in one.models}
    waiting = {one: jobs for one, jobs in found.items() if one.model not in fired}
    jobs = [job for its in waiting.values() for job in its]
    presets = known_presets(options.harness, Path(options.launcher))
    against = [(problem, Exit.USAGE) for problem in _unknown_preset(preset, presets)]
    against += [(problem, Exit.NO) for problem in lacking(waiting, options.jobs_dir)]
    against += [(problem, Exit.ENVIRONMENT if apply else Exit.DONE) for problem in _missing(options)]
    against += (
        [*checks(options.listener, jobs), *_endangered(jobs, options)]
        if options.listener
        else _unprepared(jobs, options)
    )
    if jobs:
        folders = [job.folder for job in jobs]
        rest = ask_whether_at_rest(folders, options.question, now=now, talk=talk, progress=progress)
        against += [(problem, rest.exit) for problem in rest.problems]
    return Batch(
        options=options,
        chunks=chunks,
        problems=[problem for problem, _ in against],
        exit=max((exit for _, exit in against), default=Exit.DONE),
        changes=policy_changes(options.listener, jobs, options.harness) if options.listener else [],
        notes=[_unchecked(preset, options.launcher)] if preset is not None and presets is None else [],
    )


def fire_batch(batch: Batch, *, talk: Callable[[str], None]) -> None:
    """Fire the chunks that wait, one after another; one whose launcher fails does not stop the others.

    Raises:
        Failure: a variable that a secret is in is not set (exit 3); another process is at it, or the folder has the
            plan of another batch (exit 5).
    """
    options, chunks = batch.options, batch.chunks
    environment = dict(os.environ)
    words = {one.number: settled(one.words, environment) for one in chunks.chunks}
    with chunks.lock():
        chunks.keep()
        chunks.again(options.again)
        for chunk in chunks.chunks:
            if chunk.state != "waiting":
                continue
            rest_since(chunks.chunks, options.sleep_between, talk)
            of = f"chunk {chunk.number} of {len(chunks.chunks)}"
            talk(f"{of}: {', '.join(chunk.models)}; its log: {chunk.file('log')}")
            fire(chunk, words[chunk.number], cwd=options.harness, env_file=options.env_file, environment=environment)


def _unknown_preset(preset: str | None, presets: frozenset[str] | None) -> Iterator[Problem]:
    """A preset that the launcher has not: jobs of any benchmark would be taken for its."""
    if preset is not None and presets is not None and preset not in presets:
        fix = near_names(preset, presets) or f"--preset {min(presets)}, or another of them"
        yield Problem("no-such-preset", "--preset", f"{preset!a}", f"one of {', '.join(sorted(presets))}", fix)


def _unchecked(preset: str, launcher: str) -> str:
    return f"the presets of {launcher} are not known here: {preset!a} is passed on unchecked"


def _waits(chunk: Chunk, options: BatchOptions) -> bool:
    return chunk.state == "waiting" or (chunk.number in options.again and chunk.state in ONCE_MORE)


def _chunks(options: BatchOptions, found: dict[Candidate, list[FoundJob]]) -> Chunks:
    preset = f"_{options.listener.preset}" if options.listener else ""
    home = options.jobs_dir.absolute() / HOME / f"{options.tag_prefix}{preset}"
    wanted = options.candidates.wanted
    chunks = []
    for number, start in enumerate(range(0, len(wanted), options.chunk_size), start=1):
        some = wanted[start : start + options.chunk_size]
        mark = home / f"chunk-{number:02d}"
        folders = [job.folder for one in some for job in found[one]]
        words = _words(options, mark.with_name(f"{mark.name}.txt"), len(some), folders)
        chunks.append(Chunk(number, [one.model for one in some], words, mark))
    return Chunks(home, chunks)


def _words(options: BatchOptions, priority_file: Path, size: int, folders: Sequence[Path]) -> list[Word]:
    if options.listener is None:
        return ["bash", "-c", _EACH, options.launcher, *map(str, folders)]
    return options.listener.words(options.python, options.launcher, priority_file, size)


def _missing(options: BatchOptions) -> Iterator[Problem]:
    """What of the launcher is not on this machine."""
    if options.listener is None:
        if shutil.which(options.launcher) is None:
            fix = "install it, or name it with --program"
            yield Problem("no-launcher", options.launcher, "no such program", "Harbor", fix)
        return
    needed = {"no-launcher": Path(options.launcher), "no-environment": options.env_file}
    for code, file in needed.items():
        if file is not None and not file.is_file():
            fix = "name the checkout of the harness with --harness DIR, or BENCHWRIGHT_HARNESS"
            yield Problem(code, str(file), "no such file", "a file of the harness's checkout", fix)


def _endangered(jobs: Sequence[FoundJob], options: BatchOptions) -> Iterator[tuple[Problem, Exit]]:
    """What a resume as the launch scripts do it deletes for good: valid trials by its filter, and what is no trial."""
    names = Taxonomy.load().filters[_LAUNCH_FILTER]
    for job in jobs:
        plan = plan_resume(job.folder, read_job(job.folder))
        foreign = [move.name for move in plan.of_kind("foreign")]
        if foreign:
            found = f"folders that a resume deletes: {named(foreign)}"
            yield Problem("not-prepared", str(job.folder), found, "trials alone", _prepare(job, options)), Exit.NO
        valid = endangered(plan.kept.values(), names)
        if valid:
            found = f"the filter of the launch deletes {counted(len(valid), 'valid trial')}"
            fix = "resume it with --launcher harbor, which deletes none"
            yield Problem("valid-trials", str(job.folder), found, "none", fix), Exit.NO


def _prepare(job: FoundJob, options: BatchOptions) -> str:
    """The command that saves what a resume would delete, with what is known of the jobs here."""
    words = [".venv/bin/python", "scripts/eval/prepare_resume.py", str(job.folder)]
    words += ["--max-resume-count", str(options.listener.max_resume_count)] if options.listener else []
    return shlex.join([*words, *options.question.words, "--apply"])


def _unprepared(jobs: Sequence[FoundJob], options: BatchOptions) -> Iterator[tuple[Problem, Exit]]:
    """The jobs with trials that Harbor would not run again, or with folders that it would delete."""
    for job in jobs:
        moves = plan_resume(job.folder, read_job(job.folder)).moves
        if moves:
            found = f"{counted(len(moves), 'folder')} in it that a resume leaves as they are, or deletes"
            yield Problem("not-prepared", str(job.folder), found, "a prepared job", _prepare(job, options)), Exit.NO
