"""What is lost of a run's results, and whether that fails whoever inspects or processes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, TypeVar

from benchwright.arena import did_you_mean
from benchwright.arena.acceptable import LOSSES
from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.raw.finding import EmptyFolder, RawFile


class Coded(Protocol):
    """A problem or a finding."""

    @property
    def code(self) -> str:
        """The stable word for what is wrong."""


_Loss = TypeVar("_Loss", bound=Coded)


def unaccepted(losses: Iterable[_Loss], accepted: Collection[str]) -> list[_Loss]:
    """The losses that fail a run's inspection and its processing: those whose codes nobody has ``accepted``."""
    return [loss for loss in losses if loss.code not in accepted]


def check_codes(codes: Iterable[str]) -> None:
    """Refuse codes that no loss has.

    Raises:
        Failure: a problem for each, with close ones (exit 2).
    """
    problems = [
        Problem("usage", "--accept-finding", f"{code!r} is no code of a loss", "", did_you_mean(code, LOSSES))
        for code in codes
        if code not in LOSSES
    ]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def lost_tasks(files: Iterable[RawFile], used: Collection[str]) -> dict[str, str]:
    """The tasks that have ``files`` and none that is ``used``, by the names of their folders; what to say of each."""
    counts = Counter(file.task_key for file in files if file.task_key not in used)
    return {task: f"no result in {counted(count, 'file')}" for task, count in sorted(counts.items())}


def empty_tasks(empty: Iterable[EmptyFolder], known: Collection[str]) -> dict[str, str]:
    """The tasks of which there are ``empty`` folders alone, ``known`` being those with files; what to say of each."""
    splits: Mapping[str, list[EmptyFolder]] = defaultdict(list)
    for each in empty:
        if each.task_key not in known:
            splits[each.task_key].append(each)
    return {task: _all_empty(folders) for task, folders in sorted(splits.items())}


def _all_empty(folders: Collection[EmptyFolder]) -> str:
    begun = sum(bool(each.split) for each in folders)
    if begun:
        return f"no result in {begun:,} {'folder of a split' if begun == 1 else 'folders of splits'}"
    return "an empty folder" if len(folders) == 1 else f"{len(folders):,} empty folders"
