"""An entry that is in the log, with what was not known yet when it was written. What someone wrote is never touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchwright.publish.run_log.entry import NOTHING_SAID

_BULLET = re.compile(r"- \*\*(?P<name>[^*]+?):?\*\*:?(?P<text>.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True)
class _Bullet:
    """A bullet: its first line and the one behind its last, counted from 0, and its text on one line."""

    name: str
    start: int
    stop: int
    text: str

    @property
    def is_open(self) -> bool:
        """Whether nothing was known to write."""
        return self.text in NOTHING_SAID


def completed(there: str, known: str) -> tuple[str, tuple[str, ...]]:
    """``there`` with the bullets of ``known`` that it lacks or has open, and their names.

    Both are entries of one run; new lines end as the heading of ``there`` does. An entry without bullets stays as it
    is.
    """
    lines, new = there.split("\n"), known.split("\n")
    bullets = {bullet.name: bullet for bullet in reversed(_bullets(lines))}
    if not bullets:
        return there, ()
    end = "\r" if lines[0].endswith("\r") else ""
    place = min(bullet.start for bullet in bullets.values())
    added: dict[str, None] = {}
    gone: set[int] = set()
    inserts: dict[int, list[str]] = {}
    for bullet in _bullets(new):
        old = bullets.get(bullet.name)
        if old is not None:
            place = old.stop
        if bullet.is_open or not (old is None or old.is_open):
            continue
        if old is not None:
            gone.update(range(old.start, old.stop))
        inserts.setdefault(place, []).extend(line + end for line in new[bullet.start : bullet.stop])
        added[bullet.name] = None
    result: list[str] = []
    for number, line in enumerate(lines):
        result += inserts.get(number, [])
        result += [] if number in gone else [line]
    return "\n".join(result), tuple(added)


def _bullets(lines: Sequence[str]) -> list[_Bullet]:
    """The bullets above the plan, nested lists and indented lines included."""
    return list(_each_bullet(lines[: _first_fence(lines)]))


def _each_bullet(lines: Sequence[str]) -> Iterator[_Bullet]:
    for start, line in enumerate(lines):
        if match := _BULLET.match(line):
            stop = start + 1
            while stop < len(lines) and lines[stop].startswith((" ", "\t")):
                stop += 1
            text = " ".join([match["text"], *lines[start + 1 : stop]])
            yield _Bullet(match["name"], start, stop, " ".join(text.split()))


def _first_fence(lines: Sequence[str]) -> int:
    return next((number for number, line in enumerate(lines) if _FENCE.match(line)), len(lines))
