"""The published arenas' official validation protocols, and which of the arenas a method was run for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchwright.arena.metadata import MethodMetadata

OFFICIAL_PROTOCOLS: Mapping[str, str] = MappingProxyType({"tabarena": "8x1", "beyondarena": "dynamic:8x1,5x5<=500"})
"""The validation protocol of each arena's official results: 8 folds, 1 repeat; or that, but 5 x 5 where there are at
most 500 rows or groups. A system validates by itself under either.

How the key of BeyondArena is spelt is this program's own: results may record it in another way, which counts as a key
of no known form and contradicts nothing."""
_BEYOND = "beyond"


def arena_of(metadata: MethodMetadata) -> str:
    """The published arena whose results a method's are: as its validation protocol says, or the name of its suite.

    The one official suite of BeyondArena is called ``beyond_iid_benchmark_2026``.
    """
    protocol = metadata.validation_protocol
    is_beyond = protocol == OFFICIAL_PROTOCOLS["beyondarena"] or metadata.suite.startswith(_BEYOND)
    return "beyondarena" if is_beyond else "tabarena"
