"""Values out of a result file, made fit to be handed on: no stand-ins, no class references, no paths of a machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchwright.raw.fields import show
from benchwright.raw.rebuild import Rebuilder, plain_array
from benchwright.raw.stand_in import StandIn, StandInType

HIDDEN_PATH = "<path>"
_MAX_DEPTH = 100
_ROOTED = re.compile(r"(?:file://)?/[\w.~-](?:\S*$|.*/)|[A-Za-z]:[\\/]|\\\\\w")
"""How a line begins that is an absolute path and nothing else, spaces in its names included."""
_INSIDE = re.compile(r"""(?<![\w.<>/\\-])(?:file://)?(?:/[\w.@+~-]+){2,}/?|(?<!\w)[A-Za-z]:\\[\w.@+~\\-]+""")
"""An absolute path within a text: two names at least, and nothing before it as in a fraction or a web address."""


class TooDeep(Exception):
    """Values that nobody should walk."""


class Plain:
    """Makes the values of one file plain, and remembers whether anything had to be ``changed``.

    Containers that the file holds twice are one object again afterwards, so that a small file does not grow. A set
    becomes a sorted list: its own order changes from run to run. An object becomes a dict of what it was made from,
    with its class under ``class`` unless it is a dict of a class of its own.
    """

    def __init__(self, *, hide_paths: bool) -> None:
        self.changed = False
        self._hide_paths = hide_paths
        self._made: dict[int, tuple[Any, Any]] = {}
        """What became of each container, by its id, which no other has while the container is kept here."""

    def __call__(self, value: Any, depth: int = 0) -> Any:
        """The value, or what takes its place.

        Raises:
            TooDeep: containers are nested too deeply to be written.
        """
        kind = type(value)
        if kind in _AS_THEY_ARE:
            return value
        if kind is str:
            return self._text(value) if self._hide_paths else value
        if depth > _MAX_DEPTH:
            raise TooDeep(f"values nested more than {_MAX_DEPTH} deep")
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        return self._container(value, kind, depth + 1)

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        # Each is known before it is filled, as it may hold itself.
        if kind is dict:
            made: dict[Any, Any] = {}
            self._made[id(value)] = value, made
            self._fill(made, value.items(), depth)
            return made
        if kind is list:
            items: list[Any] = []
            self._made[id(value)] = value, items
            items.extend(item if type(item) in _AS_THEY_ARE else self(item, depth) for item in value)
            return items
        if kind is tuple:
            return self._remember(value, tuple(self(item, depth) for item in value))
        if kind in (set, frozenset):
            self.changed = True
            return self._remember(value, sorted((self(item, depth) for item in value), key=repr))
        if isinstance(value, np.ndarray):
            return self._remember(value, self._array(value, depth))
        if isinstance(value, str):  # of numpy, or of a class like it
            return self(str(value))
        if isinstance(value, StandIn):
            return self._object(value, depth)
        if isinstance(value, StandInType | Rebuilder):
            return self._replaced(value.origin)
        return value

    def _remember(self, value: Any, made: Any) -> Any:
        self._made[id(value)] = value, made
        return made

    def _replaced(self, made: Any) -> Any:
        self.changed = True
        return made

    def _fill(self, made: dict[Any, Any], items: Iterable[tuple[Any, Any]], depth: int) -> None:
        kept = _AS_THEY_ARE
        for key, item in items:
            # Nearly all of a result's values pass here, so what stays as it is costs no call.
            name = key if type(key) is str and "/" not in key and "\\" not in key else self._key(key, depth)
            while name is not key and name in made:  # two hidden paths must not become one entry
                name = f"{name}'"
            kind = type(item)
            as_it_is = kind in kept or (kind is str and "/" not in item and "\\" not in item)
            made[name] = item if as_it_is else self(item, depth)

    def _key(self, key: Any, depth: int) -> Any:
        name = self(key, depth)
        if isinstance(name, list | dict | np.ndarray):  # what a frozen set or an object became
            return self._replaced(show(key))
        return name

    def _object(self, value: StandIn, depth: int) -> dict[Any, Any]:
        self.changed = True
        made: dict[Any, Any] = self._remember(value, {})
        own_items = [arg for arg in value.args if type(arg) is dict]
        if len(own_items) < len(value.args) or value.members or value.state is not None or not (own_items or value):
            made["class"] = value.origin
            parts = {"args": value.args, "members": value.members, "state": value.state}
            made.update((name, self(part, depth)) for name, part in parts.items() if part)
            own_items = []
        for items in (*own_items, value):
            self._fill(made, items.items(), depth)
        return made

    def _array(self, array: np.ndarray[Any, Any], depth: int) -> np.ndarray[Any, Any]:
        plain = plain_array(array)
        if plain.dtype.kind == "U" and self._hide_paths:
            plain = plain.astype(object)
        if plain.dtype.hasobject:
            copy = np.empty(plain.size, dtype=object)
            for place, item in enumerate(plain.ravel().tolist()):
                copy[place] = self(item, depth)
            plain = copy.reshape(plain.shape)
        return plain

    def _text(self, text: str) -> str:
        hidden = without_paths(text)
        self.changed |= hidden is not text
        return hidden


def without_paths(text: str) -> str:
    """The text, itself if it names no absolute path."""
    if "/" not in text and "\\" not in text:
        return text
    rooted = "\n" not in text and _ROOTED.match(text)
    hidden = HIDDEN_PATH if rooted else _INSIDE.sub(HIDDEN_PATH, text)
    return text if hidden == text else hidden


def json_ready(value: Any) -> Any:
    """A plain value as JSON can hold it: tuples and arrays become lists, numpy's numbers Python's, the rest text.

    So do NaN and the infinities, which JSON does not have.
    """
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind in _JSON:
        return value
    if kind is dict:
        return {json_ready(key) if type(key) in _JSON else str(key): json_ready(item) for key, item in value.items()}
    if kind in (list, tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return json_ready(value.tolist())
    return str(value)


_JSON = frozenset({str, int, float, bool, type(None)})
_AS_THEY_ARE: frozenset[type] = frozenset({int, float, bool, type(None), bytes, complex})
