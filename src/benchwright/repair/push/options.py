"""What a push is asked for, and the audit of the one run that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from benchwright.audit.command import gathered
from benchwright.audit.gather import Gathered, ShowProgress
from benchwright.audit.manifest import Hint
from benchwright.audit.options import AuditOptions
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.repair.push.identity import NO_NAMES, Asked
from benchwright.repair.push.iris_copy import IrisPlace, is_address
from benchwright.repair.push.traces import repo_asked_for

Talk = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    """What is asked for; see the script's help. ``place`` is a folder, or the address of one in a bucket.

    ``forced`` is about the row alone, and ``replace_traces`` about traces of this run that hold more.
    """

    place: str
    hf_repo: str | None = None
    skip_hf: bool = False
    forced: bool = False
    replace_traces: bool = False
    asked: Asked = NO_NAMES
    username: str | None = None
    manifest: Path | None = None
    jobs_root: Path | None = None
    profile: str | None = None
    benchmarks: Path | None = None
    grandfather: Path | None = None
    database: Literal["postgres", "supabase"] | None = None
    slurm: bool | None = None
    iris_jobs: Path | None = None
    apply: bool = False

    @property
    def iris(self) -> IrisPlace | None:
        """The job in a bucket, None where it is a folder here.

        Raises:
            Failure: an address that is none of a job (exit 2).
        """
        return IrisPlace.parse(self.place) if is_address(self.place) else None

    @property
    def tag(self) -> str:
        """What the run is called, before it is looked at."""
        return self.place.rstrip("/").rpartition("/")[2] or self.place

    def hint(self) -> Hint:
        """What the options say of the run, over what the manifest says.

        Raises:
            Failure: ``--hf-repo`` is none (exit 2).
        """
        traces = repo_asked_for(self.hf_repo) if self.hf_repo else None
        asked = self.asked
        return Hint(agent=asked.agent, model=asked.model, benchmark=asked.benchmark, traces=traces)


def audited(options: PushOptions, hint: Hint, *, now: datetime, talk: Talk, progress: ShowProgress) -> Gathered:
    """The facts of the run, as the audit gathers them.

    Raises:
        Failure: options that do not go together (exit 2); as ``audit.command.gathered`` does; there is no such Iris job
            (code ``no-such-job``, exit 1).
    """
    if options.replace_traces and options.skip_hf:
        raise usage_error("--replace-traces", "beside --skip-hf", "one of them", "leave one of them out")
    iris = options.iris
    asked = AuditOptions(
        job_dirs=() if iris else (Path(options.place),),
        iris=(iris.bucket,) if iris else (),
        iris_jobs=options.iris_jobs,
        iris_job=iris.name if iris else None,
        hint=hint,
        manifest=options.manifest,
        all_listed=True,
        jobs_root=options.jobs_root,
        profile=options.profile,
        benchmarks=options.benchmarks,
        grandfather=options.grandfather,
        database=options.database,
        hub=not options.skip_hf,
        slurm=options.slurm,
        remember=False,
    )
    asked.check()
    found = gathered(asked, now=now, talk=talk, progress=progress)
    if found.legs:
        return found
    if found.troubles.exit in (Exit.ENVIRONMENT, Exit.REMOTE):
        raise Failure(found.troubles.problems, exit=found.troubles.exit)
    raise Failure(
        Problem(
            "no-such-job",
            options.place,
            "no such job in the bucket or the jobs table",
            "an Iris job",
            "list what there is: scripts/iris/check_progress.py --iris BUCKET",
        )
    )
