"""Groups of model jobs that share a job batch, and the identity of what they run."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from benchwright.arena import TaskSubset, did_you_mean
from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.checks import IN_PLAN, gpu_memory_problems, model_problems, plan_problems, value_problems
from benchwright.launch.plan import BenchmarkPlan, ModelChoice, ModelJob, ResourcesSetup, SchedulerSetup, is_choice

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_IDENTITY_DIGITS = 8
_OF_THE_RUN = {"parallel", "ask_cluster", "store", "pool", "ask_sky"}
"""What a single job cannot override."""
_Setup = TypeVar("_Setup", ResourcesSetup, SchedulerSetup)


@dataclass(frozen=True)
class Group:
    """Model jobs alike in everything but their models: one job batch."""

    name: str
    models: tuple[ModelChoice, ...]
    resources: ResourcesSetup
    scheduler: SchedulerSetup
    subset: TaskSubset
    experiment: Mapping[str, Any]
    ignore_cache: bool


def group_jobs(plan: BenchmarkPlan) -> tuple[Group, ...]:
    """Apply each job's overrides and group the jobs that then agree, in the order of their first job.

    A group takes its jobs' name, or ``group<index>`` where none is given.

    Raises:
        Failure: the plan holds wrong values; every problem at once (exit 2).
    """
    problems: list[Problem] = []
    merged: dict[str, list[tuple[ModelJob, Group]]] = {}
    problems += plan_problems(plan)
    scope = _subset(plan.task_subset, "task_subset", problems)
    problems += value_problems(vars(plan.resources_setup), "resources_setup")
    problems += value_problems(vars(plan.scheduler_setup), "scheduler_setup")
    for index, job in enumerate(plan.model_jobs):
        where = f"model_jobs[{index}]"
        problems += model_problems(job, where)
        resources = _override(plan.resources_setup, job.resources, f"{where}.resources", problems)
        problems += gpu_memory_problems(resources, f"{where}.resources")
        scheduler = _override(plan.scheduler_setup, job.scheduler, f"{where}.scheduler", problems)
        subset = scope.merged_with(_subset(job.tasks, f"{where}.tasks", problems))
        group = Group("", job.choices, resources, scheduler, subset, job.experiment, job.ignore_cache)
        merged.setdefault(_key(group, where, problems), []).append((job, group))
    groups = [_group(index, members, problems) for index, members in enumerate(merged.values())]
    problems += _name_problems(groups)
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return tuple(groups)


def identity_of(plan: BenchmarkPlan, groups: Sequence[Group]) -> str:
    """A short digest of what a plan runs: arena, models, resources, scope and options.

    Paths, bundling, a job's time and ``ignore_cache`` are left out: changing them changes how a plan is run, and its
    files replace the old ones.
    """
    what = {
        _canonical(choice, _what_fits_get(group.resources), group.subset.to_dict(), dict(group.experiment))
        for group in groups
        for choice in group.models
    }
    return hashlib.sha256(_canonical(plan.arena_name, sorted(what)).encode()).hexdigest()[:_IDENTITY_DIGITS]


def _what_fits_get(resources: ResourcesSetup) -> dict[str, Any]:
    """The resources without what only the job's time is reckoned by."""
    given = asdict(resources)
    del given["time_limit_for_model_agnostic_preprocessing"]
    return given


def _canonical(*values: Any) -> str:
    return json.dumps(values, sort_keys=True)


def _group(index: int, members: Sequence[tuple[ModelJob, Group]], problems: list[Problem]) -> Group:
    names = sorted({str(job.name) for job, _ in members if job.name is not None})
    if len(names) > 1:
        problems.append(
            Problem(
                "group-names",
                "model_jobs",
                f"jobs that differ in nothing but their models are named {' and '.join(map(repr, names))}",
                "one name for them",
                "name them alike in the run script, or put their models into one ModelJob",
            )
        )
    name = names[0] if names else f"group{index}"
    if not _NAME.fullmatch(name):
        problems.append(
            Problem(
                "group-names",
                "model_jobs",
                repr(name),
                "a name of letters, digits, '.', '_' and '-', at most 64",
                "rename this ModelJob in the run script",
            )
        )
    models = tuple(dict.fromkeys(choice for _, group in members for choice in group.models if is_choice(choice)))
    return dataclasses.replace(members[0][1], name=name, models=models)


def _name_problems(groups: Sequence[Group]) -> Iterable[Problem]:
    names = [group.name for group in groups]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem(
            "group-names",
            "model_jobs",
            f"jobs named {name!r} differ in resources, scheduler, tasks, experiment or ignore_cache",
            "a name of its own for each kind",
            "rename all but one kind of these jobs in the run script",
        )


def _key(group: Group, where: str, problems: list[Problem]) -> str:
    """What jobs must agree in to share a group."""
    try:
        return _canonical(
            asdict(group.resources),
            asdict(group.scheduler),
            group.subset.to_dict(),
            dict(group.experiment),
            group.ignore_cache,
        )
    except (TypeError, ValueError) as error:
        expected = "plain numbers, texts, lists and mappings of them"
        problems.append(Problem("usage", where, str(error), expected, IN_PLAN))
        return where


def _subset(value: Any, where: str, problems: list[Problem]) -> TaskSubset:
    try:
        return TaskSubset.of(value)
    except Failure as failure:
        problems += [dataclasses.replace(problem, where=f"{where}: {problem.where}") for problem in failure.problems]
        return TaskSubset()


def _override(setup: _Setup, changes: Mapping[str, Any], where: str, problems: list[Problem]) -> _Setup:
    if not isinstance(changes, Mapping):
        problems.append(Problem("usage", where, repr(changes), "a mapping of fields to their values", IN_PLAN))
        return setup
    known = [entry.name for entry in dataclasses.fields(setup) if entry.name not in _OF_THE_RUN]
    unknown = [name for name in changes if name not in known]
    problems += [
        Problem("usage", f"{where}: {name}", "no such field", "", did_you_mean(str(name), known)) for name in unknown
    ]
    if unknown:
        return setup
    problems += value_problems(changes, where)
    return dataclasses.replace(setup, **changes)
