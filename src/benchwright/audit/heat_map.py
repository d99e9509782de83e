"""Rewards per task and attempt as the data of a page, small enough for 100,000 trials."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchwright.audit.report_words import visible
from benchwright.audit.trial_cells import TrialCell
from benchwright.harbor import TrialState

MOST_BYTES = 8_000_000
"""Of the data of all heat maps of a page; 100,000 trials with ordinary names take half of it."""
_LONGEST = 200
"""Letters of a task's name or of a reason."""
_LETTERS: dict[TrialState, str] = {"unscored": "u", "corrupt": "c", "missing": "m"}
_Row = list[Any]


@dataclass(frozen=True)
class HeatMap:
    """An eval's trials, ready for JSON.

    ``rows`` has a list for each task: the number of its name, what the names of its folders begin with, and its cells,
    None where there is no such attempt. A cell is a reward or the first letter of a state, the rest of the folder's
    name or None, and the number of the reason where there is one. ``base`` is the link that folders are below, None
    where they cannot be linked. ``left_out`` is how many tasks had no room, ``states`` counts all trials, and
    ``undrawn`` planned ones are of tasks that have no folder.
    """

    rows: list[_Row]
    base: str | None
    attempts: int
    left_out: int
    states: Counter[TrialState]
    undrawn: int

    def to_dict(self) -> dict[str, Any]:
        """What the page's script draws from."""
        return {"rows": self.rows, "base": self.base, "attempts": self.attempts}


class HeatMaps:
    """The heat maps of a page, with the names and reasons that they share, as long as there is room.

    ``at`` is the folder that the page will be in: links to folders start there, and without it there are none.
    """

    def __init__(self, at: Path | None, most_bytes: int = MOST_BYTES) -> None:
        self._at = at
        self._room = most_bytes
        self._texts: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """The names of tasks and the reasons, in the order of their numbers."""
        return list(self._texts)

    def draw(self, cells: Sequence[TrialCell], planned: int | None) -> HeatMap:
        """The heat map of an eval; tasks with the most trials that are not valid are the last to be left out."""
        tasks = defaultdict(list)
        for cell in cells:
            tasks[cell.task].append(cell)
        above, base = self._place(cells)
        worst_first = sorted(tasks, key=lambda task: (-sum(cell.state != "valid" for cell in tasks[task]), task))
        kept = {}
        for task in worst_first:
            row = self._row(task, tasks[task], above)
            if row is None:
                break
            kept[task] = row
        return HeatMap(
            rows=[kept[task] for task in sorted(kept)],
            base=base,
            attempts=max((cell.attempt for cell in cells), default=0),
            left_out=len(tasks) - len(kept),
            states=Counter(cell.state for cell in cells),
            undrawn=max(0, (planned or 0) - len(cells)),
        )

    def _place(self, cells: Sequence[TrialCell]) -> tuple[str, str | None]:
        """The folder that all folders of trials are in, and the link to it."""
        parents = {cell.folder.rpartition("/")[0] for cell in cells if cell.folder}
        if not parents or not all(map(os.path.isabs, parents)):
            return "", None
        above = os.path.commonpath(parents)
        return above, None if self._at is None else _quoted(os.path.relpath(above, self._at))

    def _row(self, task: str, cells: Sequence[TrialCell], above: str) -> _Row | None:
        """A task's row; None where there is no room for it any more."""
        wanted = dict.fromkeys(visible(text, _LONGEST) for text in (task, *(cell.why for cell in cells)) if text)
        new = [text for text in wanted if text not in self._texts]
        numbers = {text: len(self._texts) + at for at, text in enumerate(new)}
        names = [_quoted(cell.folder.removeprefix(above).removeprefix("/")) for cell in cells]
        start = _shared_start([name for name in names if name])
        drawn: list[_Row | None] = [None] * max(cell.attempt for cell in cells)
        for cell, name in zip(cells, names, strict=True):
            why = visible(cell.why, _LONGEST)
            reason = [numbers.get(why, self._texts.get(why))] if why else []
            drawn[cell.attempt - 1] = [_shown(cell), name.removeprefix(start) if name else None, *reason]
        title = visible(task, _LONGEST)
        row = [numbers.get(title, self._texts.get(title)), start, drawn]
        size = len(json.dumps([row, new], separators=(",", ":")))
        if size > self._room:
            return None
        self._room -= size
        self._texts |= numbers
        return row


def _shared_start(names: Sequence[str]) -> str:
    """What all of some names begin with."""
    first, last = min(names, default=""), max(names, default="")
    same = next((at for at, letter in enumerate(first) if last[at] != letter), len(first))
    return first[:same]


def _quoted(path: str) -> str:
    return quote(os.fsencode(path))


def _shown(cell: TrialCell) -> str | float:
    """A cell's reward, short, or the letter of its state."""
    if cell.state != "valid":
        return _LETTERS[cell.state]
    reward = round(cell.reward or 0.0, 6)
    return int(reward) if reward.is_integer() else reward
