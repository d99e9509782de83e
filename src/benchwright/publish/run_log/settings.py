"""What a run was: models, scheduler and cards, from a plan record or, without one, from the plan's own text."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.publish.bindings import bindings_of
from benchwright.publish.run_log.names import bound_names
from benchwright.publish.run_log.script import is_literal

_JOB = "ModelJob"
_MODELS = "models"
"""The first parameter of a job, by name."""
_PARTITIONS = {"cpu_partition": False, "gpu_partition": True}
"""Which setting names the partition of jobs without and with a GPU."""
_SETTINGS = (
    *_PARTITIONS,
    "exclusive_node",
    "infra",
    "gpu_accelerator",
    "workers",
    "pool_name",
    "bundle_size",
    "num_gpus",
    "fake_memory_for_estimates",
    "time_limit",
)
_UNITS = {"fake_memory_for_estimates": " GB", "time_limit": " s"}


@dataclass(frozen=True, slots=True)
class Settings:
    """``models`` with their numbers of random configs, the ``scheduler`` class, and the settings that are given.

    A number of configs is "all", a count beside the default config (0 for that alone), or None where it is not said.
    ``values`` holds every value that a setting has in some job.
    """

    models: tuple[tuple[str, int | str | None], ...]
    scheduler: str | None
    values: Mapping[str, tuple[Any, ...]]
    arena: str | None = None

    @property
    def models_text(self) -> str:
        """The models for people, empty where none are known."""
        return ", ".join(f"{name}{_configs_text(configs)}" for name, configs in self.models)

    @property
    def text(self) -> str:
        """The scheduler and the settings for people, empty where nothing is known."""
        parts = [f"`{self.scheduler}`"] if self.scheduler else []
        for name, values in self.values.items():
            shown = " and ".join(f"{value:g}" if isinstance(value, float) else f"{value}" for value in values)
            parts.append(f"{name} {shown}{_UNITS.get(name, '')}")
        return ", ".join(parts)


def settings_of_plans(plans: Sequence[Mapping[str, Any]]) -> Settings:
    """The settings in the plans of a run's records."""
    jobs = [job for plan in plans for job in plan.get("model_jobs", ())]
    models = dict.fromkeys(choice for job in jobs for choice in _choices(job.get("models")))
    schedulers = dict.fromkeys(str(plan["scheduler_setup"]["kind"]) for plan in plans if "scheduler_setup" in plan)
    arenas = dict.fromkeys(str(plan["arena"]) for plan in plans if "arena" in plan)
    values = _collected(pair for plan in plans for pair in _pairs(plan))
    used = {bool(job.get("resources", {}).get("num_gpus")) for job in jobs}
    for name, with_gpu in _PARTITIONS.items():
        if with_gpu not in used:
            values.pop(name, None)
    return Settings(tuple(models), " and ".join(schedulers) or None, values, " and ".join(arenas) or None)


def settings_of_text(plan: str) -> Settings:
    """The settings that the text of a plan spells out, or gives by the name of a constant at its top."""
    tree = _with_constants(ast.parse(plan))
    keywords = [argument for node in ast.walk(tree) for argument in _arguments(node)]
    entries = [
        (key.value, value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
    models = dict.fromkeys(choice for name, value in keywords if name == _MODELS for choice in _choices(_value(value)))
    schedulers = dict.fromkeys(
        ast.unparse(value.func) for name, value in keywords if name == "scheduler_setup" and isinstance(value, ast.Call)
    )
    values = _collected((name, _value(value)) for name, value in [*keywords, *entries])
    return Settings(tuple(models), " and ".join(schedulers) or None, values)


def _with_constants(tree: ast.Module) -> ast.Module:
    """A plan with literals in the place of the names that its top binds to one, if nothing else binds or changes them.

    A literal whose name is bound again, or changed, is taken out: it is not what the plan uses in the end.
    """
    bindings = bindings_of(tree)
    binders = Counter(name for statement in tree.body for name in bound_names(statement))
    constants = _Constants()
    for statement in list(tree.body):
        constants.visit(statement)  # which changes it in place
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if is_literal(value):
                if len(bindings[name]) > 1:
                    tree.body.remove(statement)
                elif binders[name] == 1:
                    constants.values[name] = value
    return tree


class _Constants(ast.NodeTransformer):
    """Puts literals in the place of names."""

    def __init__(self) -> None:
        self.values: dict[str, ast.expr] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def _arguments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """A named argument, or the first of a job, which are its models."""
    match node:
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=[first, *_]) if called == _JOB:
            yield _MODELS, first


def _value(node: ast.expr) -> Any:
    """An expression's value where it is a literal, else None."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _pairs(content: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value of JSON data, however deep."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield name, value
            yield from _pairs(value)
    elif isinstance(content, list):
        for value in content:
            yield from _pairs(value)


def _collected(pairs: Iterable[tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """The settings among names and values, in their order here; what is not given or off is left out."""
    found: dict[str, dict[Any, None]] = {}
    for name, value in pairs:
        if name in _SETTINGS and value and isinstance(value, str | int | float):
            found.setdefault(name, {})[value] = None
    return {name: tuple(found[name]) for name in _SETTINGS if name in found}


def _choices(models: Any) -> Iterator[tuple[str, int | str | None]]:
    """The models of a job: a name, a name with its number of configs, or several of those."""
    match models:
        case str(name):
            yield name, None
        case [str(name), "all" | int() as configs]:
            yield name, configs
        case [*several]:
            for one in several:
                yield from _choices(one)


def _configs_text(configs: int | str | None) -> str:
    if configs is None:
        return ""
    if configs == 0:
        return " (default config)"
    return " (all configs)" if configs == "all" else f" (default config and {configs} random)"
