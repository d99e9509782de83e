"""What the database says after a push, against what was planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from benchwright.contract import Failure, Problem, some
from benchwright.evaldb import EvalDatabase, Insert, Record
from benchwright.evaldb.comparing import differences
from benchwright.evaldb.source import KEYS
from benchwright.evaldb.write_steps import key_of
from benchwright.repair.push.plan import PushPlan

_AGAIN = "run this again: it compares, and writes what is not as planned"


def verify(plan: PushPlan, database: EvalDatabase) -> int:
    """Read back every row that a plan wrote, and compare every value; how many rows there are.

    Raises:
        Failure: a row is not there or has another value, or was to go and is there; every such row (code
            ``not-as-planned``, exit 1). The database does not answer (exit 4).
    """
    wanted = _wanted(plan)
    problems: list[Problem] = []
    for table, rows in wanted.items():
        problems += _problems(database, table, rows)
    removed = [trial["id"] for trial in plan.removed]
    for trial in database.records("sandbox_trials", "id", removed, columns=("id", "job_id")):
        problems.append(
            Problem("not-as-planned", f"sandbox_trials {trial['id']}", "still there", "no such row", _AGAIN)
        )
    if problems:
        raise Failure(problems)
    return sum(map(len, wanted.values()))


def _wanted(plan: PushPlan) -> dict[str, dict[tuple[str, ...], Record]]:
    """What each row has to say in the end, by table and key."""
    wanted: dict[str, dict[tuple[str, ...], Record]] = defaultdict(dict)
    for change in plan.changes:
        write = change.write
        key = key_of(write.table, write.key)
        values = write.record if isinstance(write, Insert) else {**write.key, **write.values}
        wanted[write.table][key] = {**wanted[write.table].get(key, {}), **values}
    return wanted


def _problems(database: EvalDatabase, table: str, rows: dict[tuple[str, ...], Record]) -> Iterator[Problem]:
    first = KEYS[table][0]
    found = database.records(table, first, sorted({str(row[first]) for row in rows.values()}))
    there = {key_of(table, record): record for record in found}
    for key, row in rows.items():
        if key not in there:
            yield Problem("not-as-planned", f"{table} {'/'.join(key)}", "not there", "the row that was written", _AGAIN)
        elif differing := some(differences(there[key], row)):
            yield Problem("not-as-planned", f"{table} {'/'.join(key)}", differing, "what was written", _AGAIN)
