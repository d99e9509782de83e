"""The results of one spec on the same boards: once all of them are there, each stands behind those that are better."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping

from benchwright.contract import Failure
from benchwright.hub.boards import Boards
from benchwright.hub.opening.drafting import Draft
from benchwright.hub.opening.placing import Rivals
from benchwright.hub.ranks import Prediction, Rival, predicted_view


def among_each_other(boards: Boards, drafts: Mapping[int, Draft]) -> Mapping[int, Rivals]:
    """The drafts that are to be made again, each with its rivals.

    Of those that somebody would see nowhere, the last one gives way to the others first. What is left is made again
    where it would be seen in another view, or at another rank.
    """
    left, again = dict(drafts), dict[int, Rivals]()
    while True:
        rivals = {number: _rivals(number, left) for number in left}
        seen = {number: _predictions(boards, draft, rivals[number]) for number, draft in left.items()}
        hidden = next((number for number in reversed(seen) if None in seen[number]), None)
        if hidden is None:
            changed = [n for n, draft in left.items() if seen[n] != [one.placed.prediction for one in draft.results]]
            return again | {number: rivals[number] for number in changed}
        again[hidden] = rivals[hidden]
        del left[hidden]


def _rivals(number: int, drafts: Mapping[int, Draft]) -> Rivals:
    """The results of all drafts but one."""
    found: defaultdict[tuple[str, str], list[Rival]] = defaultdict(list)
    for other, draft in drafts.items():
        if other != number:
            for one in draft.results:
                rival = Rival(one.entry.value, draft.model.parameters, has_base=bool(draft.model.bases))
                found[one.placed.board].append(rival)
    return found


def _predictions(boards: Boards, draft: Draft, rivals: Rivals) -> list[Prediction | None]:
    """Where the results of a draft would be seen among rivals; None: nowhere, or that is not told."""
    found: list[Prediction | None] = []
    for one in draft.results:
        seen = None
        with contextlib.suppress(Failure):
            others = rivals.get(one.placed.board, ())
            seen = predicted_view(boards, *one.placed.board, one.entry.value, draft.model, rivals=others)
        found.append(seen)
    return found
