"""A list of methods, with look-ups that say what else there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.arena.metadata import MethodMetadata
from benchwright.contract import Failure, Problem, did_you_mean, usage_error


@dataclass(frozen=True, slots=True, init=False)
class MethodCollection:
    """Methods in display order. A method's key is its name and suite: a name may appear once in each suite.

    Raises:
        Failure: a key appears twice, so that result rows could not be told apart.
    """

    methods: tuple[MethodMetadata, ...]

    def __init__(self, methods: Iterable[MethodMetadata] = ()) -> None:
        object.__setattr__(self, "methods", tuple(methods))
        repeated = [key for key, count in Counter(entry.key for entry in self.methods).items() if count > 1]
        if repeated:
            raise Failure(
                Problem("repeated-method", f"method {method!r}", f"twice in suite {suite!r}", "once", "take one out")
                for method, suite in repeated
            )

    def __len__(self) -> int:
        return len(self.methods)

    def __iter__(self) -> Iterator[MethodMetadata]:
        return iter(self.methods)

    def with_methods(self, methods: Iterable[MethodMetadata]) -> MethodCollection:
        """This collection followed by ``methods``."""
        return MethodCollection((*self.methods, *methods))

    def get(self, method: str, suite: str | None = None) -> MethodMetadata:
        """The one method of that name, in that suite if one is given.

        Raises:
            Failure: there is none, or more than one (exit 2); the candidates are listed.
        """
        where = f"method {method!r}" + (f" in suite {suite!r}" if suite is not None else "")
        named = [entry for entry in self.methods if entry.method == method]
        if not named:
            raise self._missing(where, method, (entry.method for entry in self.methods))
        candidates = [entry for entry in named if suite is None or entry.suite == suite]
        if not candidates:
            raise usage_error(where, "not in that suite", fix=f"choose one of:\n{_table(named)}", code="unknown-method")
        return self._only(where, candidates)

    def by_display_name(self, display_name: str) -> MethodMetadata:
        """The one method that tables and figures show under that name.

        Raises:
            Failure: there is none, or more than one (exit 2); the candidates are listed.
        """
        where = f"display name {display_name!r}"
        candidates = [entry for entry in self.methods if entry.display_name == display_name]
        if not candidates:
            raise self._missing(where, display_name, (entry.display_name for entry in self.methods))
        return self._only(where, candidates)

    def info(self) -> list[dict[str, Any]]:
        """One row of stored fields a method."""
        return [entry.to_dict() for entry in self.methods]

    def _missing(self, where: str, name: str, known: Iterable[str]) -> Failure:
        found = "not in this collection" if self.methods else "this collection is empty"
        return usage_error(where, found, "", did_you_mean(name, known), code="unknown-method")

    @staticmethod
    def _only(where: str, candidates: Sequence[MethodMetadata]) -> MethodMetadata:
        if len(candidates) == 1:
            return candidates[0]
        raise usage_error(
            where,
            f"{len(candidates)} methods match",
            "one",
            f"name the method and its suite:\n{_table(candidates)}",
            code="ambiguous-method",
        )


def _table(methods: Sequence[MethodMetadata]) -> str:
    """The methods' keys and display names in aligned columns."""
    rows = [("method", "suite", "display_name")]
    rows += [(entry.method, entry.suite, entry.display_name) for entry in methods]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"        {line}".rstrip() for line in lines)
