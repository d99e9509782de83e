"""What a run's plan records say of the arguments that the copied ``setup()`` reads and does not name the values of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchwright.publish.run_log.records import SetUp

_SCHEDULER = "scheduler"
_SCHEDULERS = {
    "LocalSetup": "local", "SlurmSetup": "slurm", "GCPSlurmSetup": "slurm", "SkyPilotSetup": "skypilot"
}  # fmt: skip
"""What ``--scheduler`` is called where a plan's set-up is of this kind."""
_POOL = "skypilot-pool"


def arguments_text(setup: ast.FunctionDef, set_ups: Sequence[SetUp]) -> str:
    """The arguments with their values, by name, and those that no record tells; "" without either."""
    names = sorted(set(_read(setup)))
    plans = [one.plan.get("scheduler_setup", {}) for one in set_ups]
    if not names or not plans:
        return ""
    values = {name: dict.fromkeys(text for plan in plans if (text := _recorded(plan, name))) for name in names}
    told = [f"{name} {' and '.join(texts)}" for name, texts in values.items() if texts]
    rest = [name for name, texts in values.items() if not texts]
    parts = [f"{', '.join(told)}, by the plan record"] if told else []
    parts += [f"not recorded: {', '.join(rest)}"] if rest else []
    return "; ".join(parts)


def _read(setup: ast.FunctionDef) -> Iterator[str]:
    """The attributes of the function's parameters that it reads; those that it calls are no values."""
    parameters = {argument.arg for argument in (*setup.args.posonlyargs, *setup.args.args, *setup.args.kwonlyargs)}
    called = {id(node.func) for node in ast.walk(setup) if isinstance(node, ast.Call)}
    for node in ast.walk(setup):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in parameters:
                if id(node) not in called:
                    yield attribute


def _recorded(plan: Mapping[str, Any], name: str) -> str:
    """What a plan's set-up of its scheduler says of an argument, "" for nothing."""
    if name == _SCHEDULER:
        kind = _POOL if plan.get("pool") else _SCHEDULERS.get(str(plan.get("kind")))
        return f"`{kind}`" if kind else ""
    value = plan.get(name)
    return f"`{value}`" if isinstance(value, str | int | float) and value != "" else ""
