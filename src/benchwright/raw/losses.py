"""What is lost of a run's results, and whether that fails whoever inspects or processes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from benchwright.contract import counted
from benchwright.raw.finding import RawFile


class Coded(Protocol):
    """A problem or a finding."""

    @property
    def code(self) -> str:
        """The stable word for what is wrong."""


_Loss = TypeVar("_Loss", bound=Coded)


def unaccepted(losses: Iterable[_Loss], accepted: Collection[str]) -> list[_Loss]:
    """The losses that fail a run's inspection and its processing: those whose codes nobody has ``accepted``."""
    return [loss for loss in losses if loss.code not in accepted]


def lost_tasks(files: Iterable[RawFile], used: Collection[str]) -> dict[str, str]:
    """The tasks that have ``files`` and none that is ``used``, by the names of their folders; what to say of each."""
    counts = Counter(file.task_key for file in files if file.task_key not in used)
    return {task: f"no result in {counted(count, 'file')}" for task, count in sorted(counts.items())}
