"""The arenas by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchwright.arena import ArenaSource, did_you_mean
from benchwright.bridge.published import beyondarena, tabarena
from benchwright.contract import usage_error
from benchwright.mini import source as mini

_ARENAS: Mapping[str, Callable[[], ArenaSource]] = {"mini": mini, "tabarena": tabarena, "beyondarena": beyondarena}


def open_arena(name: str) -> ArenaSource:
    """The arena called ``mini``, ``tabarena`` or ``beyondarena``; opening reads nothing yet.

    Raises:
        Failure: there is none of that name (exit 2), with close names.
    """
    if name not in _ARENAS:
        raise usage_error("arena", f"no arena is called {name!r}", "", did_you_mean(name, _ARENAS))
    return _ARENAS[name]()
