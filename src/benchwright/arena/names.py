"""What a name may be."""

from __future__ import annotations

from collections.abc import Iterable

FOLDER_NAME = "a name that can name a folder"
_LONGEST = 200
"""Bytes. File systems have room for 255, and a little of it is for what is put behind a name."""


def can_name_folder(name: str) -> bool:
    """Whether a folder may have this name on any system, and be seen there.

    It may not where the name is empty, longer than 200 bytes, has a separator or what cannot be printed, begins with a
    dot, which hides a folder, or begins or ends with what some systems take away (a space, a dot at the end).
    """
    return (
        name.isprintable()
        and 0 < len(name.encode()) <= _LONGEST
        and not set(name) & set("/\\")
        and not name.startswith(".")
        and not name.endswith(".")
        and name == name.strip()
    )


def collisions(names: Iterable[str]) -> list[tuple[str, ...]]:
    """The groups of different names that are one name where case or the form of accents does not count, sorted."""
    from unicodedata import normalize

    groups: dict[str, set[str]] = {}
    for name in names:
        groups.setdefault(normalize("NFC", normalize("NFC", name).casefold()), set()).add(name)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)
