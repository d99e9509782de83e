"""A benchmark as data: which models run on which splits, with what, in which bundles and where.

Names and defaults are those of the public launcher's plan objects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeGuard, cast

from benchwright.arena import ArenaSource, Expression, TaskSubset
from benchwright.files import RunPaths

ModelChoice = str | tuple[str, int | str]
"""A registered model, alone or with its number of random configs ("all", 0 for the default config alone)."""


@dataclass(frozen=True)
class ModelJob:
    """Models that run alike. What is left out is the plan's.

    ``resources`` and ``scheduler`` replace single fields of the plan's set-ups, ``tasks`` single filters of its scope;
    ``experiment`` holds options of the experiment bundle, ``ignore_cache`` runs what is done already again.
    """

    models: ModelChoice | Sequence[ModelChoice]
    name: str | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    tasks: TaskSubset | Expression | None = None
    experiment: Mapping[str, Any] = field(default_factory=dict)
    ignore_cache: bool = False

    @property
    def choices(self) -> tuple[ModelChoice, ...]:
        """The models as a flat tuple; a single one may be given bare."""
        if is_choice(self.models) or not isinstance(self.models, (list, tuple)):
            return (cast(ModelChoice, self.models),)
        return tuple(self.models)


def is_choice(value: object) -> TypeGuard[ModelChoice]:
    """Whether a value names one model, rather than several: ``("LightGBM", "XGBoost")`` are two."""
    if isinstance(value, tuple) and len(value) == 2:
        name, configs = value
        return isinstance(name, str) and (configs == "all" or (isinstance(configs, int) and configs is not True))
    return isinstance(value, str)


@dataclass(frozen=True)
class PathSetup:
    """Where everything goes, and the Python that fits."""

    workspace: Path
    python_path: str = sys.executable

    @property
    def python(self) -> str:
        """The Python as a command that works from any folder. A virtual environment's links are not resolved."""
        path = os.path.expanduser(self.python_path)  # noqa: PTH111
        return os.path.abspath(path) if os.sep in path else path  # noqa: PTH100

    def run_paths(self, benchmark_name: str) -> RunPaths:
        """The paths of one benchmark.

        Raises:
            Failure: the name is not a plain file name, or the workspace no path (exit 2).
        """
        return RunPaths(self.workspace, benchmark_name)


@dataclass(frozen=True)
class ResourcesSetup:
    """What one config gets; None is the arena's own value.

    ``time_limit`` bounds a config's fit in seconds, ``memory_limit`` is in GB. ``time_limit_with_preprocessing`` counts
    the model-agnostic preprocessing into the time limit; ``time_limit_for_model_agnostic_preprocessing`` are seconds
    that a cluster's job gets for it on top. ``fake_memory_for_estimates`` (GB) stands in for the memory limit of a job
    with a GPU, whose parallel folds have to fit its card.
    """

    time_limit: float | None = None
    num_cpus: int | None = None
    num_gpus: int | None = None
    memory_limit: float | None = None
    time_limit_with_preprocessing: bool = False
    time_limit_for_model_agnostic_preprocessing: float | None = None
    fake_memory_for_estimates: float | None = None


@dataclass(frozen=True)
class SchedulerSetup:
    """How items are bundled: ``bundle_size`` a task, 1 for a dataset above either of the large limits.

    Schedulers extend this class by what is theirs; none of it changes what is run.
    """

    bundle_size: int = 5
    bundle_size_per_dataset: Mapping[str, int] = field(default_factory=dict)
    large_dataset_n_features: int = 5000
    large_dataset_n_samples: int = 100_000


@dataclass(frozen=True)
class LocalSetup(SchedulerSetup):
    """This machine: ``parallel`` items side by side."""

    parallel: int = 1


@dataclass(frozen=True)
class SlurmSetup(SchedulerSetup):
    """A SLURM cluster. A partition that is None is the cluster's own default; a task may have its node for itself.

    ``extra_gres`` is asked for beside the GPUs (``localtmp:100``). ``mem_per_handle`` asks for memory by the GPU, or by
    the CPU where there is none. ``time_limit_overhead`` are hours that a task gets beside its items. An array has at
    most ``max_array_size`` tasks (None: 29,999, or fewer if the cluster takes no more); ``array_job_limit`` of them run
    at once. ``setup_ray_for_slurm_shared_resources_environment`` gives each item a Ray session of its own. Without
    ``ask_cluster``, job files and commands are written on a machine that is no head node, and nothing is checked.
    """

    cpu_partition: str | None = None
    gpu_partition: str | None = None
    extra_gres: str | None = None
    mem_per_handle: bool = False
    exclusive_node: bool = False
    time_limit_overhead: float = 1
    max_array_size: int | None = None
    array_job_limit: int = 100
    setup_ray_for_slurm_shared_resources_environment: bool = True
    ask_cluster: bool = True


@dataclass(frozen=True)
class GCPSlurmSetup(SlurmSetup):
    """The public preset for TabArena's cluster at Google Cloud; ``partitions.yaml`` says what its partitions are."""

    cpu_partition: str | None = "cpun416mtspotinteractive"
    gpu_partition: str | None = "gpurtxpro6000flex"
    exclusive_node: bool = True


@dataclass(frozen=True)
class SkyPilotSetup(SchedulerSetup):
    """Workers on machines that SkyPilot starts, fed from a queue in a bucket.

    ``store`` is the bucket, ``gs://BUCKET/PREFIX``, or ``s3://`` or ``r2://``; the run goes below it, under the
    benchmark's name. ``workers`` machines take bundles until none is left: as managed jobs of their own, or with
    ``pool`` on a pool whose environment is built once a machine. ``cpus`` and ``memory`` (GB, ``64+``) are what one
    item gets unless given; ``accelerators`` (``RTXPRO6000:1``) go to the jobs with a GPU, ``disk_size`` is in GB.
    Without ``ask_sky``, an earlier launch is judged by its markers in the bucket alone.
    """

    store: str = ""
    workers: int = 10
    pool: bool = False
    infra: str = "gcp"
    cpus: str | None = None
    memory: str | None = None
    accelerators: str | None = None
    disk_size: int | None = None
    use_spot: bool = True
    ask_sky: bool = True


@dataclass(frozen=True)
class BenchmarkPlan:
    """A whole benchmark. ``arena`` is the name of one, or an opened one.

    With ``offline_weights``, items whose models had their weights fetched by set-up do without the Hub; a worker on a
    machine of its own fetches them itself, before its first item.
    """

    benchmark_name: str
    arena: str | ArenaSource
    model_jobs: Sequence[ModelJob]
    path_setup: PathSetup
    scheduler_setup: SchedulerSetup = field(default_factory=LocalSetup)
    resources_setup: ResourcesSetup = field(default_factory=ResourcesSetup)
    task_subset: TaskSubset | Expression | None = None
    prefetch_model_weights: bool = True
    offline_weights: bool = True

    @property
    def arena_name(self) -> str:
        """The arena's name, without opening it."""
        return self.arena if isinstance(self.arena, str) else self.arena.spec.name

    @property
    def paths(self) -> RunPaths:
        """Every path of the run."""
        return self.path_setup.run_paths(self.benchmark_name)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON data."""
        return {
            "benchmark_name": self.benchmark_name,
            "arena": self.arena_name,
            "model_jobs": [_job_dict(job) for job in self.model_jobs],
            "path_setup": {"workspace": str(self.path_setup.workspace), "python_path": self.path_setup.python_path},
            "scheduler_setup": {"kind": type(self.scheduler_setup).__name__, **asdict(self.scheduler_setup)},
            "resources_setup": asdict(self.resources_setup),
            "task_subset": TaskSubset.of(self.task_subset).to_dict(),
            "prefetch_model_weights": self.prefetch_model_weights,
            "offline_weights": self.offline_weights,
        }


def _job_dict(job: ModelJob) -> dict[str, Any]:
    return {
        "models": [list(choice) if isinstance(choice, tuple) else choice for choice in job.choices],
        "name": job.name,
        "resources": dict(job.resources),
        "scheduler": dict(job.scheduler),
        "tasks": None if job.tasks is None else TaskSubset.of(job.tasks).to_dict(),
        "experiment": dict(job.experiment),
        "ignore_cache": job.ignore_cache,
    }
