"""A plan held against the arena and the registry: the grids of its groups, or everything that does not fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchwright.arena import ArenaSource, Item, Resources, Split, did_you_mean
from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.groups import Group
from benchwright.launch.plan import BenchmarkPlan, ModelChoice

if TYPE_CHECKING:
    from benchwright.bridge import Grid

_NAMED = 3


@dataclass(frozen=True)
class GroupGrid:
    """A group with its resources filled in, its splits and its grid of items."""

    group: Group
    resources: Resources
    splits: tuple[Split, ...]
    models: tuple[tuple[str, int | str], ...]
    grid: Grid


def open_source(plan: BenchmarkPlan) -> ArenaSource:
    """The plan's arena.

    Raises:
        Failure: there is none of that name (exit 2).
    """
    from benchwright.bridge import open_arena

    return open_arena(plan.arena) if isinstance(plan.arena, str) else plan.arena


def resolve(source: ArenaSource, groups: Sequence[Group]) -> list[GroupGrid]:
    """Build each group's grid.

    Raises:
        Failure: models, splits or datasets that are not there, or one item in two groups; all of them (exit 2).
    """
    problems: list[Problem] = []
    scopes = [_scope(source, group, problems) for group in groups]
    models = [_models(group.models, problems) for group in groups]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    grids = [_grid(source, *parts) for parts in zip(groups, scopes, models, strict=True)]
    problems += _twice(grids)
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return grids


def _scope(source: ArenaSource, group: Group, problems: list[Problem]) -> tuple[Split, ...]:
    tasks = source.spec.tasks
    sizes = group.scheduler.bundle_size_per_dataset
    problems += [
        Problem(
            "usage", f"bundle_size_per_dataset[{name!r}]", "no such dataset", "", did_you_mean(name, tasks.datasets)
        )
        for name in sizes
        if name not in tasks.datasets
    ]
    try:
        splits = tasks.select(group.subset).splits
    except Failure as failure:
        problems += failure.problems
        return ()
    if not splits:
        problems.append(
            Problem(
                "no-splits",
                f"tasks of {group.name}",
                f"no split of {source.spec.name} is within the scope",
                fix="widen SUBSET or the job's tasks in the run script",
            )
        )
    return splits


def _models(choices: Iterable[ModelChoice], problems: list[Problem]) -> tuple[tuple[str, int | str], ...]:
    """Each model with its number of configs; a bare one gets the benchmark protocol's."""
    from benchwright.bridge import model_info

    found: list[tuple[str, int | str]] = []
    for choice in choices:
        name, configs = choice if isinstance(choice, tuple) else (choice, None)
        try:
            info = model_info(name)
        except Failure as failure:
            problems += failure.problems
            continue
        if configs not in (None, 0) and not info.has_search_space:
            asked = f"{configs} configs, but no search space"
            fix = f"put {(name, 0)} into the job's models in the run script"
            problems.append(Problem("no-search-space", f"model {name}", asked, "0", fix))
        elif configs is None:
            found.append((name, "all" if info.has_search_space else 0))
        else:
            found.append((name, configs))
    return tuple(found)


def _grid(
    source: ArenaSource, group: Group, splits: tuple[Split, ...], models: tuple[tuple[str, int | str], ...]
) -> GroupGrid:
    from benchwright.bridge import plan_grid

    given = {
        name: value
        for name in (entry.name for entry in dataclasses.fields(Resources))
        if (value := getattr(group.resources, name)) is not None
    }
    resources = dataclasses.replace(source.spec.resources, **given)
    options = dict(group.experiment)
    if group.resources.time_limit_with_preprocessing:
        options["time_limit_with_preprocessing"] = True
    grid = plan_grid(source, models=list(models), subset=group.subset, resources=resources, options=options)
    return GroupGrid(group, resources, splits, models, grid)


def _twice(grids: Sequence[GroupGrid]) -> Iterator[Problem]:
    """Items of two groups: they would write the same result."""
    owner: dict[Item, str] = {}
    shared: dict[tuple[str, str], list[Item]] = {}
    for one in grids:
        for item in one.grid.items:
            first = owner.setdefault(item, one.group.name)
            if first != one.group.name:
                shared.setdefault((first, one.group.name), []).append(item)
    for (first, second), items in shared.items():
        experiments = sorted({item.experiment for item in items})
        yield Problem(
            "planned-twice",
            f"model jobs {first} and {second}",
            f"{len(items)} items are in both, of {', '.join(experiments[:_NAMED])}"
            + (f" and {len(experiments) - _NAMED} more" if len(experiments) > _NAMED else ""),
            "each experiment on each split once",
            "take the model, or these tasks, out of one of the two jobs in the run script",
        )
