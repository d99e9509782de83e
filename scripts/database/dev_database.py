#!/usr/bin/env python3
"""A Postgres of this machine's own with the tables of the evaluation database, for rehearsals and a first start.

up starts it, and makes it first if it is not there; down stops it and keeps the data; url prints the address for
DATABASE_URL; load FILE puts rows in, all of them or none: {"models": [{"name": ...}, ...], "sandbox_jobs": [...]}.
Rows to begin with are in the skill eval-agentic-cleanup, assets/rehearsal_rows.json.
It listens on a socket in its folder alone, which only its owner may enter. No other database is ever touched.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import benchwright  # noqa: F401
except ModuleNotFoundError:
    for folder in Path(__file__).resolve().parents:
        if (folder / "src" / "benchwright").is_dir():
            sys.path.insert(0, str(folder / "src"))
            break
    else:
        print("benchwright is not installed; in its checkout: make setup", file=sys.stderr)
        raise SystemExit(3) from None

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import Exit, Failure, Outcome, Problem, usage_error

if TYPE_CHECKING:
    from benchwright.rehearsal.postgres import LocalPostgres

ACTIONS = ("up", "down", "url", "load")


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("action", choices=ACTIONS, help="what to do")
    add("file", nargs="?", type=Path, metavar="FILE", help="the rows to load, as JSON")
    where = (
        "where the database is (default: benchwright/database below $XDG_DATA_HOME or ~/.local/share; root: /var/lib)"
    )
    add("--folder", type=Path, metavar="DIR", help=where)
    return parser


def dev_database(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Do the one thing asked."""
    from benchwright.rehearsal.postgres import LocalPostgres

    if (args.file is not None) != (args.action == "load"):
        raise usage_error(
            "FILE",
            "missing" if args.action == "load" else str(args.file),
            "with load, and only there",
            "dev_database.py load FILE",
        )
    server = LocalPostgres(args.folder or default_folder())
    if args.action == "up":
        return up(server, shell)
    if args.action == "down":
        stopped = server.stop()
        summary = f"{'stopped' if stopped else 'was not running'}; its data are in {server.folder}"
        return Outcome(summary, {"folder": server.folder, "stopped": stopped})
    if not server.is_running():
        fix = command(__file__, "up", *option("--folder", args.folder))
        raise Failure(
            Problem("not-running", str(server.folder), "no database runs there", fix=fix), exit=Exit.ENVIRONMENT
        )
    return load(server, args.file) if args.action == "load" else Outcome(server.url, {"url": server.url})


def up(server: LocalPostgres, shell: Shell) -> Outcome:
    """Start the server, with the tables in it."""
    from benchwright.rehearsal.eval_rows import create_tables

    shell.talk(f"starting Postgres in {server.folder}")
    started = server.start()
    made = create_tables(server.url)
    summary = f"{'started' if started else 'was running'}{', with new tables' if made else ''}: {server.folder}"
    data = {"folder": server.folder, "url": server.url, "started": started, "tables_made": made}
    return Outcome(summary, data, next=[f"export DATABASE_URL='{server.url}'"])


def load(server: LocalPostgres, file: Path) -> Outcome:
    """Put the rows of a file in."""
    from benchwright.files import read_json
    from benchwright.rehearsal.eval_rows import load_rows

    counts = load_rows(server.url, read_json(file))
    rows = ", ".join(f"{count:,} of {table}" for table, count in counts.items() if count)
    return Outcome(f"rows put in: {rows or 'none'}", {"rows": counts})


def default_folder() -> Path:
    """Where the database is unless said otherwise. Root's own folders are closed to the account that runs it."""
    if os.geteuid() == 0:
        return Path("/var/lib/benchwright/database")
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "benchwright" / "database"


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), dev_database))
