"""From a model's name to its benchmark's plan: the defaults it takes, each with where it comes from."""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from benchwright.arena import ModelInfo
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import RunPaths
from benchwright.launch.cards import Cards, cards_here
from benchwright.launch.hardware import Hardware, find_hardware
from benchwright.launch.partitions import Partition, read_partitions
from benchwright.launch.plan import PathSetup
from benchwright.launch.run_scope import choose_configs, choose_scope
from benchwright.launch.sky_launch import run_location

RERUN_SUFFIX = " [Rerun]"
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Request:
    """What someone asks for; None and ``()`` leave a choice to the benchmark's protocol.

    ``configs`` is the text "all" or a number of random configs beside the default one, ``subset`` texts that all have
    to hold, ``fake_memory_for_estimates`` the GB of a GPU model's card, and ``partitions`` a file of the user's own.
    ``store`` and ``accelerators`` are SkyPilot's bucket and its card for a GPU model.
    """

    model: str
    workspace: Path
    arena: str | None = None
    configs: str | None = None
    subset: Sequence[str] = ()
    name: str | None = None
    scheduler: str | None = None
    partition: str | None = None
    partitions: Path | None = None
    fake_memory_for_estimates: int | None = None
    python_path: str | None = None
    store: str | None = None
    accelerators: str | None = None


@dataclass(frozen=True)
class Choices:
    """What a run script is filled with: the identities, what is fitted, and where.

    ``key`` names the script and the benchmark. ``num_configs`` is ``"all"`` or the number of random configs beside the
    default one. ``subset`` and each entry of ``eval_subsets`` are subset expressions; an empty one is the whole arena.
    ``partition`` None is the cluster's own default. ``result_suffix`` tells a run of a model that the arena has
    reference results of from those. ``store`` and ``accelerators`` are SkyPilot's, empty where nothing says them.
    ``why`` says in a word or two where each value comes from.
    """

    model: str
    key: str
    benchmark_name: str
    arena: str
    num_configs: int | str
    subset: tuple[str, ...]
    eval_subsets: tuple[tuple[str, ...], ...]
    compute: str
    resources: Mapping[str, int]
    scheduler: str
    partition: str | None
    bundle_size: int
    exclusive_node: bool
    store: str
    accelerators: str
    smoke_extra_hyperparameters: Mapping[str, str]
    result_suffix: str
    workspace: str
    python_path: str
    why: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The choices as JSON data, without their reasons."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "why"}
        return values | {
            "subset": list(self.subset),
            "eval_subsets": [list(subset) for subset in self.eval_subsets],
            "resources": dict(self.resources),
            "smoke_extra_hyperparameters": dict(self.smoke_extra_hyperparameters),
        }


def choose(request: Request, *, cards: Cards | None = None, today: datetime.date | None = None) -> Choices:
    """The benchmark protocol's choices for one model, each of which the request may override.

    A model with a search space runs its default config and all random ones, any other its default alone. A model that
    fits some kinds of problem only is run and evaluated on those. ``cards`` are this machine's, ``today`` the date in
    the benchmark's name.

    Raises:
        Failure: values are wrong or missing; all problems at once (exit 2).
    """
    from benchwright.bridge import model_info, model_infos, open_arena

    problems: list[Problem] = []
    cards = cards_here() if cards is None else cards
    arena = open_arena(request.arena or "tabarena")
    scheduler = request.scheduler or ("local" if arena.spec.name == "mini" else "slurm")
    info = _attempt(problems, lambda: model_info(request.model))
    key = script_key(info, model_infos()) if info else "model"
    name = request.name if request.name is not None else f"{_plain(key)}_{today or datetime.date.today():%d%m%Y}"
    partitions = _attempt(problems, lambda: read_partitions(request.partitions)) or {}
    configs = _attempt(problems, lambda: choose_configs(request.configs, info, arena))
    scope = _attempt(problems, lambda: choose_scope(request.subset, info, arena))
    store = _attempt(problems, lambda: _store(request))
    paths = _attempt(problems, lambda: RunPaths(request.workspace, name))
    python = _attempt(problems, lambda: _python(request))
    hardware = _attempt(problems, lambda: _hardware(request, info, scheduler, partitions, cards))
    if problems or not (info and configs and scope and paths and python and hardware):
        raise Failure(problems, exit=Exit.USAGE)
    told = info.compute == "gpu" and not info.reads_num_gpus and not cards.number
    hosted = info.name in [method.method for method in arena.reference_methods()]
    return Choices(
        model=info.name,
        key=key,
        benchmark_name=name,
        arena=arena.spec.name,
        num_configs=configs[0],
        subset=scope.subset,
        eval_subsets=scope.eval_subsets,
        compute=info.compute,
        resources={"num_gpus": 1, "fake_memory_for_estimates": hardware.gpu_memory} if hardware.gpu_memory else {},
        scheduler=scheduler,
        partition=hardware.partition,
        bundle_size=hardware.bundle_size,
        exclusive_node=hardware.exclusive_node,
        store=store or "",
        accelerators=hardware.accelerators,
        smoke_extra_hyperparameters={"device": "cpu"} if told else {},
        result_suffix=RERUN_SUFFIX if hosted else "",
        workspace=str(paths.workspace),
        python_path=python,
        why={
            **_plain_reasons(request, info, key),
            **hardware.why,
            "num_configs": configs[1],
            "subset": scope.subset_from,
            "eval_subsets": scope.eval_from,
            "smoke_extra_hyperparameters": "no CUDA device here" if told else "nothing to tell the model",
            "result_suffix": f"{arena.spec.title} has results of it" if hosted else "no results of it there",
        },
    )


def script_key(info: ModelInfo, infos: Iterable[ModelInfo]) -> str:
    """A model's word for file names: its folder, or its own name where several models share the folder.

    RealMLP is ``realmlp`` like its folder, RealMLP_GPU, of the same folder, ``realmlpgpu``.
    """
    shared = [other for other in infos if other.key == info.key and other.name != info.name]
    return _plain(info.name) if shared and _plain(info.name) != _plain(info.key) else info.key


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _attempt(problems: list[Problem], work: Callable[[], _Value]) -> _Value | None:
    """The value, or None and its problems among the others: all are said at once."""
    try:
        return work()
    except Failure as failure:
        problems += failure.problems
        return None


def _python(request: Request) -> str:
    python = PathSetup(request.workspace, request.python_path or sys.executable).python
    if not python.isprintable():  # a byte that is no UTF-8 is a surrogate here, which no script can hold
        fix = "link its environment to a printable name with ln -s, and give the Python below that"
        raise usage_error("--python-path", ascii(python), "a path in printable text", fix)
    return python


def _store(request: Request) -> str:
    """SkyPilot's bucket, if one is given; without, the run script takes the one that its environment names."""
    return str(run_location(request.store, "")) if request.store else ""


def _hardware(
    request: Request, info: ModelInfo | None, scheduler: str, partitions: Mapping[str, Partition], cards: Cards
) -> Hardware:
    return find_hardware(
        info,
        scheduler,
        partition=request.partition,
        accelerators=request.accelerators,
        memory=request.fake_memory_for_estimates,
        partitions=partitions,
        cards=cards,
    )


def _plain_reasons(request: Request, info: ModelInfo, key: str) -> dict[str, str]:
    """Where the values come from that are either given or a plain default."""
    default_scheduler = "the mini arena runs here" if request.arena == "mini" else "default"
    folder = "its folder in the registry" if key == info.key else f"its name, since it shares the folder {info.key}"
    return {
        "model": "given" if request.model == info.name else f"the registry's name of {request.model!r}",
        "key": folder,
        "benchmark_name": "default: key and date" if request.name is None else "given",
        "arena": "given" if request.arena else "default",
        "compute": "the registry",
        "scheduler": "given" if request.scheduler else default_scheduler,
        "store": "given" if request.store else "none given: the run script's --store, or BENCHWRIGHT_STORE",
        "workspace": "results, job files and logs go below it",
        "python_path": "given" if request.python_path else "this interpreter",
    }
