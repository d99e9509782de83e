"""The arenas that have a collection to register methods in, and where each keeps it."""

from __future__ import annotations

from dataclasses import dataclass

SUPERSEDED = "methods_superseded"
"""The list, beside a collection, of what reruns have replaced."""


@dataclass(frozen=True, slots=True)
class Arena:
    """An arena's collection as ``MODULE:ATTR``, and what its leaderboard shows once an entry is swapped."""

    name: str
    collection: str
    after_swap: str


_DEFAULT_BOARD = "the default leaderboard now carries only the new run"
ARENAS = {
    arena.name: arena
    for arena in (
        Arena("tabarena", "tabarena.contexts.tabarena.methods:tabarena_method_metadata_collection", _DEFAULT_BOARD),
        Arena("beyondarena", "tabarena.contexts.beyondarena.methods:beyond_method_metadata_collection", _DEFAULT_BOARD),
        Arena(
            "mini",
            "benchwright.mini.methods:mini_method_metadata_collection",
            "the mini leaderboard keeps the reference results that are shipped with it",
        ),
    )
}
"""By the name that ``--arena`` takes."""
