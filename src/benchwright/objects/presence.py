"""What of an expected set of objects is in a store: decided by asking for each, not by a listing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchwright.objects.store import ObjectInfo, ObjectStore

_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Survey:
    """The objects of a store beside the keys that were expected below a prefix.

    ``found`` has the facts of the expected ones, ``missing`` the keys without an object, ``unexpected`` the objects
    below the prefix that nobody expected. All are sorted by key.
    """

    found: Mapping[str, ObjectInfo]
    missing: tuple[str, ...]
    unexpected: tuple[ObjectInfo, ...]


def survey(store: ObjectStore, keys: Collection[str], *, prefix: str) -> Survey:
    """Compare a store with the keys expected below ``prefix``.

    The listing only says what else may be there, and every such object is asked for too, since a listing may still
    name what is gone.

    Raises:
        Failure: as the store does.
    """
    listed = {info.key for info in store.list(prefix)}
    asked = sorted(listed | set(keys))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = dict(zip(asked, pool.map(store.head, asked), strict=True))
    expected = set(keys)
    return Survey(
        found={key: info for key, info in answers.items() if info is not None and key in expected},
        missing=tuple(key for key, info in answers.items() if info is None and key in expected),
        unexpected=tuple(info for key, info in answers.items() if info is not None and key not in expected),
    )
