"""What a repair of registered rows is asked for, and which options each takes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from benchwright.contract import Exit, Failure, Problem

if TYPE_CHECKING:
    from benchwright.evaldb import Backend

Action = Literal[
    "fix-model", "fix-benchmark", "link-traces", "deregister", "drop-stale", "drop-orphan-benchmark", "undo"
]
ACTIONS: tuple[Action, ...] = get_args(Action)
_NEEDS = {
    "fix-model": ("row", "model_name"),
    "fix-benchmark": ("row", "benchmark_name"),
    "link-traces": ("row", "link"),
    "deregister": ("row",),
    "drop-stale": (),
    "drop-orphan-benchmark": ("benchmark_name",),
    "undo": ("file",),
}
_JUDGING = ("manifest", "jobs_root", "profile", "benchmarks", "grandfather", "slurm")
_TAKES = {
    "fix-benchmark": ("benchmarks",),
    "drop-stale": ("row",),
    "link-traces": ("job_dir", "manifest", "jobs_root"),
    "deregister": ("job_dir", "iris", "iris_job", "iris_jobs", *_JUDGING),
}
"""What else an action takes."""
_NOTHING = (None, "", ())
_OF_ALL = ("action", "username", "database", "undo_dir", "apply")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions:
    """What is asked for; see the script's help."""

    action: Action
    row: str | None = None
    model_name: str | None = None
    benchmark_name: str | None = None
    link: str | None = None
    file: Path | None = None
    job_dir: Path | None = None
    iris: tuple[str, ...] = ()
    iris_job: str | None = None
    iris_jobs: Path | None = None
    manifest: Path | None = None
    jobs_root: Path | None = None
    profile: str | None = None
    benchmarks: Path | None = None
    grandfather: Path | None = None
    slurm: bool | None = None
    username: str | None = None
    database: Backend | None = None
    undo_dir: Path | None = None
    apply: bool = False

    def check(self) -> None:
        """Whether the options go together.

        Raises:
            Failure: they do not; every problem (exit 2).
        """
        needs = _NEEDS[self.action]
        takes = (*needs, *_TAKES.get(self.action, ()))
        problems = [
            Problem("usage", _option(name), "missing", f"one, for {self.action}", _given(name))
            for name in needs
            if not getattr(self, name)
        ]
        problems += [
            Problem(
                "usage", _option(name), f"given to {self.action}", f"no {_option(name)}", f"leave {_option(name)} out"
            )
            for name in (one.name for one in fields(self))
            if getattr(self, name) not in _NOTHING and name not in (*takes, *_OF_ALL)
        ]
        if bool(self.iris) != bool(self.iris_job) or (self.iris and self.job_dir):
            problems.append(
                Problem(
                    "usage",
                    "--iris",
                    "without --iris-job, or beside --job-dir",
                    "one run, by its place",
                    "--iris BUCKET ... --iris-job NAME, or --job-dir DIR",
                )
            )
        if self.action == "link-traces" and self.manifest and not self.job_dir:
            expected = "the run that it is to tell of"
            problems.append(Problem("usage", "--manifest", "without --job-dir", expected, "--job-dir DIR"))
        if self.jobs_root and not self.manifest:
            found, expected = "without --manifest", "what a manifest's paths are below"
            problems.append(Problem("usage", "--jobs-root", found, expected, "leave it out"))
        if problems:
            raise Failure(problems, exit=Exit.USAGE)


def _given(name: str) -> str:
    return "undo FILE" if name == "file" else f"{_option(name)} {name.upper()}"


def _option(name: str) -> str:
    return "FILE" if name == "file" else f"--{name.replace('_', '-')}"
