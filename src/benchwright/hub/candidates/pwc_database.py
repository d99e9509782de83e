"""Leads from the database of Papers With Code: one view that its owner keeps, ``hub_port_candidates_v1``, read only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from benchwright.contract import Exit, Failure, Problem, redact, some
from benchwright.hub.candidates.leads import Lead, lead_of, paper_address
from benchwright.hub.candidates.mapping import BoardMapping

VARIABLE = "PWC_DATABASE_URL"
VIEW = "hub_port_candidates_v1"
COLUMNS = (
    "result_id", "hf_model_url", "model_name", "dataset_slug", "dataset_name", "task_slug", "metric_name",
    "higher_is_better", "unit", "value_text", "value", "harness", "evaluated_on", "published", "arxiv_id",
    "paper_title", "source_url",
)  # fmt: skip
"""What the view has; more columns are left out."""
_CONTRACT = "have the owner of the database make the view: references/hub_port_candidates_v1.sql of the skill"
_INSTEAD = "or search without it: --source api"
_AT_THE_DOOR = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist", "permission")
"""In what a server says that turns a client away for good; the client library gives no code then."""
_DATASETS = sql.SQL("SELECT DISTINCT dataset_slug, dataset_name FROM {} WHERE hf_model_url IS NOT NULL")
_ROWS = sql.SQL(
    "SELECT row_to_json(one)::text FROM (SELECT {} FROM {} WHERE hf_model_url IS NOT NULL AND dataset_slug = ANY(%s)"
    " ORDER BY published DESC NULLS LAST, result_id) one"
)


def database_leads(settings: Mapping[str, str], mapping: BoardMapping, *, seconds: float = 60.0) -> list[Lead]:
    """All results of mapped benchmarks whose models have an address on the Hub, the newest papers first.

    The session can write nothing, and the server ends a statement after so many ``seconds``.

    Raises:
        Failure: ``PWC_DATABASE_URL`` is missing or none, the server turns it away, or has no such view (exit 3); it
            does not answer (exit 4).
        ModuleNotFoundError: psycopg is not installed.
    """
    url = settings.get(VARIABLE, "")
    if not url:
        fix = f"set {VARIABLE}, its address, in the environment or in a .env file; {_INSTEAD}"
        raise _refused("no-credentials", f"{VARIABLE} not set", fix)
    if not _is_address(url):
        fix = f"correct {VARIABLE}, such as postgresql://USER@HOST:PORT/NAME; in a password %40 stands for @"
        raise _refused("bad-credentials", "no address of a Postgres database", fix)
    try:
        with psycopg.connect(
            url,
            connect_timeout=10,
            application_name="benchwright",
            keepalives_idle=30,  # else a line that is dead would be waited on for two hours
            keepalives_interval=10,
            keepalives_count=3,
            prepare_threshold=None,  # poolers that hand a connection to others know nothing of prepared statements
        ) as connection:
            connection.read_only = True
            # In the transaction and not the session, which a pooler would hand to the next client.
            connection.execute(
                "SELECT set_config('statement_timeout', %s, true), set_config('timezone', 'UTC', true)",
                [str(int(seconds * 1000))],
            )
            return _read(connection, mapping)
    except psycopg.Error as error:
        raise _failure(error, seconds) from None


def _read(connection: psycopg.Connection[Any], mapping: BoardMapping) -> list[Lead]:
    view = sql.Identifier(VIEW)
    told = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(view)).description or ()
    if lacking := sorted(set(COLUMNS) - {column.name for column in told}):
        raise _refused("no-such-view", f"{VIEW} without {some(lacking)}", _CONTRACT)
    known = connection.execute(_DATASETS.format(view)).fetchall()
    slugs = [slug for slug, name in known if slug and mapping.knows(slug, name or "")]
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    rows = connection.execute(_ROWS.format(columns, view), [slugs]).fetchall()
    return [_lead(json.loads(text, parse_float=Decimal)) for (text,) in rows]


def _lead(row: Mapping[str, Any]) -> Lead:
    digits = row["value_text"] if str(row["value_text"] or "").strip() else row["value"]
    told = {
        **row,
        "id": row["result_id"],
        "url": row["hf_model_url"],
        "value_text": digits,
        "metric": row["metric_name"],
        "pwc_task": row["task_slug"],
        "source_url": row["source_url"] or paper_address(row["arxiv_id"]),
    }
    return lead_of(told, row["dataset_slug"], row["dataset_name"])


def _is_address(url: str) -> bool:
    """Whether it can be asked, and shown where it fails.

    A password with special characters in it moves the borders: then a part of it would be taken for the host or the
    database.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return False
    ports = str(parts.get("port") or "0").split(",")
    named = "".join(str(parts.get(name) or "") for name in ("host", "hostaddr", "dbname"))
    return "@" not in named and all(port.isdecimal() for port in ports)


def _failure(error: psycopg.Error, seconds: float) -> Failure:
    said = redact(" ".join((error.diag.message_primary or str(error)).split()))
    if isinstance(error, errors.QueryCanceled):
        return _unavailable(f"no answer within {seconds:g} s")
    if isinstance(error, errors.UndefinedTable):
        return _refused("no-such-view", said, _CONTRACT)
    if isinstance(error, errors.InsufficientPrivilege):
        return _refused("no-permission", said, f"have the owner of the database GRANT SELECT ON {VIEW}")
    if error.sqlstate is None and any(words in str(error) for words in _AT_THE_DOOR):
        return _refused("credentials-refused", said, f"correct {VARIABLE}; {_INSTEAD}")
    return _unavailable(said)


def _refused(code: str, found: str, fix: str) -> Failure:
    expected = f"a Postgres database with the view {VIEW}"
    return Failure(Problem(code, VARIABLE, found, expected, fix), exit=Exit.ENVIRONMENT)


def _unavailable(found: str) -> Failure:
    problem = Problem("database-unavailable", VARIABLE, found, "an answer", f"run this again later; {_INSTEAD}")
    return Failure(problem, exit=Exit.REMOTE)
