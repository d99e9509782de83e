"""The scheduler of a plan: what it needs of this machine and of the plan, and what it still has at work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import RunPaths
from benchwright.launch.beyond_limits import refuse_beyond_limits
from benchwright.launch.cluster import Cluster, ask_cluster, refuse_unfinished
from benchwright.launch.groups import Group
from benchwright.launch.plan import BenchmarkPlan, SkyPilotSetup, SlurmSetup
from benchwright.launch.record import PlanRecord
from benchwright.launch.resolve import GroupGrid
from benchwright.launch.sky_drain import refuse_undrained
from benchwright.launch.sky_launch import run_location
from benchwright.slurm import Clients

UNASKED = "the cluster was not asked: see yourself that it takes these arrays, and has none of before at work"


def cluster_of(plan: BenchmarkPlan, groups: Sequence[Group]) -> Cluster | None:
    """The cluster that a plan is for; None for this machine, for SkyPilot, and where the plan says not to ask.

    Raises:
        Failure: SLURM or the submit script could not read a path, or the bucket is none (exit 2), this is no head node
            (exit 3), or the controller does not answer (exit 4).
    """
    setup = plan.scheduler_setup
    if isinstance(setup, SkyPilotSetup):
        run_location(setup.store, plan.benchmark_name)
    if not isinstance(setup, SlurmSetup):
        return None
    python = plan.path_setup.python
    if '"' in python or "\\" in python:  # it reads the job file without a parser of JSON
        fix = "link its environment to a plain name with ln -s, and give PYTHON_PATH the Python below that"
        raise usage_error("python_path", repr(python), "a path without quotes and backslashes", fix)
    logs = str(plan.paths.logs)
    if "\\" in logs:  # it would take the whole name of a log literally, the array's id in it too
        raise usage_error(
            "workspace", repr(logs), "a path without backslashes", "give the run script another WORKSPACE"
        )
    if not setup.ask_cluster:
        return None
    return ask_cluster(Clients(), otherwise=_otherwise(groups))


def refuse_for_cluster(plan: BenchmarkPlan, cluster: Cluster | None, grids: Sequence[GroupGrid]) -> None:
    """Refuse a plan whose jobs could not run on its cluster; one for this machine has nothing to fear.

    Raises:
        Failure: every such thing (exit 2).
    """
    if not isinstance(plan.scheduler_setup, SlurmSetup | SkyPilotSetup):
        return
    problems = [problem for one in grids for problem in _model_problems(one)]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    if cluster is not None:
        refuse_beyond_limits(cluster, grids)


def refuse_launched(
    plan: BenchmarkPlan, groups: Sequence[Group], paths: RunPaths, records: Sequence[PlanRecord]
) -> list[str]:
    """Refuse to fit anew what an earlier launch still fits; what cannot be known is returned as notes.

    A set-up for this machine asks only where an earlier one, by its record, was for a cluster or a bucket.

    Raises:
        Failure: such jobs, by their ids (exit 5); no answer (exit 3 or 4).
    """
    return _refuse_jobs(plan, groups, paths, records) + _refuse_launches(plan, records)


def _refuse_launches(plan: BenchmarkPlan, records: Sequence[PlanRecord]) -> list[str]:
    """Refuse launches in a bucket, the plan's own and those that earlier set-ups staged, that have not drained."""
    from benchwright.objects import open_store

    setup = plan.scheduler_setup
    runs = dict.fromkeys(run for record in records for run in record.runs)
    if isinstance(setup, SkyPilotSetup):
        runs |= {str(run_location(setup.store, plan.benchmark_name)): None}
    ask_sky = setup.ask_sky if isinstance(setup, SkyPilotSetup) else True
    return [note for run in runs for note in refuse_undrained(open_store(run), plan.paths.logs, ask_sky=ask_sky)]


def _refuse_jobs(
    plan: BenchmarkPlan, groups: Sequence[Group], paths: RunPaths, records: Sequence[PlanRecord]
) -> list[str]:
    """Refuse jobs of an earlier launch on SLURM."""
    setup, launched = plan.scheduler_setup, any(record.commands for record in records)
    if isinstance(setup, SlurmSetup):
        if not setup.ask_cluster:
            return [UNASKED]
        refuse_unfinished(Clients(), paths, records, otherwise=_otherwise(groups))
    elif launched:
        try:
            refuse_unfinished(Clients(), paths, records, otherwise="")
        except Failure as failure:
            if failure.exit != Exit.ENVIRONMENT:
                raise
            return [f"an earlier set-up was for SLURM, which cannot be asked here: {failure.problems[0].found}"]
    return []


def _otherwise(groups: Iterable[Group]) -> str:
    """What to do on a machine that is no head node."""
    memory = next((group.resources.fake_memory_for_estimates for group in groups if group.resources.num_gpus), None)
    card = f", fake_memory_for_estimates, {memory:g} GB, then being this machine's card's" if memory else ""
    return (
        f"run setup on the head node; or setup --scheduler local{card}; "
        "or SlurmSetup(ask_cluster=False), to write job files and commands unchecked"
    )


def _model_problems(one: GroupGrid) -> Iterator[Problem]:
    """Models that would have a GPU for nothing, or fit for days without the one they need."""
    from benchwright.bridge import model_info

    gpus, setup = one.resources.num_gpus, one.group.scheduler
    if gpus and isinstance(setup, SkyPilotSetup) and not setup.accelerators:
        found, expected = f"{gpus} GPU and no accelerators", f"the card and its number, as CARD:{gpus}"
        fix = f"take the step with --accelerators CARD:{gpus}, or put it into ACCELERATORS of the run script"
        yield Problem("no-accelerators", f"model job {one.group.name}", found, expected, fix)
    for name, _ in one.models:
        compute = model_info(name).compute
        if compute == "cpu" and gpus:
            found = f"{gpus} GPU for {name}, which runs on the CPU"
            fix = "give it a ModelJob without num_gpus and fake_memory_for_estimates in the run script"
            yield Problem("gpu-for-cpu-model", f"model job {one.group.name}", found, "none", fix)
        elif compute == "gpu" and not gpus:
            found = f"no GPU for {name}, which runs on one"
            fix = "give it a ModelJob with num_gpus and fake_memory_for_estimates in the run script"
            yield Problem("no-gpu-for-model", f"model job {one.group.name}", found, "a GPU", fix)
