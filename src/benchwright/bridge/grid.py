"""A plan's experiments on its splits: built through ``tabarena``'s own bundles, saved as its own job batches."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.arena import ArenaSource, Expression, Item, Resources, Split, TaskSubset, did_you_mean
from benchwright.bridge.item import BASE_PATH_VARIABLE
from benchwright.bridge.models import random_configs, registered
from benchwright.bridge.published import PublishedArena
from benchwright.bridge.task_tables import task_table
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.mini import MiniSource, verify

Model = tuple[str, int | str]
"""A model's name, and its number of random configs beside the default one: 0, a number, or ``"all"``."""

_MINI_OPTIONS = {"sequential_local_fold_fitting": True, "model_verbosity": None}
"""Folds one after another in the item's own process, never in Ray, and no line for every boosting round."""
_OURS = {"time_limit_with_preprocessing"}
_NOT_OPTIONS = {"models"}


@dataclass(frozen=True)
class Grid:
    """Experiments on splits. ``items`` are ordered by dataset, split and experiment, as the runner would run them.

    ``jobs`` holds ``tabarena``'s job behind each item; ``metadata`` its task metadata of at least the items' splits.
    ``notes`` are lines worth showing, such as how many items a model's limits excluded.
    """

    source: ArenaSource
    items: tuple[Item, ...]
    jobs: tuple[Any, ...]
    metadata: Any
    notes: tuple[str, ...] = ()

    def only(self, items: Iterable[Item]) -> Grid:
        """The grid of those of its items that are among ``items``."""
        wanted = set(items)
        kept = [pair for pair in zip(self.items, self.jobs, strict=True) if pair[0] in wanted]
        return replace(self, items=tuple(item for item, _ in kept), jobs=tuple(job for _, job in kept))

    def drop(self, items: Iterable[Item]) -> Grid:
        """The grid without ``items``."""
        unwanted = set(items)
        return self.only(item for item in self.items if item not in unwanted)

    def save(self, folder: Path, task_cache: Path | None = None) -> Path:
        """Write the grid as a job batch that the public runner reads as well, and the mini tasks' data with it.

        ``task_cache`` is the folder that ``materialise_tasks`` was given; without it, the items of a published arena
        read OpenML's own cache. A batch of before in ``folder`` is replaced.

        Raises:
            Failure: an experiment's name cannot be a file's, or ``folder`` cannot stand in a task id (exit 2); a mini
                task is not what it was (exit 3).
        """
        from tabarena.benchmark.experiment import JobBatch

        from benchwright.bridge.batch import clear_batch, data_folder, save_batch

        folder = folder.absolute()
        clear_batch(folder)
        metadata = self.metadata.subset_to_jobs(list(self.jobs))
        config = None
        if isinstance(self.source, MiniSource):
            from benchwright.bridge.user_tasks import located, store

            store(verify(item.task_key for item in self.items), data_folder(folder))
            metadata = located(metadata, data_folder(folder))
        elif task_cache is not None:
            from tabarena.caching import CacheConfig

            config = CacheConfig(openml=str(task_cache.absolute()))
        save_batch(JobBatch(jobs=list(self.jobs), task_metadata=metadata, cache_config=config), folder)
        return folder


def plan_grid(
    arena: ArenaSource,
    *,
    models: Sequence[Model],
    subset: TaskSubset | Expression | Mapping[str, Any] | None = None,
    resources: Resources | None = None,
    options: Mapping[str, Any] | None = None,
) -> Grid:
    """Every config of ``models`` on every split of ``arena`` within ``subset``; needs no network.

    ``resources`` are baked into the experiments (None: the arena's own). ``options`` are the fields of ``tabarena``'s
    experiment bundle, and ``time_limit_with_preprocessing``. Fitted models go below
    ``TABARENA_MODEL_ARTIFACTS_BASE_PATH`` while an item runs.

    Raises:
        Failure: a model, an option or a part of the scope is not known (exit 2); every such model and option.
    """
    splits = arena.spec.tasks.select(subset).splits
    experiments = _experiments(arena, models, resources or arena.spec.resources, dict(options or {}))
    metadata = _task_metadata(arena, splits)
    talk = io.StringIO()
    with contextlib.redirect_stdout(talk):
        from tabarena.benchmark.experiment import build_jobs

        jobs = build_jobs(experiments, metadata)
    by_coordinates = {split.coordinates: split for split in splits}
    items = tuple(_item(job, by_coordinates) for job in jobs)
    return Grid(arena, items, tuple(jobs), metadata, tuple(talk.getvalue().splitlines()))


def count_configs(arena: ArenaSource, model: str, configs: int | str) -> tuple[int, int]:
    """The random configs that ``configs`` asks for ("all": the arena's number of them), and how many of them there are.

    Raises:
        Failure: the model is unknown (exit 2).
    """
    wanted = int(_bundle_class(arena).n_random_configs if configs == "all" else configs)
    return wanted, random_configs(model, wanted)


def _experiments(
    arena: ArenaSource, models: Sequence[Model], resources: Resources, options: dict[str, Any]
) -> list[Any]:
    """The experiments of every model, in order; what the bundle prints is left out."""
    with_preprocessing = bool(options.pop("time_limit_with_preprocessing", False))
    bundle = _bundle_class(arena)
    entries, problems = [], _option_problems(bundle, options)
    for name, configs in models:
        try:
            entries.append((registered(name)[1].search_space, configs))
        except Failure as failure:
            problems += failure.problems
        if configs != "all" and (isinstance(configs, str) or configs < 0):
            expected, fix = "all, 0 or a positive number", f"put {(name, 'all')} or another number into the models"
            problems.append(Problem("usage", f"configs of {name}", repr(configs), expected, fix))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    given: dict[str, Any] = dict(_MINI_OPTIONS) if isinstance(arena, MiniSource) else {}
    if os.environ.get(BASE_PATH_VARIABLE):
        given["model_artifacts_base_path"] = os.environ[BASE_PATH_VARIABLE]
    from autogluon.core.searcher.exceptions import ExhaustedSearchSpaceError

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            experiments: list[Any] = bundle(**{**given, **options, "models": entries}).build_experiments(
                time_limit=resources.time_limit,
                num_cpus=resources.num_cpus,
                num_gpus=resources.num_gpus,
                memory_limit=resources.memory_limit,
                time_limit_with_preprocessing=with_preprocessing,
            )
    except ExhaustedSearchSpaceError:
        raise Failure(_too_many_configs(arena, models), exit=Exit.USAGE) from None
    return experiments


def _too_many_configs(arena: ArenaSource, models: Sequence[Model]) -> list[Problem]:
    problems = []
    for name, configs in models:
        wanted, there = count_configs(arena, name, configs)
        if there < wanted:
            found = f"{wanted:,}, more than its search space has"
            fix = f"put {(name, there)} into the job's models in the run script"
            problems.append(Problem("too-many-configs", f"configs of {name}", found, f"at most {there:,}", fix))
    return problems


def _bundle_class(arena: ArenaSource) -> Any:
    from tabarena.benchmark.experiment import BeyondArenaExperimentBundle, TabArenaV0pt1ExperimentBundle

    return BeyondArenaExperimentBundle if arena.spec.name == "beyondarena" else TabArenaV0pt1ExperimentBundle


def _option_problems(bundle: Any, options: Mapping[str, Any]) -> list[Problem]:
    known = {entry.name for entry in dataclasses.fields(bundle)} - _NOT_OPTIONS | _OURS
    return [
        Problem("usage", f"experiment option {name!r}", "no such option", "", did_you_mean(name, known))
        for name in options
        if name not in known
    ]


def _task_metadata(arena: ArenaSource, splits: Sequence[Split]) -> Any:
    """``tabarena``'s metadata of the splits, in their order."""
    from tabarena.benchmark.task.metadata import TaskMetadataCollection

    if isinstance(arena, MiniSource):
        from benchwright.bridge.user_tasks import describe

        collection = describe(verify(split.task_key for split in splits))
    elif isinstance(arena, PublishedArena):
        import pandas as pd

        table = pd.read_csv(task_table(arena.suite))
        datasets = {split.dataset for split in splits}
        collection = TaskMetadataCollection.from_source(table[table["tabarena_task_name"].isin(datasets)])
    else:
        fix = 'take open_arena("mini"), open_arena("tabarena") or open_arena("beyondarena")'
        raise usage_error("arena", arena.spec.name, "one that open_arena gives", fix)
    return collection.subset([(split.dataset, split.fold, split.repeat) for split in splits])


def _item(job: Any, splits: Mapping[tuple[str, int, int], Split]) -> Item:
    dataset, fold, repeat = job.task.as_triple()
    return Item(
        experiment=job.experiment.name,
        dataset=dataset,
        repeat=repeat,
        fold=fold,
        task_key=splits[dataset, repeat, fold].task_key,
    )
