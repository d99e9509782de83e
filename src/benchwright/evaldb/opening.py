"""Which database the settings name, its read side and its write side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.evaldb.database import EvalDatabase
from benchwright.evaldb.source import Patience, RowSource
from benchwright.evaldb.writes import RowWriter

Backend = Literal["postgres", "supabase"]
BACKENDS: tuple[Backend, ...] = ("postgres", "supabase")
"""What ``--db`` may say."""
_KEYS = ("SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_ANON_KEY")
"""The service key comes first: only with it is it sure that every row is seen."""
_ADDRESS = re.compile(r"https?://[^\s/@?#]+/?")
_DEV_DATABASE = ".venv/bin/python scripts/database/dev_database.py up"


def configured(settings: Mapping[str, str]) -> tuple[Backend, ...]:
    """The backends that the settings name, whether all that they need is there or not."""
    variables: dict[Backend, str] = {"postgres": "DATABASE_URL", "supabase": "SUPABASE_URL"}
    return tuple(backend for backend in BACKENDS if settings.get(variables[backend]))


def open_database(
    choice: Backend | None, settings: Mapping[str, str], patience: Patience | None = None
) -> EvalDatabase:
    """The read side of the evaluation database; nothing is contacted until it is asked.

    ``settings`` are ``DATABASE_URL``, or ``SUPABASE_URL`` with ``SUPABASE_SERVICE_ROLE_KEY`` or ``SUPABASE_ANON_KEY``.

    Raises:
        Failure: several are configured and ``choice`` is None (code ``several-databases``, exit 2); none is, or not
            all that it needs (code ``no-credentials``), or a value is malformed (``bad-credentials``), exit 3.
        ModuleNotFoundError: the client library is not installed.
    """
    if _chosen(choice, settings) == "postgres":
        from benchwright.evaldb.postgres import PostgresSource

        source: RowSource = PostgresSource(settings["DATABASE_URL"], patience)
    else:
        from benchwright.evaldb.supabase import SupabaseSource

        source = SupabaseSource(*_project(settings), patience)
    return EvalDatabase(source)


def open_writer(choice: Backend | None, settings: Mapping[str, str], patience: Patience | None = None) -> RowWriter:
    """The write side of the same database, with the same settings; nothing is contacted until it is to write.

    Raises:
        Failure: as for ``open_database``.
        ModuleNotFoundError: the client library is not installed.
    """
    if _chosen(choice, settings) == "postgres":
        from benchwright.evaldb.postgres_writer import PostgresWriter

        return PostgresWriter(settings["DATABASE_URL"], patience)
    from benchwright.evaldb.supabase_writer import SupabaseWriter

    return SupabaseWriter(*_project(settings), patience)


def _chosen(choice: Backend | None, settings: Mapping[str, str]) -> Backend:
    """The backend that is meant, for which everything is set."""
    backends = configured(settings)
    if choice is None and len(backends) > 1:
        found = "DATABASE_URL (postgres) and SUPABASE_URL (supabase) are both set"
        fix = "name the one that is meant: --db postgres or --db supabase"
        raise usage_error("--db", found, "one database", fix, code="several-databases")
    backend = choice or (backends[0] if backends else None)
    missing = _missing(backend, settings)
    if missing:
        raise Failure(missing, exit=Exit.ENVIRONMENT)
    assert backend is not None  # or something would be missing
    return backend


def _missing(backend: Backend | None, settings: Mapping[str, str]) -> Problem | None:
    if backend is None:
        fix = f"set DATABASE_URL, or SUPABASE_URL and a key; a database of this machine's own: {_DEV_DATABASE}"
        return Problem("no-credentials", "database", "none is configured", "DATABASE_URL or SUPABASE_URL", fix)
    if backend == "postgres" and not settings.get("DATABASE_URL"):
        return Problem("no-credentials", "postgres", "DATABASE_URL not set", "DATABASE_URL", "set DATABASE_URL")
    if backend == "supabase":
        absent = [] if settings.get("SUPABASE_URL") else ["SUPABASE_URL"]
        absent += [] if any(settings.get(name) for name in _KEYS) else [" or ".join(_KEYS)]
        if absent:
            fix = f"set {' and '.join(absent)} in the environment or in a .env file"
            return Problem("no-credentials", "supabase", f"{' and '.join(absent)} not set", "an address and a key", fix)
    return None


def _project(settings: Mapping[str, str]) -> tuple[str, str]:
    """The address of a Supabase project, and the key."""
    name = next(name for name in _KEYS if settings.get(name))
    url, key = settings["SUPABASE_URL"], settings[name]
    problems = []
    if _ADDRESS.fullmatch(url) is None:
        fix = "set SUPABASE_URL to the project's address, https://PROJECT.supabase.co"
        problems.append(Problem("bad-credentials", "SUPABASE_URL", "no address", "https://HOST", fix))
    if not (key.isascii() and key.isprintable()) or " " in key:
        found = f"a value of {len(key)} characters that is no key"
        problems.append(
            Problem(
                "bad-credentials",
                name,
                found,
                "printable characters without a space",
                f"copy the key once more into {name}",
            )
        )
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    return url, key
