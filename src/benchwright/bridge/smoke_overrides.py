"""What a smoke fit sets for a model: shipped as data, and read from a TabArena checkout that has its own."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from benchwright.contract import usage_error

SHIPPED = Path(__file__).parent / "smoke_overrides.yaml"
IN_CHECKOUT = Path("tests", "tabarena", "models", "smoke_configs.py")
_TABLE = "SMOKE_OVERRIDES"


@dataclass(frozen=True, slots=True)
class SmokeOverride:
    """What is set for one model; the fields are arguments of AutoGluon's ``FitHelper.verify_model``.

    ``problem_types`` None means all that the model has.
    """

    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    problem_types: tuple[str, ...] | None = None
    verify_single_prediction_equivalent_to_multi: bool = True
    use_larger_toy_datasets: bool = False


def smoke_override(model: str, checkout: Path | None = None) -> tuple[SmokeOverride, tuple[str, ...]]:
    """What to set for the model with this registry name, and what to tell the user about it.

    A checkout's own file wins over the shipped table: that of ``checkout``, else of the checkout that ``tabarena`` is
    imported from. It is read without being run, so an entry that is not written out in literals cannot be: then the
    shipped one is used, and the note says so.

    Raises:
        Failure: ``checkout`` has no such file (exit 2).
    """
    file = _file_in(checkout) if checkout is not None else _file_of_imported()
    if file is None:
        return _shipped().get(model, SmokeOverride()), ()
    try:
        override = read_override(file, model)
    except (OSError, ValueError) as error:  # ValueError: not text, or no Python (SyntaxError), or not in literals
        note = f"{file} cannot be read without running it ({error}): the shipped smoke settings are used"
        return _shipped().get(model, SmokeOverride()), (note,)
    return override, (f"smoke settings of {file}",)


def read_override(file: Path, model: str) -> SmokeOverride:
    """The entry of ``SMOKE_OVERRIDES`` for ``model`` in a ``smoke_configs.py``, from its syntax tree.

    An entry is a dict of hyperparameters, or a call whose arguments are named as, or stand in the order of, the fields
    of the class that is called (``ModelSmokeTest`` in the same file). A model without an entry has the defaults.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no Python, has no such table, or the entry is not made of literals that we know.
    """
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    table = _table(tree)
    for key, value in zip(table.keys, table.values, strict=True):
        if key is None:
            raise ValueError(f"line {value.lineno}: {_TABLE} is not written out")
        if isinstance(key, ast.Constant) and key.value == model:
            try:
                return _override(value, tree)
            except (ValueError, TypeError) as error:
                raise ValueError(f"line {value.lineno}: the entry of {model} is not literal") from error
    return SmokeOverride()


def _table(tree: ast.Module) -> ast.Dict:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == _TABLE for target in targets):
            value = getattr(node, "value", None)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.Dict):
                return value
            raise ValueError(f"line {node.lineno}: {_TABLE} is not written out")
    raise ValueError(f"it has no {_TABLE}")


def _override(entry: ast.expr, tree: ast.Module) -> SmokeOverride:
    """The value of one entry; a ValueError or TypeError when it is not made of literals that we know."""
    if not isinstance(entry, ast.Call):
        return _checked({"hyperparameters": ast.literal_eval(entry)})
    if not isinstance(entry.func, ast.Name) or any(keyword.arg is None for keyword in entry.keywords):
        raise ValueError
    order = _fields_of(entry.func.id, tree)
    if len(entry.args) > len(order):
        raise ValueError
    named = dict(zip(order, entry.args, strict=False))
    named |= {str(keyword.arg): keyword.value for keyword in entry.keywords}
    return _checked({name: ast.literal_eval(value) for name, value in named.items()})


def _fields_of(name: str, tree: ast.Module) -> list[str]:
    """The fields of a dataclass in the file, in order."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            annotated = [line.target for line in node.body if isinstance(line, ast.AnnAssign)]
            return [target.id for target in annotated if isinstance(target, ast.Name)]
    return []


def _checked(values: Mapping[str, Any]) -> SmokeOverride:
    unknown = values.keys() - {known.name for known in fields(SmokeOverride)}
    hyperparameters, types = values.get("hyperparameters", {}), values.get("problem_types")
    if unknown or not isinstance(hyperparameters, dict) or not isinstance(types, (list, tuple, type(None))):
        raise ValueError
    return SmokeOverride(**{**values, "problem_types": None if types is None else tuple(types)})


@cache
def _shipped() -> Mapping[str, SmokeOverride]:
    import yaml

    return {model: _checked(values) for model, values in yaml.safe_load(SHIPPED.read_text("utf-8")).items()}


def _file_in(checkout: Path) -> Path:
    file = checkout.expanduser().resolve() / IN_CHECKOUT
    if not file.is_file():
        expected = f"a TabArena checkout, which has {IN_CHECKOUT}"
        raise usage_error("checkout", f"there is no {file}", expected, "give the top folder of the checkout")
    return file


def _file_of_imported() -> Path | None:
    """The file of the checkout that ``tabarena`` is imported from; None when it is an installed package."""
    import tabarena

    package = Path(str(tabarena.__file__)).resolve()
    if "site-packages" in package.parts:  # an environment may well lie inside some checkout
        return None
    files = (folder / IN_CHECKOUT for folder in package.parents)
    return next((file for file in files if file.is_file()), None)
