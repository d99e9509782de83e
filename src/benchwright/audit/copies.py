"""Several folders of one run in one audit: what is to be done is said of the fullest, and of the others nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from benchwright.audit.run import Leg, Run


def without_copies(legs: Sequence[Leg]) -> list[Leg]:
    """The evals, those in a run's further folders marked as copies of what is in the one with most valid trials.

    Folders are of one run where they have Harbor's id of it in common, or a row of the database. One with trials comes
    before an aggregate alone, which proves none. Of folders with as many trials the first by its path counts.
    """
    of_run: dict[Run, list[Leg]] = {}
    for leg in legs:
        of_run.setdefault(leg.run, []).append(leg)
    notes: dict[Run, list[str]] = {}
    copy_of: dict[Run, str] = {}
    for group in _groups(of_run):
        best, *others = sorted(group, key=lambda run: _rank(of_run[run]))
        for run in others:
            copy_of[run] = _folder(of_run[best])
            notes.setdefault(best, []).append(_told(of_run[run], of_run[best]))
            notes.setdefault(run, []).append(_told(of_run[best], of_run[run]))
    return [leg.learned(copy_of=copy_of.get(leg.run)).noted(*notes.get(leg.run, ())) for leg in legs]


def _groups(of_run: Mapping[Run, Sequence[Leg]]) -> list[list[Run]]:
    """The runs that are one, for each that there are several of."""
    signs = {run: frozenset(_signs(run, legs)) for run, legs in of_run.items()}
    counts = Counter(chain.from_iterable(signs.values()))
    groups: list[tuple[frozenset[str], list[Run]]] = []
    for run, own in signs.items():
        shared = frozenset(sign for sign in own if counts[sign] > 1)
        same = [group for group in groups if group[0] & shared]
        groups = [group for group in groups if group not in same]
        groups.append((shared.union(*(sign for sign, _ in same)), [*chain(*(runs for _, runs in same)), run]))
    return [runs for _, runs in groups if len(runs) > 1]


def _signs(run: Run, legs: Sequence[Leg]) -> Iterator[str]:
    """What only the folders of one run have in common."""
    if run.result_id is not None:
        yield f"run {run.result_id}"
    yield from (f"row {row.id}" for leg in legs for row in leg.facts.rows or () if row.of_run == "yes")


def _rank(legs: Sequence[Leg]) -> tuple[bool, int, int, str]:
    trials = [leg.facts.trials for leg in legs if leg.facts.trials is not None]
    unproved = not any(one.whole for one in trials)
    return unproved, -sum(one.valid for one in trials), -sum(one.attempted for one in trials), _folder(legs)


def _folder(legs: Sequence[Leg]) -> str:
    return legs[0].facts.folder or legs[0].facts.run_tag


def _told(there: Sequence[Leg], here: Sequence[Leg]) -> str:
    counts = [sum(leg.facts.trials.valid for leg in legs if leg.facts.trials) for legs in (there, here)]
    return f"{_folder(there)} is of the same run: {counts[0]:,} valid trials there, {counts[1]:,} here"
