"""Whether a run is at rest, so that its folder may be changed: what the audit knows of its job, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from benchwright.audit import EvalFacts, JobFacts, judge
from benchwright.audit.command import gathered
from benchwright.audit.gather import ShowProgress
from benchwright.audit.manifest import Hint
from benchwright.audit.options import AuditOptions
from benchwright.contract import Exit, Problem
from benchwright.evaldb.opening import configured
from benchwright.objects.credentials import settings_from_environment

_LIVE = "wait for it to end, or cancel it and wait an hour for what its sandboxes still write"
_BY_THE_FOLDER = "its folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestQuestion:
    """What is known beside the folder: the scheduler's job, and that it has ended where no scheduler ran it."""

    slurm_job_id: str | None = None
    ended: bool = False
    database: Literal["postgres", "supabase", "none"] | None = None
    slurm: bool | None = None

    @property
    def words(self) -> list[str]:
        """The options of a script that ask the same, but for the job, which is one run's."""
        words = ["--ended"] if self.ended else []
        words += ["--db", self.database] if self.database else []
        return words + {None: [], True: ["--slurm"], False: ["--no-slurm"]}[self.slurm]


@dataclass(frozen=True, slots=True)
class Rest:
    """The facts of a run's evals, and why it is not known to be at rest; ``exit`` is what that amounts to."""

    facts: Sequence[EvalFacts]
    problems: Sequence[Problem] = ()
    exit: Exit = Exit.DONE

    @property
    def job(self) -> JobFacts | None:
        """The job that ran it, None where nobody knows of one."""
        return self.facts[0].job if self.facts else None


def ask_whether_at_rest(
    job_dirs: Sequence[Path],
    question: RestQuestion,
    *,
    now: datetime,
    talk: Callable[[str], None],
    progress: ShowProgress,
) -> Rest:
    """Ask the scheduler, the folders, and the database where one is configured; nothing is written anywhere.

    Raises:
        Failure: it is no job's folder (exit 2).
    """
    database = question.database
    if database is None and not configured(settings_from_environment()):
        database = "none"
    options = AuditOptions(
        job_dirs=tuple(job_dirs),
        hint=Hint(slurm_job_id=question.slurm_job_id, measurement=False),  # of a measurement run no job would be asked
        database=database,
        hub=False,
        slurm=question.slurm,
        remember=False,
    )
    found = gathered(options, now=now, talk=talk, progress=progress)
    problems = list(found.troubles.problems)
    exit = found.troubles.exit or Exit.DONE
    for facts in found.facts:
        problem = _unrest(facts, question, now)
        if problem is not None and problem not in problems:
            problems.append(problem)
            exit = Exit.REFUSED
    return Rest(found.facts, problems, exit)


def _unrest(facts: EvalFacts, question: RestQuestion, now: datetime) -> Problem | None:
    """Why a run is not known to be at rest."""
    where = facts.folder or facts.run_tag
    by_folder = facts.job is None or facts.job.told_by == _BY_THE_FOLDER
    if question.ended and facts.kind == "local" and by_folder and not facts.moving:
        return None
    judgement = judge(facts, now=now)
    if judgement.verdict == "WAIT":
        return Problem("live", where, judgement.why, "a job that has ended", _LIVE)
    if facts.job is None:
        fix = "name the scheduler's job with --slurm-job-id"
        fix += "; or say --ended, if it had none and you know that it has ended" if facts.kind == "local" else ""
        return Problem("liveness-unknown", where, facts.why_unknown("job"), "a job known to have ended", fix)
    return None
