"""Set-up: from a plan to the job files of what is missing. May be killed anywhere and run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchwright.arena import Item
from benchwright.contract import Problem, Progress
from benchwright.files import FileLock
from benchwright.launch.arrays import Array, launch_commands, split
from benchwright.launch.beyond_limits import default_partition, worth_knowing
from benchwright.launch.bundles import Bundles, make_bundles
from benchwright.launch.cache_check import CacheState, check_cache
from benchwright.launch.checks import require_folders
from benchwright.launch.cluster import MOST_TASKS, Cluster
from benchwright.launch.groups import Group, group_jobs, identity_of
from benchwright.launch.job_file import job_defaults, write_job_file
from benchwright.launch.model_needs import installed_for
from benchwright.launch.plan import BenchmarkPlan, SkyPilotSetup, SlurmSetup
from benchwright.launch.record import read_records, record_path, remove_own_files, versions_of, write_record
from benchwright.launch.resolve import GroupGrid, open_source, resolve
from benchwright.launch.sbatch import sbatch_command
from benchwright.launch.schedulers import cluster_of, refuse_for_cluster, refuse_launched
from benchwright.launch.setup_report import SetupReport
from benchwright.launch.sky_launch import SkyLaunch, SkyStage, fetch_run, run_location
from benchwright.launch.sky_pools import pools_down
from benchwright.node import remove_abandoned


def setup_jobs(plan: BenchmarkPlan, progress: Progress | None = None) -> SetupReport:
    """Check a plan, find what is missing of it, and write the job batches and job files of that.

    The files of another plan of the same benchmark are left alone; those of an earlier set-up of this plan are
    replaced. The plan's record is removed first and written last, so that a run never sees half a set-up.

    Raises:
        Failure: the plan is wrong, or more than its cluster takes (exit 2, every problem); this machine lacks
            something, such as the cluster's client programs (exit 3); the cluster does not answer (exit 4); another
            set-up, a run or a launch of this benchmark is at work (exit 5).
    """
    groups = group_jobs(plan)
    cluster = cluster_of(plan, groups)
    paths = plan.paths
    require_folders(paths)
    remove_abandoned()
    work = _Setup(plan, groups, cluster, progress)
    work.check_plan()
    purpose = f"setup of {plan.benchmark_name}"
    with FileLock(paths.setup_lock, purpose), FileLock(paths.run_lock, purpose):
        return work.run()


_STAGES = ("checking the plan", "fetching model weights", "checking results", "preparing tasks", "writing job files")


class _Setup:
    def __init__(
        self, plan: BenchmarkPlan, groups: Sequence[Group], cluster: Cluster | None, progress: Progress | None
    ) -> None:
        self._plan = plan
        self._groups = groups
        self._paths = plan.paths
        self._cluster = cluster
        self._progress = progress
        self._identity = identity_of(plan, groups)
        self._notes: list[str] = []

    def check_plan(self) -> None:
        """Hold the plan against the arena, the registry, its Python and its cluster; nothing is written."""
        self._begin("checking the plan")
        self._versions = versions_of(self._plan.path_setup.python)
        self._source = open_source(self._plan)
        self._grids = resolve(self._source, self._groups)
        refuse_for_cluster(self._plan, self._cluster, self._grids)

    def run(self) -> SetupReport:
        grids = self._grids
        records = list(read_records(self._paths)[0].values())
        self._notes += refuse_launched(self._plan, self._groups, self._paths, records)
        self._notes += [note for one in grids for note in one.grid.notes]
        self._prefetch(grids)
        fetched = self._mirror()
        state = self._check(grids)
        if state.by_ends:
            self._notes.append(
                f"{state.by_ends:,} results were looked at by their ends alone; the next setup reads more of them"
            )
        missing = [[item for item in one.grid.items if item not in state.done] for one in grids]
        again = sum(map(self._is_on_disk, _of_those_that_ignore(grids, missing)))
        self._materialise(missing)
        record = self._cleared()
        pieces = [(one, self._write(one, items)) for one, items in zip(grids, missing, strict=True) if items]
        arrays = [array for _, made in pieces for array in made]
        launches = tuple(self._stage(pieces))
        if self._cluster is not None:
            self._notes += worth_knowing(self._cluster, grids, sum(array.tasks for array in arrays))
        total, approved = sum(len(one.grid.items) for one in grids), sum(map(len, missing))
        expected_results = state.on_disk + approved - again
        write_record(
            self._paths,
            self._identity,
            plan=self._plan.to_dict(),
            job_files=[array.job_file for array in arrays],
            commands=launch_commands(arrays),
            runs=self._runs,
            experiments=_experiments(grids),
            tasks=_tasks(grids),
            protocol=self._source.spec.validation_protocol,
            approved=approved,
            total=total,
            expected_results=expected_results,
            default_partition=default_partition(self._cluster, grids) if self._cluster else None,
            versions=_versions(self._versions, _installed_for(grids, self._plan.path_setup.python)),
        )
        if self._progress:
            self._progress(len(_STAGES), len(_STAGES))
        return SetupReport(
            paths=self._paths,
            python=self._plan.path_setup.python,
            identity=self._identity,
            total=total,
            cached=total - approved,
            expected_results=expected_results,
            arrays=tuple(arrays),
            record=record,
            problems=(*fetched, *state.problems),
            notes=tuple(self._notes),
            launches=launches,
            store=self._store,
            pools_down=tuple(pools_down(self._paths)),
        )

    def _cleared(self) -> Path:
        """Make room for the job files, without those of an earlier set-up; where the record of this one will be."""
        self._begin("writing job files")
        record = record_path(self._paths, self._identity)
        record.unlink(missing_ok=True)
        remove_own_files(self._paths, self._identity)
        if isinstance(self._plan.scheduler_setup, SlurmSetup):
            self._paths.logs.mkdir(parents=True, exist_ok=True)  # a task whose log has no folder fails without a word
        return record

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

    def _is_on_disk(self, item: Item) -> bool:
        return self._paths.result(item.experiment, item.task_key, item.repeat, item.fold).exists()

    @property
    def _store(self) -> str:
        """SkyPilot's bucket, where the plan is for it."""
        setup = self._plan.scheduler_setup
        return setup.store if isinstance(setup, SkyPilotSetup) else ""

    @property
    def _runs(self) -> list[str]:
        """The run's address in the bucket, where there is one."""
        return [str(run_location(self._store, self._paths.benchmark))] if self._store else []

    def _mirror(self) -> Sequence[Problem]:
        """Bring what workers have put into the bucket here, for the cache check to see."""
        if not isinstance(self._plan.scheduler_setup, SkyPilotSetup):
            return ()
        self._begin("checking results", "fetching results from the bucket")
        mirrored = fetch_run(self._plan.scheduler_setup.store, self._paths)
        if mirrored.fetched:
            self._notes.append(str(mirrored))
        return mirrored.problems

    def _stage(self, pieces: Sequence[tuple[GroupGrid, list[Array]]]) -> Iterable[SkyLaunch]:
        """Put the job files of each group into the bucket, where the plan is for one."""
        setup = self._plan.scheduler_setup
        if not isinstance(setup, SkyPilotSetup) or not pieces:
            return
        stage = SkyStage(run_location(setup.store, self._paths.benchmark), self._paths, self._plan.path_setup.python)
        for one, arrays in pieces:
            assert isinstance(one.group.scheduler, SkyPilotSetup)
            job_files = [array.job_file for array in arrays]
            weights = [name for name, _ in one.models] if self._is_offline(one) else []
            yield stage.launch(one.group, one.group.scheduler, one.resources, job_files, weights=weights)
        self._notes += stage.notes

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

    def _materialise(self, missing: Sequence[Sequence[Item]]) -> None:
        """Put the data of the datasets that something is missing of where the items find it."""
        from benchwright.bridge import materialise_tasks

        datasets = dict.fromkeys(item.dataset for items in missing for item in items)
        if datasets:
            self._begin("preparing tasks")
            materialise_tasks(self._source, list(datasets), self._paths.task_cache)

    def _write(self, one: GroupGrid, items: Sequence[Item]) -> list[Array]:
        """Write one group's job batch, and a job file for each array: of one bundle size, no larger than it may be."""
        label = self._label(one.group)
        batch = self._paths.job_batch(label)
        one.grid.only(items).save(batch, self._paths.task_cache)
        defaults = job_defaults(
            one.group,
            one.resources,
            python=self._plan.path_setup.python,
            job_batch=batch,
            paths=self._paths,
            offline=self._is_offline(one),
        )
        sizes = make_bundles(items, one.group.scheduler, one.splits)
        arrays = []
        for bundles in sizes:
            parts = list(split(bundles, self._most_tasks(one.group)))
            for number, part in enumerate(parts):
                path = self._paths.job_file(
                    label,
                    size=bundles.size if len(sizes) > 1 else None,
                    batch=number if len(parts) > 1 else None,
                )
                write_job_file(path, part, defaults)
                arrays.append(self._array(one, part, path))
        return arrays

    def _most_tasks(self, group: Group) -> int | None:
        if not isinstance(group.scheduler, SlurmSetup):
            return None
        own = group.scheduler.max_array_size or MOST_TASKS
        return own if self._cluster is None else min(own, self._cluster.most_tasks)

    def _array(self, one: GroupGrid, bundles: Bundles, path: Path) -> Array:
        """The array of one job file, with its command where a cluster runs it."""
        sizes = [len(bundle) for bundle in bundles.bundles]
        setup = one.group.scheduler
        command = ""
        if isinstance(setup, SlurmSetup):
            command = sbatch_command(
                one.group,
                one.resources,
                setup,
                name=self._plan.benchmark_name,
                tasks=len(sizes),
                largest=max(sizes),
                logs=self._paths.logs,
                own_logs=self._cluster is None or self._cluster.makes_log_folders,
                job_file=path,
            )
        return Array(path, len(sizes), sum(sizes), max(sizes), command)

    def _is_offline(self, one: GroupGrid) -> bool:
        """Whether the items of a group can do without the Hub: the weights of all its models have been fetched."""
        from benchwright.bridge import model_info

        if not (self._plan.offline_weights and self._plan.prefetch_model_weights):
            return False
        return all(model_info(name).prefetches_weights for name, _ in one.models)


def _of_those_that_ignore(grids: Iterable[GroupGrid], items: Iterable[Sequence[Item]]) -> Iterable[Item]:
    """The items of the groups that run everything again."""
    return (item for one, own in zip(grids, items, strict=True) if one.group.ignore_cache for item in own)


def _installed_for(grids: Sequence[GroupGrid], python: str) -> dict[str, str]:
    """The versions of the planned models' own packages."""
    from benchwright.bridge import model_info

    names = dict.fromkeys(name for one in grids for name, _ in one.models)
    return installed_for(map(model_info, names), python)


def _versions(base: Mapping[str, str | None], own: Mapping[str, str]) -> dict[str, str | None]:
    """All versions, each package once: xgboost-cpu, where a model asks for it, is what stands for xgboost."""
    return {name: version for name, version in base.items() if f"{name}-cpu" not in own} | dict(own)


def _experiments(grids: Sequence[GroupGrid]) -> set[str]:
    return {item.experiment for one in grids for item in one.grid.items}


def _tasks(grids: Sequence[GroupGrid]) -> set[str]:
    return {item.task_key for one in grids for item in one.grid.items}
