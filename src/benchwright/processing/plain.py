"""Values out of a result file, made fit to be handed on: no stand-ins, no class references, no paths, no secrets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from benchwright.contract import names_a_secret
from benchwright.processing.hiding import LONGEST_NAME, Hiding, HidingAll
from benchwright.raw.fields import show
from benchwright.raw.rebuild import Rebuilder, plain_array
from benchwright.raw.stand_in import StandIn, StandInType

_MAX_DEPTH = 100
_BYTES_OF_CHARACTER = {"U": 4, "S": 1}


class TooDeep(Exception):
    """Values that nobody should walk."""


class Plain:
    """Makes the values of one file plain, and remembers whether a ``secret`` was hidden.

    Containers that the file holds twice are one object again afterwards, so that a small file does not grow. A set
    becomes a sorted list: its own order changes from run to run. An object becomes a dict of what it was made from,
    with its class under ``class`` unless it is a dict of a class of its own; a path its text. Numbers stay, also under
    a key that names a secret.
    """

    def __init__(self, hiding: Hiding) -> None:
        self.secret = False
        self._hiding = hiding
        self._made: dict[int, tuple[Any, Any]] = {}
        """What became of each container, by its id, which no other has while the container is kept here."""
        self._keyed: _Keyed | None = None
        self._names = 0
        """How often a text was the name of a secret."""

    def __call__(self, value: Any, depth: int = 0) -> Any:
        """The value, or what takes its place.

        Raises:
            TooDeep: containers are nested too deeply to be written.
        """
        kind = type(value)
        if kind in _AS_THEY_ARE:
            return value
        if kind is str:
            return value if value in self._hiding.harmless else self._text(value)
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
            harmless, names = self._hiding.harmless, self._names
            items.extend(
                item if type(item) in _AS_THEY_ARE or (type(item) is str and item in harmless) else self(item, depth)
                for item in value
            )
            if self._names > names:
                self._hide_behind_names(value, items, depth)
            return items
        if kind is tuple:
            names = self._names
            items = [self(item, depth) for item in value]
            if self._names > names:
                self._hide_behind_names(value, items, depth)
            return self._remember(value, tuple(items))
        if kind in (set, frozenset):
            return self._remember(value, sorted((self(item, depth) for item in value), key=repr))
        if isinstance(value, np.ndarray):
            return self._remember(value, self._array(value, depth))
        if isinstance(value, str):  # of numpy, or of a class like it
            return self(str(value))
        if isinstance(value, bytes | bytearray):
            return self._bytes(value)
        if isinstance(value, StandIn):
            return self._object(value, depth)
        if isinstance(value, StandInType | Rebuilder):
            return self._text(value.origin)
        return value

    def _remember(self, value: Any, made: Any) -> Any:
        self._made[id(value)] = value, made
        return made

    def _hide_behind_names(self, value: Sequence[Any], made: list[Any], depth: int) -> None:
        """Hide what follows the name of a secret: in a command line, or in a pair of a key and its value."""
        pair = type(value) is tuple and len(value) == 2
        for place, name in enumerate(value[:-1], 1):
            if isinstance(name, str) and (pair or name.startswith("--")) and names_a_secret(name):
                made[place] = self._under_secret(value[place], depth)

    def _fill(self, made: dict[Any, Any], items: Iterable[tuple[Any, Any]], depth: int) -> None:
        kept, harmless = _AS_THEY_ARE, self._hiding.harmless
        for key, item in items:
            # Nearly all of a result's values pass here, so what stays as it is costs no call.
            name = key if type(key) is str and key in harmless else self._key(key, depth)
            while name is not key and name in made:  # two hidden paths must not become one entry
                name = f"{name}'"
            kind = type(item)
            if kind in kept:
                made[name] = item
            elif type(name) is str and len(name) <= LONGEST_NAME and names_a_secret(name):
                made[name] = self._under_secret(item, depth)
            elif kind is not str:
                made[name] = self(item, depth)
            else:
                made[name] = item if item in harmless else self._text(item)

    def _key(self, key: Any, depth: int) -> Any:
        name = self(key, depth)
        if isinstance(name, list | dict | np.ndarray):  # what a frozen set or an object became
            return show(key)
        return name

    def _object(self, value: StandIn, depth: int) -> Any:
        if value.origin.startswith("pathlib.") and all(type(part) is str for part in value.args):
            # Pickled by its parts, of which none looks like a path.
            kind = PureWindowsPath if "Windows" in value.origin else PurePosixPath
            return self._text(str(kind(*value.args)))
        made: dict[Any, Any] = self._remember(value, {})
        own_items = [arg for arg in value.args if type(arg) is dict]
        if len(own_items) < len(value.args) or value.members or value.state is not None or not (own_items or value):
            made["class"] = self._text(value.origin)
            parts = {"args": value.args, "members": value.members, "state": value.state}
            made.update((name, self(part, depth)) for name, part in parts.items() if part)
            own_items = []
        for items in (*own_items, value):
            self._fill(made, items.items(), depth)
        return made

    def _array(self, array: np.ndarray[Any, Any], depth: int) -> np.ndarray[Any, Any]:
        plain = plain_array(array)
        if not plain.dtype.hasobject:
            width = _BYTES_OF_CHARACTER.get(plain.dtype.kind)
            if width is None or plain.itemsize < width * self._hiding.shortest:
                return plain
        before = plain.ravel().tolist()
        items = [self(item, depth) for item in before]
        if not plain.dtype.hasobject and items == before:
            return plain
        copy = np.empty(plain.size, dtype=object)
        for place, item in enumerate(items):
            copy[place] = item
        return copy.reshape(plain.shape)

    def _under_secret(self, value: Any, depth: int) -> Any:
        """A value under a key that names a secret."""
        self._keyed = self._keyed or _Keyed(self)
        made = self._keyed(value, depth)
        self.secret |= self._keyed.secret
        return made

    def _text(self, text: str) -> str:
        self._names += self._hiding.is_name(text)
        return self._noted(*self._hiding(text))

    def _noted(self, hidden: str, secret: bool) -> str:
        self.secret |= secret
        return hidden

    def _bytes(self, content: bytes | bytearray) -> bytes | bytearray:
        try:
            hidden = self._text(content.decode()).encode()
        except UnicodeDecodeError:
            text = content.decode("ascii", "surrogateescape")
            hidden = self._noted(*self._hiding.in_bytes(text)).encode("ascii", "surrogateescape")
        return content if hidden == content else hidden


class _Keyed(Plain):
    """Makes values plain that stand under a key which names a secret: their texts are secrets, their own keys are not.

    A container that stands elsewhere as well becomes another one there.
    """

    def __init__(self, outer: Plain) -> None:
        super().__init__(HidingAll())
        self._outer = outer

    def _key(self, key: Any, depth: int) -> Any:
        return self._outer._key(key, depth)

    def _under_secret(self, value: Any, depth: int) -> Any:
        return self(value, depth)


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
_AS_THEY_ARE: frozenset[type] = frozenset({int, float, bool, type(None), complex})
