"""Writes to the evaluation database as data: what a plan is made of, and what became of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from benchwright.evaldb.source import KEYS, Record

OWNED = {"sandbox_jobs": "username"}
"""The tables whose rows say whose they are, and the column that does."""


@dataclass(frozen=True, slots=True)
class Insert:
    """A row that is to be there. ``record`` has its key, chosen by whoever plans, and every value that matters.

    A row with this key and these values is done already; another row under the key is contested.
    """

    table: str
    record: Record

    def __post_init__(self) -> None:
        absent = [column for column in KEYS[self.table] if self.record.get(column) is None]
        if absent:
            raise ValueError(f"a row of {self.table} needs {', '.join(absent)}")

    @property
    def key(self) -> Record:
        """The columns that tell the row apart."""
        return {column: self.record[column] for column in KEYS[self.table]}


@dataclass(frozen=True, slots=True)
class Update:
    """One row that changes from ``read`` to ``values``: compare and set, in one statement.

    ``read`` are the values that it had when the plan was made; the statement finds no row that has others. ``owner`` is
    whose row it must be, compulsory where rows have an owner (``OWNED``). ``values`` already there are done already.
    """

    table: str
    key: Mapping[str, Any]
    owner: str | None
    read: Mapping[str, Any]
    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        if set(self.key) != set(KEYS[self.table]):
            raise ValueError(f"a row of {self.table} is named by {', '.join(KEYS[self.table])}")
        if (self.owner is not None) != (self.table in OWNED):
            raise ValueError(f"an owner is named for {', '.join(OWNED)}, and only there")
        if not self.values or not set(self.values) <= set(self.read):
            raise ValueError("every value that changes is compared first")


@dataclass(frozen=True, slots=True)
class Call:
    """One of the functions of ``functions.sql``, by its name and its arguments as JSON.

    Each compares what it is given as read, counts references of all users, and writes, in one transaction.
    """

    function: str
    arguments: Mapping[str, Any]


Write = Insert | Update | Call

State = Literal["done", "done-already", "kept"]
"""``kept``: only of a ``Call`` that deletes what nothing refers to, where something does."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a write. ``before`` and ``after`` are the row, None where there was or is none to show.

    Where it was done already ``before`` is what is there. For a ``Call``, ``told`` is what the function returned.
    """

    write: Write
    state: State
    before: Record | None = None
    after: Record | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


class RowWriter(Protocol):
    """A backend, for writing."""

    place: str
    """What it is called in messages, without any secret."""

    def write(self, plan: Sequence[Write]) -> tuple[Written, ...]:
        """Do a plan in its order, and say for each write what became of it.

        In Postgres it is one transaction, all or nothing. Over Supabase each step is one, inserts that follow each
        other in one table being one step, and the first that is refused stops the rest; the same plan given again goes
        on behind what is done.

        Raises:
            Failure: the state is not what was read, or the row is another owner's (code ``contested``), or the
                functions that the plan needs are not in the database (``needs-function``), exit 5; the database takes
                no such row (``row-refused``), exit 1; no rights or wrong credentials, exit 3; it cannot be reached or
                was lost, exit 4: then it is not known whether the last step was done.
        """

    def close(self) -> None:
        """Close the connection."""
