"""Load a pickle without importing or calling anything that it names.

The C unpickler does the work, since it is twenty times faster than one in Python; what makes it safe is that every
name resolves to a builder of ours or to an inert class (`names`), after a walk over the opcodes has shown that the
stream is whole and small (`opcodes`). The unpickler then has nothing to call but those.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from benchwright.raw.names import verdict
from benchwright.raw.opcodes import MAX_NAME, PLAIN, WHOLE, BadStream, scan
from benchwright.raw.rebuild import Budget, Rebuilder
from benchwright.raw.stand_in import stand_in

_BUDGET_FLOOR = 16 * 2**20


def loads(data: bytes) -> Any:
    """The object in a pickle, with stand-ins for what is neither a plain value, a container nor an array.

    Arrays come as subclasses; `rebuild.plain_array` makes them ordinary.

    Raises:
        BadStream: it is damaged (codes ``not-a-pickle``, ``truncated``, ``trailing-data``), out of the ordinary
            (``unsupported-pickle``, ``too-complex``) or names something that is dangerous to call
            (``dangerous-pickle``).
    """
    scan(data)
    try:
        return _Unpickler(data).load()
    except BadStream:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged stream breaks the unpickler in any way; none of it ran
        raise BadStream("not-a-pickle", f"a damaged pickle: {_describe(error)}", WHOLE) from None


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._budget = Budget(_BUDGET_FLOOR + 2 * len(data))

    def find_class(self, module: str, name: str) -> Any:
        if len(module) + len(name) > MAX_NAME:
            raise BadStream("unsupported-pickle", f"a name of {len(module) + len(name):,} characters", PLAIN)
        path = f"{module}.{name}"
        match verdict(module, name):
            case "rebuild":
                return Rebuilder(path, self._budget)
            case "stand-in":
                return stand_in(path)
            case _:
                shown = path if path.isprintable() else ascii(path)
                raise BadStream("dangerous-pickle", f"names {shown}, which could run code", PLAIN)


def _describe(error: Exception) -> str:
    text = str(error)
    return text[:100] if text.isprintable() else type(error).__name__
