"""The evaluation database's tables, made and filled in a Postgres of this machine's own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import groupby
from typing import Any

from benchwright.contract import Exit, Failure, Problem, counted, did_you_mean

TABLES = (
    "datasets",
    "agents",
    "models",
    "benchmarks",
    "sandbox_tasks",
    "sandbox_benchmark_tasks",
    "sandbox_jobs",
    "sandbox_trials",
    "sandbox_trial_model_usage",
)
"""In the order in which rows may be put in: what is referred to comes first."""


def create_tables(url: str) -> bool:
    """Make the tables of the evaluation database; False if they are there."""
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(0)")  # one maker at a time
        there = connection.execute("SELECT to_regclass('sandbox_jobs') IS NOT NULL").fetchone()
        if there == (True,):
            return False
        connection.execute((files("benchwright.evaldb") / "schema.sql").read_bytes())
    return True


def load_rows(url: str, rows: Any) -> dict[str, int]:
    """Put rows into the tables, all or none: ``{"models": [{"name": ...}], ...}``, with the numbers of rows returned.

    Columns that a row leaves out get their defaults. A row may refer to one before it in the same table.

    Raises:
        Failure: ``rows`` is of another form, names what there is not or lacks what has no default, every problem (exit
            2); the database refuses a row (exit 1).
    """
    import psycopg
    from psycopg import sql

    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name::text, column_name::text, is_nullable = 'NO' AND column_default IS NULL"
            " FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
        problems = list(_problems(rows, {(table, name): needed for table, name, needed in columns}))
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        statement = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM json_populate_recordset(NULL::{0}, %s::json)")
        for table in sorted(rows, key=TABLES.index):
            for names, alike in groupby(rows[table], key=lambda row: tuple(sorted(row))):
                parts = sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
                try:
                    connection.execute(statement.format(*parts), [json.dumps(list(alike))])
                except psycopg.Error as error:
                    said = ": ".join(filter(None, (error.diag.message_primary, error.diag.message_detail)))
                    fix = "correct the file; rows that are there already stay as they are: leave them out"
                    raise Failure(Problem("row-refused", table, said or str(error), fix=fix)) from None
    return {table: len(rows[table]) for table in sorted(rows, key=TABLES.index)}


def _problems(rows: Any, columns: Mapping[tuple[str, str], bool]) -> Iterator[Problem]:
    """What is wrong with the form of the rows; ``columns`` says of each column whether it needs a value."""
    form = "rows of tables: {TABLE: [{COLUMN: VALUE}]}"
    if not isinstance(rows, Mapping):
        yield Problem("not-rows", "the rows", "no JSON object", form, "correct the file")
        return
    for table, several in rows.items():
        if table not in TABLES:
            fix = did_you_mean(str(table), TABLES)
            yield Problem("no-such-table", str(table), "no table of the evaluation database", ", ".join(TABLES), fix)
        elif not isinstance(several, list) or not all(isinstance(row, Mapping) and row for row in several):
            yield Problem("not-rows", table, "no list of rows", form, "correct the file")
        else:
            for name in sorted({name for row in several for name in row if (table, name) not in columns}):
                fix = did_you_mean(name, [column for of, column in columns if of == table])
                yield Problem("no-such-column", f"{table}.{name}", "no column of this table", fix=fix)
            needed = sorted(name for (of, name), needs in columns.items() if of == table and needs)
            lacking = Counter(tuple(name for name in needed if row.get(name) is None) for row in several)
            for names, number in lacking.items():
                if names:
                    found = f"{counted(number, 'row')} without {', '.join(names)}"
                    yield Problem("no-value", table, found, "a value for each", "add them to the file")
