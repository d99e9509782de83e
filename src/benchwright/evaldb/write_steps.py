"""What both writing backends make of a plan: its steps, what became of each, and in what words it was refused."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, some
from benchwright.evaldb.comparing import differences, holds
from benchwright.evaldb.source import KEYS, Record
from benchwright.evaldb.writes import OWNED, Call, Insert, Update, Write, Written

FUNCTIONS = Path(__file__).with_name("functions.sql")
FUNCTIONS_VERSION = 3
"""What ``benchwright_functions()`` returns where the functions of this version are installed."""
_PREFIX = "benchwright_"
_MOST_ROWS = 100
"""Rows in one insert: with their configs they are about a megabyte."""
_CONTESTED = frozenset({"23503", "23505"})
"""A foreign key or a unique one stands against the write: somebody wrote what was not there when the plan was made.
https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_ROW_REFUSED = ("22", "23")
_NO_RIGHTS = frozenset({"25006", "42501"})

Step = tuple[Insert, ...] | Update | Call


def function_name(call: Call) -> str:
    """What the function of a call is called in a schema."""
    return _PREFIX + call.function


def steps(plan: Sequence[Write]) -> Iterator[Step]:
    """The plan in its order, inserts into one table with the same columns together."""
    together: list[Insert] = []
    for write in plan:
        if together and not (
            isinstance(write, Insert)
            and write.table == together[0].table
            and write.record.keys() == together[0].record.keys()
            and len(together) < _MOST_ROWS
        ):
            yield tuple(together)
            together = []
        if isinstance(write, Insert):
            together.append(write)
        else:
            yield write
    if together:
        yield tuple(together)


def change_arguments(update: Update) -> dict[str, Any]:
    """The arguments of the function ``change_row`` for an update."""
    return {
        "target": update.table,
        "row_key": dict(update.key),
        "row_owner": update.owner,
        "seen": dict(update.read),
        "wanted": dict(update.values),
    }


def key_of(table: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    """A row's key as texts that are equal where the keys are."""
    return tuple(str(record[column]).lower() for column in KEYS[table])


def settled_inserts(
    place: str, inserts: Sequence[Insert], inserted: Iterable[Record], there: Iterable[Record]
) -> list[Written]:
    """What became of inserts into one table: the rows that were ``inserted``, and those that were ``there``.

    Raises:
        Failure: another row is under a key, or the row is gone again (code ``contested``, exit 5).
    """
    table = inserts[0].table
    new = {key_of(table, record): record for record in inserted}
    old = {key_of(table, record): record for record in there}
    found = []
    for insert in inserts:
        key = key_of(table, insert.record)
        if key in new:
            found.append(Written(insert, "done", None, new[key]))
        elif key in old and holds(old[key], insert.record):
            found.append(Written(insert, "done-already", old[key], old[key]))
        else:
            raise contested(place, insert, old.get(key))
    return found


def settled(place: str, write: Update | Call, told: Any) -> Written:
    """What became of a write that a function did, by what it returned.

    Raises:
        Failure: it was refused (code ``contested``, exit 5); it returned what none of ours does (exit 4).
    """
    state = told.get("state") if isinstance(told, dict) else None
    if state == "contested":
        raise contested(place, write, told.get("now"), told.get("references"))
    if state not in ("done", "done-already", "kept"):
        problem = Problem(
            "database-unavailable",
            place,
            f"an answer that is none of {named(write)}",
            "one of ours",
            "run this again; if it says so again, have functions.sql installed anew",
        )
        raise Failure(problem, exit=Exit.REMOTE)
    return Written(write, state, told.get("before"), told.get("after"), told)


def contested(
    place: str, write: Write, now: Mapping[str, Any] | None, references: Mapping[str, int] | None = None
) -> Failure:
    """The refusal of a write because of what is there ``now``."""
    owner = _owner(write)
    whose = now.get("username") if now else None
    fix = "look at it, then run this again: it plans anew"
    if owner is not None and whose is not None and whose != owner:
        found, fix = f"it is {whose}'s, and not {owner}'s", "leave it, and tell its owner"
    elif now is None:
        found = "there is no such row"
    elif references:
        found = f"{some(f'{count:,} of {name}' for name, count in sorted(references.items()))} refer to it"
    else:
        wanted = write.record if isinstance(write, Insert) else write.read if isinstance(write, Update) else {}
        found = some(differences(now, wanted)) or "it, or what belongs to it, has changed"
    return Failure(
        Problem("contested", f"{named(write)} in {place}", found, "what was read", fix),
        exit=Exit.REFUSED,
    )


def refusal(place: str, code: str, said: str) -> Failure | None:
    """The failure of a write that the database refused, by its SQLSTATE; None where it is none of the write's."""
    if code in _CONTESTED:
        fix = "look at it, then run this again: it plans anew"
        return Failure(Problem("contested", place, said, "what was read", fix), exit=Exit.REFUSED)
    if code.startswith(_ROW_REFUSED):
        return row_refused(place, said)
    if code in _NO_RIGHTS:
        fix = "use SUPABASE_SERVICE_ROLE_KEY, or in DATABASE_URL a role that may write these tables"
        return Failure(Problem("no-permission", place, said, "rights to write", fix), exit=Exit.ENVIRONMENT)
    return None


def row_refused(place: str, said: str) -> Failure:
    """The failure of a row that no database takes, or this one does not."""
    return Failure(
        Problem(
            "row-refused",
            place,
            said,
            "a row that the database takes",
            "correct the value in the run or the option that it is from",
        )
    )


def needs_function(place: str, name: str) -> Failure:
    """The refusal of a plan whose functions the database does not have."""
    install = f'psql "$DATABASE_URL" -f {shlex.quote(str(FUNCTIONS))}'
    fix = f"have them installed ({install}), or set DATABASE_URL: Postgres needs none"
    problem = Problem("needs-function", place, f"it has no function {name}", "the functions of functions.sql", fix)
    return Failure(problem, exit=Exit.REFUSED)


def named(write: Write) -> str:
    """What a write is about: ``sandbox_jobs ID``, or the function with the row that it is given."""
    if isinstance(write, Insert):
        return f"{write.table} {'/'.join(map(str, write.key.values()))}"
    if isinstance(write, Update):
        return f"{write.table} {'/'.join(map(str, write.key.values()))}"
    return f"{write.function} {_subject(write)}".strip()


def _subject(call: Call) -> str:
    """The id of the row that a function is about."""
    for name in ("target", "job", "model", "benchmark"):
        value = call.arguments.get(name)
        if value is not None:
            return str(value["id"] if isinstance(value, Mapping) else value)
    return ""


def _owner(write: Write) -> str | None:
    if isinstance(write, Insert):
        column = OWNED.get(write.table)
        return write.record.get(column) if column else None
    return write.owner if isinstance(write, Update) else write.arguments.get("row_owner")
