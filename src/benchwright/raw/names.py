"""Which names a pickle may mention, and what each of them gets."""

from __future__ import annotations

import builtins
import functools
import re
from typing import Literal

from benchwright.raw.rebuild import REBUILDERS

Verdict = Literal["rebuild", "stand-in", "refuse"]

_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
_BUILTINS = _EXCEPTIONS | {
    "object", "int", "float", "str", "bool", "tuple", "range", "slice", "Ellipsis", "NotImplemented",
}  # fmt: skip
_VALUES = {
    "builtins": _BUILTINS,
    "__builtin__": _BUILTINS,
    "numpy": frozenset({
        "ndarray", "generic", "number", "integer", "floating", "bool", "bool_", "object_", "str_", "bytes_", "void",
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intc", "uintc", "intp", "uintp",
        "longlong", "ulonglong", "float16", "float32", "float64", "longdouble", "complex64", "complex128",
        "clongdouble", "datetime64", "timedelta64",
    }),
    "collections": frozenset({"Counter", "deque"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
    "pathlib": frozenset({"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"}),
    "uuid": frozenset({"SafeUUID", "UUID"}),
    "pandas": frozenset({
        "DataFrame", "Series", "Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex",
        "CategoricalIndex", "IntervalIndex", "Categorical", "CategoricalDtype", "StringDtype", "Interval", "Period",
        "Timedelta", "Timestamp",
    }),
    "pandas.core.indexes.base": frozenset({"_new_Index"}),
    "pandas.core.indexes.datetimes": frozenset({"_new_DatetimeIndex"}),
    "pandas._libs.internals": frozenset({"_unpickle_block"}),
    "pandas._libs.arrays": frozenset({"__pyx_unpickle_NDArrayBacked"}),
    "pandas._libs.tslibs.nattype": frozenset({"__nat_unpickle"}),
    "pandas._libs.tslibs.timestamps": frozenset({"_unpickle_timestamp"}),
    "pandas._libs.tslibs.timedeltas": frozenset({"_timedelta_unpickle"}),
}  # fmt: skip
"""By module, the types that a result may mention as a value, and what pandas makes its own of. All get a stand-in:
nothing is made of them."""

_CLASSES_OF = ("autogluon", "tabarena", "tabrepo", "sklearn", "pandas.core", "pandas._libs")
"""Where the classes come from that genuine results mention: of the runner, under its old and new name, and of what it
is made of. Their functions are none of them: those read, write and evaluate."""
_CLASS = re.compile(r"_*[A-Z][A-Za-z0-9_]*(?:\._*[A-Z][A-Za-z0-9_]*)*", re.ASCII)
"""A class by the look of its name, also one inside a class."""


@functools.lru_cache(maxsize=1024)
def verdict(module: str, name: str) -> Verdict:
    """What happens to the global ``module.name``.

    ``rebuild``: our own builder of an array or a container takes its place. ``stand-in``: an inert class does, for what
    honest results mention. ``refuse``: everything else. Nothing is imported or called in any case, so where the line
    runs decides only what a person hears of.
    """
    if f"{module}.{name}" in REBUILDERS:
        return "rebuild"
    if name in _VALUES.get(module, ()):
        return "stand-in"
    known = any(f"{module}.".startswith(f"{package}.") for package in _CLASSES_OF)
    return "stand-in" if known and _CLASS.fullmatch(name) else "refuse"
