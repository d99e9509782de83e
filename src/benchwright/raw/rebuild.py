"""What a result is really made of, rebuilt from a pickle by our own code: arrays, numpy scalars, plain containers.

numpy's own constructors trust the stream: a dtype's state can clear the flag that says "these are object pointers",
and an object array reads past the end of a list that is too short. Here types, shapes and lengths are checked first,
and everything built counts against a budget, since a stream can ask for the same copy a million times.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from benchwright.raw.opcodes import PLAIN, BadStream
from benchwright.raw.stand_in import stand_in

_MAX_DIMENSIONS = 8
_MAX_SIDE = 2**32
_ITEM_BYTES = 64
_ARRAY_BYTES = 128
_CODE = re.compile(r"b1|[iu][1248]|f[248]|c(?:8|16)|[SU][0-9]{1,6}|O8?", re.ASCII)


class Budget:
    """How many bytes may still be built while one file is read; all of it is used by no honest file."""

    __slots__ = ("_left",)

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int) -> None:
        """Take ``size`` bytes; BadStream once the budget is gone."""
        self._left -= size
        if self._left < 0:
            raise BadStream("too-complex", "builds far more than it holds", PLAIN)


class Rebuilder:
    """A function that a stream may call and do nothing else with: it could set attributes on a real function."""

    __slots__ = ("_budget", "_build", "_origin")
    _origin: str
    _build: Callable[..., Any]
    _budget: Budget

    def __init__(self, origin: str, budget: Budget) -> None:
        object.__setattr__(self, "_origin", origin)
        object.__setattr__(self, "_build", REBUILDERS[origin])
        object.__setattr__(self, "_budget", budget)

    @property
    def origin(self) -> str:
        """The dotted name that the stream has for it."""
        return self._origin

    def __call__(self, *args: Any) -> Any:  # noqa: D102
        return self._build(self._budget, *args)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return stand_in, (self._origin,)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)

    def __setstate__(self, state: Any) -> None:
        raise _refused("a change to a function")


class DtypeSpec:
    """A numpy dtype as a stream describes it, turned into a real one only if it is plain."""

    __slots__ = ("code", "dtype")

    def __init__(self, code: str) -> None:
        self.code = code
        self.dtype = _dtype(code, "=")

    def __setstate__(self, state: Any) -> None:
        # (version, byte order, subarray, field names, fields, item size, alignment, flags[, metadata])
        if type(state) is not tuple or len(state) < 8 or any(part is not None for part in state[2:5]):
            raise _refused("a numpy type with fields")
        if state[1] not in ("<", ">", "|", "="):
            raise _refused("a numpy type of unknown byte order")
        self.dtype = _dtype(self.code, state[1])

    def __reduce_ex__(self, protocol: object) -> Any:
        return self.dtype.__reduce__()


@functools.lru_cache(maxsize=256)
def _dtype(code: str, order: str) -> np.dtype[Any]:
    dtype = np.dtype(code)
    if order == "<":
        return dtype.newbyteorder("<")
    return dtype.newbyteorder(">") if order == ">" else dtype


class RebuiltArray(np.ndarray[Any, Any]):
    """An array that checks the state a stream gives it. `plain_array` turns it into an ordinary one."""

    __slots__ = ("budget",)
    budget: Budget

    def __setstate__(self, state: Any) -> None:
        if type(state) is not tuple or len(state) != 5:
            raise _refused("an array's state in an unknown form")
        _, shape, spec, fortran, content = state
        size = _size(shape)
        if type(spec) is not DtypeSpec:
            raise _refused("an array without a type")
        dtype = spec.dtype
        if type(content) is not (list if dtype.hasobject else bytes):
            raise _refused("an array without content")
        if len(content) != (size if dtype.hasobject else size * dtype.itemsize):
            raise _refused(f"an array of shape {_short(shape)} with content of another length")
        self.budget.spend(_ARRAY_BYTES + size * dtype.itemsize)
        super().__setstate__((1, shape, dtype, bool(fortran), content))  # type: ignore[arg-type]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return plain_array(self).__reduce_ex__(protocol)


def plain_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same data as an ordinary array in this machine's byte order."""
    plain = array.view(np.ndarray)
    return plain if plain.dtype.isnative else plain.astype(plain.dtype.newbyteorder("="))


def _array_shell(budget: Budget, *_: Any) -> RebuiltArray:
    """``_reconstruct(ndarray, (0,), b"b")``: an empty array whose state follows."""
    array = np.ndarray.__new__(RebuiltArray, (0,), np.dtype(np.int8))
    array.budget = budget
    return array


def _array_from_buffer(budget: Budget, content: Any, spec: Any, shape: Any, order: Any) -> RebuiltArray:
    """What protocol 5 calls for an array whose bytes are in the stream."""
    if type(content) is bytearray:
        budget.spend(len(content))
        content = bytes(content)
    array = _array_shell(budget)
    array.__setstate__((1, shape, spec, order == "F", content))
    return array


def _dtype_spec(_: Budget, code: Any = None, *__: Any) -> DtypeSpec:
    if type(code) is not str or not _CODE.fullmatch(code):
        raise _refused(f"numpy type {_short(code)}")
    return DtypeSpec(code)


def _scalar(budget: Budget, spec: Any, content: Any = None) -> Any:
    if type(spec) is not DtypeSpec or spec.code.startswith("O") or type(content) is not bytes:
        raise _refused("a numpy scalar in an unknown form")
    dtype = spec.dtype
    if dtype.itemsize != len(content) or not content:
        raise _refused("a numpy scalar of the wrong length")
    budget.spend(len(content))
    return np.frombuffer(content, dtype)[0]


def _size(shape: Any) -> int:
    """The number of items of an array of this shape."""
    if type(shape) is not tuple or len(shape) > _MAX_DIMENSIONS:
        raise _refused("an array without a plain shape")
    size = 1
    for side in shape:
        if type(side) is not int or not 0 <= side <= _MAX_SIDE:
            raise _refused(f"an array of shape {_short(shape)}")
        size *= side
    return size


def _container(make: Callable[[Any], Any]) -> Callable[..., Any]:
    """The constructor of a container, for what the stream has built as a container itself."""

    def build(budget: Budget, content: Any = ()) -> Any:
        if type(content) not in (list, tuple, dict, set, frozenset):
            raise _refused("a container made from something else than a container")
        budget.spend(_ITEM_BYTES * (1 + len(content)))
        return make(content)

    return build


def _default_dict(budget: Budget, *_: Any) -> dict[Any, Any]:
    budget.spend(_ITEM_BYTES)
    return {}


def _bytearray(budget: Budget, content: Any = b"") -> bytearray:
    if type(content) is not bytes:
        raise _refused("a byte array made from something else than bytes")
    budget.spend(_ITEM_BYTES + len(content))
    return bytearray(content)


def _no_bytes(_: Budget) -> bytes:
    """How protocol 2 writes bytes where there are none."""
    return b""


def _encode(budget: Budget, text: Any, encoding: Any = None) -> bytes:
    """How protocol 2 writes bytes."""
    if type(text) is not str or encoding != "latin1":
        raise _refused("bytes in an unknown encoding")
    budget.spend(_ITEM_BYTES + len(text))
    return text.encode("latin1")


def _complex(_: Budget, real: Any, imaginary: Any) -> complex:
    if type(real) is not float or type(imaginary) is not float:
        raise _refused("a complex number without numbers")
    return complex(real, imaginary)


def _refused(what: str) -> BadStream:
    return BadStream("unsupported-pickle", what, PLAIN)


def _short(value: Any) -> str:
    return ascii(value)[:60] if type(value) in (str, tuple) else f"given as {type(value).__name__}"


def _table() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {
        "numpy.dtype": _dtype_spec,
        "_codecs.encode": _encode,
        "collections.OrderedDict": _container(dict),
        "collections.defaultdict": _default_dict,
    }
    for core in ("numpy.core", "numpy._core"):
        table[f"{core}.multiarray._reconstruct"] = _array_shell
        table[f"{core}.multiarray.scalar"] = _scalar
        table[f"{core}.numeric._frombuffer"] = _array_from_buffer
    for builtins in ("builtins", "__builtin__"):
        for make in (list, dict, set, frozenset):
            table[f"{builtins}.{make.__name__}"] = _container(make)
        table[f"{builtins}.bytes"] = _no_bytes
        table[f"{builtins}.bytearray"] = _bytearray
        table[f"{builtins}.complex"] = _complex
    return table


REBUILDERS = _table()
"""The globals that stand for something real, by dotted name: functions of the budget and the stream's arguments."""
