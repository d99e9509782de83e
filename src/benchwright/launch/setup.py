"""Set-up: from a plan to the job files of what is missing. May be killed anywhere and run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchwright.arena import ArenaSource, Item
from benchwright.contract import Outcome, Problem, Progress
from benchwright.files import FileLock, RunPaths
from benchwright.launch.bundles import Bundles, make_bundles
from benchwright.launch.cache_check import CacheState, check_cache
from benchwright.launch.checks import require_folders
from benchwright.launch.groups import Group, group_jobs, identity_of
from benchwright.launch.job_file import job_defaults, write_job_file
from benchwright.launch.model_needs import installed_for
from benchwright.launch.plan import BenchmarkPlan
from benchwright.launch.record import read_records, record_path, remove_own_files, versions_of, write_record
from benchwright.launch.resolve import GroupGrid, open_source, resolve
from benchwright.launch.schedulers import require_this_machine
from benchwright.node import remove_abandoned


@dataclass(frozen=True)
class SetupReport:
    """What a set-up found and wrote. ``total`` items are planned, ``cached`` have a whole result."""

    benchmark: str
    identity: str
    total: int
    cached: int
    array_tasks: int
    largest_bundle: int
    job_files: tuple[Path, ...]
    record: Path
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def approved(self) -> int:
        """Items that are missing: the results this run will add."""
        return self.total - self.cached

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
        step = "run" if self.approved else "eval"
        return Outcome(
            summary=self.lines[-1],
            data={
                "benchmark": self.benchmark,
                "identity": self.identity,
                "total": self.total,
                "cached": self.cached,
                "approved": self.approved,
                "array_tasks": self.array_tasks,
                "job_files": [str(path) for path in self.job_files],
                "record": str(self.record),
            },
            details=self.lines[:-1],
            problems=self.problems,
            next=[f"{next_command} {step}"] if next_command else (),
        )


def setup_jobs(plan: BenchmarkPlan, progress: Progress | None = None) -> SetupReport:
    """Check a plan, find what is missing of it, and write the job batches and job files of that.

    The files of another plan of the same benchmark are left alone; those of an earlier set-up of this plan are
    replaced. The plan's record is removed first and written last, so that a run never sees half a set-up.

    Raises:
        Failure: the plan is wrong (exit 2, every problem), this machine or version lacks something (exit 3), or
            another set-up or a run of this benchmark is at work (exit 5).
    """
    groups = group_jobs(plan)
    require_this_machine(plan, groups)
    paths = plan.paths
    require_folders(paths)
    remove_abandoned()
    purpose = f"setup of {plan.benchmark_name}"
    with FileLock(paths.setup_lock, purpose), FileLock(paths.run_lock, purpose):
        return _Setup(plan, groups, paths, progress).run()


_STAGES = ("checking the plan", "fetching model weights", "checking results", "preparing tasks", "writing job files")


class _Setup:
    def __init__(
        self, plan: BenchmarkPlan, groups: Sequence[Group], paths: RunPaths, progress: Progress | None
    ) -> None:
        self._plan = plan
        self._groups = groups
        self._paths = paths
        self._progress = progress
        self._identity = identity_of(plan, groups)
        self._notes: list[str] = []

    def run(self) -> SetupReport:
        self._begin("checking the plan")
        versions = versions_of(self._plan.path_setup.python)
        source = open_source(self._plan)
        grids = resolve(source, self._groups)
        self._notes += [note for one in grids for note in one.grid.notes]
        self._prefetch(grids)
        state = self._check(grids)
        if state.by_ends:
            self._notes.append(
                f"{state.by_ends:,} results were looked at by their ends alone; the next setup reads more of them"
            )
        missing = [[item for item in one.grid.items if item not in state.done] for one in grids]
        self._materialise(source, missing)
        self._begin("writing job files")
        record = record_path(self._paths, self._identity)
        record.unlink(missing_ok=True)
        remove_own_files(self._paths, self._identity)
        written = [self._write(one, items) for one, items in zip(grids, missing, strict=True) if items]
        job_files = [path for files, _ in written for path in files]
        total = sum(len(one.grid.items) for one in grids)
        write_record(
            self._paths,
            self._identity,
            plan=self._plan.to_dict(),
            job_files=job_files,
            experiments=_experiments(grids),
            tasks=_tasks(grids),
            approved=sum(map(len, missing)),
            total=total,
            versions=versions | _installed_for(grids, self._plan.path_setup.python),
        )
        if self._progress:
            self._progress(len(_STAGES), len(_STAGES))
        bundles = [bundle for _, sizes in written for size in sizes for bundle in size.bundles]
        return SetupReport(
            benchmark=self._plan.benchmark_name,
            identity=self._identity,
            total=total,
            cached=total - sum(map(len, missing)),
            array_tasks=len(bundles),
            largest_bundle=max(map(len, bundles), default=0),
            job_files=tuple(job_files),
            record=record,
            problems=state.problems,
            notes=tuple(self._notes),
        )

    def _begin(self, stage: str, note: str = "") -> None:
        """Say which stage of the set-up is at work."""
        if self._progress:
            self._progress(_STAGES.index(stage), len(_STAGES), note=note or stage)

    def _label(self, group: Group) -> str:
        """A group's name in file names: with the plan's identity, no other plan's file can bear it."""
        return f"{group.name}-{self._identity}"

    def _prefetch(self, grids: Sequence[GroupGrid]) -> None:
        if not self._plan.prefetch_model_weights:
            return
        from benchwright.bridge import prefetch_weights

        self._begin("fetching model weights")
        models = dict.fromkeys(name for one in grids for name, _ in one.models)
        self._notes += [str(done) for done in prefetch_weights(list(models))]

    def _check(self, grids: Sequence[GroupGrid]) -> CacheState:
        """The cache check of every group but those that run everything again."""
        records, unreadable = read_records(self._paths, other_than=self._identity)
        self._begin("checking results")
        state = check_cache(
            self._paths,
            [item for one in grids if not one.group.ignore_cache for item in one.grid.items],
            experiments=_experiments(grids).union(*(record.experiments for record in records.values())),
            tasks=_tasks(grids).union(*(record.tasks for record in records.values())),
            report=lambda done, total: self._begin("checking results", f"checking results: {done:,} of {total:,}"),
        )
        # The strangers may be of the plan whose record cannot be read.
        found = [problem for problem in state.problems if not (unreadable and problem.code == "foreign-results")]
        return replace(state, problems=(*unreadable, *found))

    def _materialise(self, source: ArenaSource, missing: Sequence[Sequence[Item]]) -> None:
        """Put the data of the datasets that something is missing of where the items find it."""
        from benchwright.bridge import materialise_tasks

        datasets = dict.fromkeys(item.dataset for items in missing for item in items)
        if datasets:
            self._begin("preparing tasks")
            materialise_tasks(source, list(datasets), self._paths.task_cache)

    def _write(self, one: GroupGrid, items: Sequence[Item]) -> tuple[list[Path], list[Bundles]]:
        """Write one group's job batch, and a job file for each bundle size."""
        label = self._label(one.group)
        batch = self._paths.job_batch(label)
        one.grid.only(items).save(batch, self._paths.task_cache)
        defaults = job_defaults(
            one.group,
            one.resources,
            python=self._plan.path_setup.python,
            job_batch=batch,
            output=self._paths.output,
        )
        sizes = make_bundles(items, one.group.scheduler, one.splits)
        files = []
        for bundles in sizes:
            path = self._paths.job_file(label, size=bundles.size if len(sizes) > 1 else None)
            write_job_file(path, bundles, defaults)
            files.append(path)
        return files, sizes


def _installed_for(grids: Sequence[GroupGrid], python: str) -> dict[str, str]:
    """The versions of the planned models' own packages."""
    from benchwright.bridge import model_info

    names = dict.fromkeys(name for one in grids for name, _ in one.models)
    return installed_for(map(model_info, names), python)


def _experiments(grids: Sequence[GroupGrid]) -> set[str]:
    return {item.experiment for one in grids for item in one.grid.items}


def _tasks(grids: Sequence[GroupGrid]) -> set[str]:
    return {item.task_key for one in grids for item in one.grid.items}
