"""The one call that the backends answer alike: select rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from benchwright.contract import Exit, Failure, Problem

Record = dict[str, Any]
"""A row as JSON: times and ids are texts."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "agents": ("id",),
    "benchmarks": ("id",),
    "models": ("id",),
    "sandbox_benchmark_tasks": ("benchmark_id", "task_checksum"),
    "sandbox_jobs": ("id",),
    "sandbox_tasks": ("checksum",),
    "sandbox_trial_model_usage": ("trial_id", "model_id", "model_provider"),
    "sandbox_trials": ("id",),
}
"""The columns that tell the rows of a table apart. Rows come in their order, and pages are cut by it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a column must be: ``eq``, equal to a text; ``gte``, that or more; ``in``, one of several texts."""

    column: str
    operator: Literal["eq", "gte", "in"]
    value: str | tuple[str, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The texts, one or several."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


class RowSource(Protocol):
    """A backend, for reading. It sends nothing that could write."""

    place: str
    """What it is called in messages, without any secret."""
    sees_everything: bool
    """Whether row-level security can hide no row from it."""

    def select(self, table: str, *conditions: Condition, columns: Sequence[str] = ("*",)) -> list[Record]:
        """Every row of a table of ``KEYS`` that meets all conditions.

        They are in the order of its key; where many values had to be asked for in portions, portion by portion.
        ``columns`` has the key's among them, or is ``*``, all there are.

        Raises:
            Failure: credentials are missing, wrong or do not suffice, the database has no such table, or a value is
                longer than it ``takes`` (exit 3); it cannot be reached, was lost, or answered what no database answers
                (exit 4).
        """

    def takes(self, text: str) -> bool:
        """Whether a text is short enough to be asked for."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The bound on one request. Times are in seconds.

    A request is sent at most ``attempts`` times; between two lies ``first_wait``, doubled each time up to
    ``longest_wait``. ``connect_timeout`` and ``answer_timeout`` bound one attempt.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 4.0
    connect_timeout: float = 10.0
    answer_timeout: float = 60.0


def askable(conditions: Iterable[Condition]) -> tuple[Condition, ...] | None:
    """The conditions as a database can be asked for them; None where no row can meet them all.

    A text with a NUL or half a surrogate pair is in no database: among several it is left out.
    """
    found = []
    for condition in conditions:
        values = tuple(value for value in dict.fromkeys(condition.values) if is_storable(value))
        if not values:
            return None
        found.append(replace(condition, value=values if condition.operator == "in" else values[0]))
    return tuple(found)


def is_storable(text: str) -> bool:
    """Whether a database can hold a text, or be asked for it."""
    try:
        return "\0" not in text and bool(text.encode() or True)
    except UnicodeEncodeError:
        return False


def unavailable(place: str, found: str) -> Failure:
    """The failure of a database that does not answer, now."""
    return Failure(Problem("database-unavailable", place, found, "an answer", "run this again later"), exit=Exit.REMOTE)


def refused(place: str, found: str, fix: str, *, code: str = "database-refused") -> Failure:
    """The failure of a database that will answer the same way until something on this side changes."""
    return Failure(Problem(code, place, found, "a database that may be read", fix), exit=Exit.ENVIRONMENT)


def too_long(place: str, what: str, text: str) -> Failure:
    """The failure of a question with a text that the requests of a backend have no room for."""
    found = f"{what} of {len(text):,} characters, which no request has room for: {text:.40}..."
    fix = "use DATABASE_URL, over which texts may be of any length: --db postgres"
    return refused(place, found, fix, code="too-long")
