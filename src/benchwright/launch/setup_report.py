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
from benchwright.launch.sky_pools import costs
from benchwright.launch.watch_commands import watch_array, watch_launch


@dataclass(frozen=True)
class SetupReport:
    """What a set-up found and wrote. ``total`` items are planned, ``cached`` have a whole result.

    ``expected_results`` is how many results the whole tree holds when all that is missing has been added, those of the
    benchmark's other plans included. ``store`` is SkyPilot's bucket, empty for another scheduler.
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
    store: str = ""
    pools_down: tuple[str, ...] = ()

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
        whole, one = ("bundles", "bundle") if self.launches else ("array tasks", "task")
        return (
            *self.notes,
            cached,
            f"Approved {self.approved} (experiment, dataset, fold, repeat) items -> {self.array_tasks} {whole} "
            f"(max {self.largest_bundle} items/{one}).",
        )

    def outcome(self, next_command: str = "") -> Outcome:
        """The report in a script's form; ``next_command`` is the run script's own, without its step."""
        commands = self.commands
        evaluation = self._eval(next_command) if next_command else ""
        here = [f"{next_command} run" if self.approved else evaluation] if next_command else []
        return Outcome(
            summary=self.lines[-1],
            data={
                "benchmark": self.paths.benchmark,
                "identity": self.identity,
                "total": self.total,
                "cached": self.cached,
                "approved": self.approved,
                "array_tasks": self.array_tasks,
                "launches": [
                    {**one.to_dict(), "watch": self._watch_launch(one), "down": one.down} for one in self.launches
                ],
                "arrays": [{**array.to_dict(), "watch": self._watch_array(array)} for array in self.arrays],
                "job_files": [str(path) for path in self.job_files],
                "results_dir": str(self.paths.data),
                "expected_results": self.expected_results,
                "logs": str(self.paths.logs),
                "record": str(self.record),
                "eval": evaluation,
                "pools_down": list(self.pools_down),
            },
            details=self.lines[:-1],
            problems=self.problems,
            next=commands or here,
            next_title=f"Run the following {self._count} command(s) to launch the jobs:" if commands else "next:",
            closing=(*(self._watching(next_command) if commands else ()), *costs(self.pools_down)),
        )

    @property
    def _count(self) -> int:
        """The commands without the lines that only say what they are of."""
        return sum(not command.startswith("#") for command in self.commands)

    def _watching(self, next_command: str) -> tuple[str, ...]:
        """How to watch what was launched, and what comes when all has ended."""
        then = [f"When all have ended:\n    {self._eval(next_command)}"] if next_command else []
        if self.launches:
            watch = [f"Watch each:\n    {self._watch_launch(one)}" for one in self.launches]
            return (*watch, *then)
        return (f"Watch each, by its id and its number of tasks:\n    {self._watch}", *then)

    def _eval(self, next_command: str) -> str:
        """The step that evaluates; where results are in a bucket it has to be told so."""
        where = f" --scheduler skypilot --store {shlex.quote(self.store)}" if self.store else ""
        return f"{next_command} eval{where}"

    def _watch_launch(self, one: SkyLaunch) -> str:
        """The command that watches a launch on SkyPilot."""
        return watch_launch(self.python, one.queue, one.bundles, one.launch, self.paths.logs)

    def _watch_array(self, array: Array) -> str:
        """The command that watches an array on a cluster, whose id is to be put in."""
        return watch_array(self.python, self.paths, array.tasks, self.expected_results) if array.command else ""

    @property
    def _watch(self) -> str:
        """The command that watches an array, whose id and number of tasks are to be put in."""
        return watch_array(self.python, self.paths, "TASKS", self.expected_results)

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
        evaluation = self._eval(next_command)
        downs = ["# when nothing is missing any more:", *self.pools_down] if self.pools_down else []
        if not self.commands:
            return [*([f"{next_command} run"] if self.approved else []), evaluation, *downs]
        ended = "# when all have ended:" if self.launches else "# when all of them have ended:"
        return [*self.commands, ended, evaluation, *downs]

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
                *(f"until its last word, such as DONE: `{self._watch_launch(one)}`" for one in self.launches),
                "after a failure, setup again when no job is at work any more: it approves what is missing",
                complete,
            ]
        return [
            "sbatch says `Submitted batch job JOB_ID`; note each id with its array's number of tasks",
            f"until it says DONE: `{self._watch}`",
            "after a failure, setup again when no array is at work any more: it approves what is missing",
            complete,
        ]
