"""What a set-up found and wrote, for people and for scripts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Outcome, Problem
from benchwright.files import RunPaths
from benchwright.launch.arrays import Array, launch_commands
from benchwright.launch.sky_launch import SkyLaunch


@dataclass(frozen=True)
class SetupReport:
    """What a set-up found and wrote. ``total`` items are planned, ``cached`` have a whole result.

    ``expected_results`` is how many results the whole tree holds when all that is missing has been added, those of the
    benchmark's other plans included.
    """

    paths: RunPaths
    python: str
    identity: str
    total: int
    cached: int
    expected_results: int
    arrays: tuple[Array, ...]
    record: Path
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    launches: tuple[SkyLaunch, ...] = ()

    @property
    def approved(self) -> int:
        """Items that are missing: the results this run will add."""
        return self.total - self.cached

    @property
    def job_files(self) -> tuple[Path, ...]:
        """The job files, one an array."""
        return tuple(array.job_file for array in self.arrays)

    @property
    def array_tasks(self) -> int:
        """The tasks of all arrays."""
        return sum(array.tasks for array in self.arrays)

    @property
    def largest_bundle(self) -> int:
        """The most items of a task."""
        return max((array.largest for array in self.arrays), default=0)

    @property
    def commands(self) -> list[str]:
        """The commands that launch the arrays on a cluster, or the workers of a queue."""
        return launch_commands(self.arrays) + [line for one in self.launches for line in (one.headline, *one.commands)]

    @property
    def lines(self) -> tuple[str, ...]:
        """The report for people."""
        cached = f"{self.cached} of {self.total} items have their result already"
        if not self.approved:
            return (*self.notes, cached, "Nothing is missing: there is nothing to launch.")
        return (
            *self.notes,
            cached,
            f"Approved {self.approved} (experiment, dataset, fold, repeat) items -> {self.array_tasks} array tasks "
            f"(max {self.largest_bundle} items/task).",
        )

    def outcome(self, next_command: str = "") -> Outcome:
        """The report in a script's form; ``next_command`` is the run script's own, without its step."""
        commands = self.commands
        step = "run" if self.approved else "eval"
        here = [f"{next_command} {step}"] if next_command else []
        return Outcome(
            summary=self.lines[-1],
            data={
                "benchmark": self.paths.benchmark,
                "identity": self.identity,
                "total": self.total,
                "cached": self.cached,
                "approved": self.approved,
                "array_tasks": self.array_tasks,
                "launches": [one.to_dict() for one in self.launches],
                "arrays": [array.to_dict() for array in self.arrays],
                "job_files": [str(path) for path in self.job_files],
                "results_dir": str(self.paths.data),
                "expected_results": self.expected_results,
                "logs": str(self.paths.logs),
                "record": str(self.record),
            },
            details=self.lines[:-1],
            problems=self.problems,
            next=commands or here,
            next_title=f"Run the following {self._count} command(s) to launch the jobs:" if commands else "next:",
            closing=self._watching(next_command) if commands else (),
        )

    @property
    def _count(self) -> int:
        """The commands without the lines that only say what they are of."""
        return sum(not command.startswith("#") for command in self.commands)

    def _watching(self, next_command: str) -> tuple[str, ...]:
        """How to watch what was launched, and what comes when all has ended."""
        if self.launches:
            watch = [f"Watch each:\n    {self._watch_launch(one)}" for one in self.launches]
            end = [
                f"When a benchmark is finished, its pool costs on:\n    {one.down}" for one in self.launches if one.pool
            ]
            then = [f"When all have ended:\n    {next_command} eval --scheduler skypilot"] if next_command else []
            return (*watch, *then, *end)
        then = [f"When all have ended:\n    {next_command} eval"] if next_command else []
        return (f"Watch each, by its id and its number of tasks:\n    {self._watch}", *then)

    def _watch_launch(self, one: SkyLaunch) -> str:
        """The command that watches a launch on SkyPilot."""
        module = "benchwright.launch.sky_progress"
        return shlex.join([self.python, "-m", module, one.queue, str(one.bundles), "--launch", one.launch])

    @property
    def _watch(self) -> str:
        """The command that watches an array, whose id and number of tasks are to be put in."""
        return shlex.join(
            [
                *(self.python, "-P", "-m", "benchwright.node.slurm_progress", "JOB_ID", "TASKS"),
                *("--results-dir", str(self.paths.data), "--expected-results", str(self.expected_results)),
                *("--log-dir", f"{self.paths.logs}/JOB_ID"),
            ]
        )

    @property
    def facts(self) -> list[str]:
        """What to know of the run for a hand-off sheet, with everything to judge."""
        return [
            f"missing: {self.approved} of {self.total} items",
            f"results in the end: {self.expected_results} in {self.paths.data}",
            f"logs: below {self.paths.logs}",
            *(f"tasks of {array.job_file.name}: {array.tasks}" for array in self.arrays if array.command),
            *self.notes,
            *(" ".join(str(problem).split()) for problem in self.problems),
        ]

    def sheet(self, next_command: str) -> dict[str, Any]:
        """The fields of a hand-off sheet."""
        return {
            "title": f"Run {self.paths.benchmark}",
            "why": f"{self.paths.benchmark} is set up; what is missing has to be fitted, then evaluated.",
            "facts": self.facts,
            "commands": self.steps(next_command),
            "checks": self.checks,
        }

    def steps(self, next_command: str) -> list[str]:
        """The commands for a hand-off sheet."""
        if not self.commands:
            return [f"{next_command} {step}" for step in (("run", "eval") if self.approved else ("eval",))]
        if self.launches:
            down = [one.down for one in self.launches if one.pool]
            return [*self.commands, "# when all have ended:", f"{next_command} eval --scheduler skypilot", *down]
        return [*self.commands, "# when all of them have ended:", f"{next_command} eval"]

    @property
    def checks(self) -> list[str]:
        """What to look for after the commands of a hand-off sheet."""
        complete = f"complete: {self.expected_results} results, and a second setup that approves nothing"
        if not self.commands:
            return [
                "run ends with 0 failed and 0 left; after a failure, setup and run again do what is missing",
                complete,
            ]
        if self.launches:
            return [
                "sky jobs queue lists the launch's jobs; note their ids",
                *(f"until it says DONE or WORKERS GONE: `{self._watch_launch(one)}`" for one in self.launches),
                "after a failure, setup again when no job is at work any more: it approves what is missing",
                complete,
            ]
        return [
            "sbatch says `Submitted batch job JOB_ID`; note each id with its array's number of tasks",
            f"until it says DONE: `{self._watch}`",
            "after a failure, setup again when no array is at work any more: it approves what is missing",
            complete,
        ]
