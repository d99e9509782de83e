"""Arrays: what one job file holds, and what launches it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.launch.bundles import Bundles


@dataclass(frozen=True)
class Array:
    """The tasks of one job file, of at most ``largest`` items each.

    ``command`` launches them on a cluster; it is empty for a run on this machine.
    """

    job_file: Path
    tasks: int
    items: int
    largest: int
    command: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The array as JSON data."""
        return {**vars(self), "job_file": str(self.job_file)}


def split(bundles: Bundles, most: int | None) -> Iterator[Bundles]:
    """Bundles of one size in pieces of at most ``most`` bundles, in order; None is no bound."""
    number = len(bundles.bundles)
    step = number if most is None else most
    for start in range(0, number, step):
        yield Bundles(bundles.size, bundles.bundles[start : start + step])


def launch_commands(arrays: Sequence[Array]) -> list[str]:
    """The commands that launch arrays on a cluster."""
    return [array.command for array in arrays if array.command]
