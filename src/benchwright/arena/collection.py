"""A list of methods, with lookups that say what else there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchwright.arena.metadata import MethodMetadata
from benchwright.arena.names import did_you_mean
from benchwright.contract import Failure, usage_error


@dataclass(frozen=True)
class MethodCollection:
    """Methods in display order. The key of a method is its name and suite; one name may appear in several suites."""

    methods: tuple[MethodMetadata, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(self.methods))

    def __len__(self) -> int:
        return len(self.methods)

    def __iter__(self) -> Iterator[MethodMetadata]:
        return iter(self.methods)
