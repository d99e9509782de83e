"""Which names a pickle may mention, and what each of them gets."""

from __future__ import annotations

import builtins
import functools
from typing import Literal

from benchwright.raw.rebuild import REBUILDERS

Verdict = Literal["rebuild", "stand-in", "refuse"]

_INERT_BUILTINS = frozenset(
    {"object", "int", "float", "str", "bool", "tuple", "range", "slice", "Ellipsis", "NotImplemented"}
) | frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
"""Types that a result may mention as a value. They get a stand-in as well: nothing is made of them."""

_INERT_PACKAGES = frozenset({"autogluon", "tabarena", "tabrepo", "pandas", "sklearn", "numpy"})
"""What genuine results mention beside plain values: classes of the runner, under its old and new name, and of what it
is made of."""
_INERT_MODULES = frozenset({"pathlib", "datetime", "decimal", "fractions", "uuid", "zoneinfo", "collections"})
"""Values of the standard library that a config's hyperparameters may hold."""
_DANGEROUS_PREFIXES = (
    "numpy.distutils", "numpy.f2py", "numpy.testing", "numpy.load", "numpy.lib.npyio", "numpy.ctypeslib",
    "pandas.read_pickle", "pandas.io", "pandas.eval", "pandas.core.computation",
    "autogluon.common.loaders", "autogluon.common.savers",
)  # fmt: skip
_DANGEROUS_FUNCTIONS = frozenset({"eval", "exec", "system", "popen", "getattr", "__import__"})


@functools.lru_cache(maxsize=1024)
def verdict(module: str, name: str) -> Verdict:
    """What happens to the global ``module.name``.

    ``rebuild``: our own builder of an array or a container takes its place. ``stand-in``: an inert class does, for what
    honest results mention. ``refuse``: everything else. Nothing is imported or called in any case, so where the line
    runs decides only what a person hears of.
    """
    path = f"{module}.{name}"
    if path in REBUILDERS:
        return "rebuild"
    if module in ("builtins", "__builtin__"):
        return "stand-in" if name in _INERT_BUILTINS else "refuse"
    if module not in _INERT_MODULES and module.partition(".")[0] not in _INERT_PACKAGES:
        return "refuse"
    if any(path == prefix or path.startswith(f"{prefix}.") for prefix in _DANGEROUS_PREFIXES):
        return "refuse"
    # A dotted name reaches through a class, or through a module into what that module imported.
    *through, last = name.split(".")
    if last in _DANGEROUS_FUNCTIONS or not all(part[:1].isupper() for part in through):
        return "refuse"
    return "stand-in"
