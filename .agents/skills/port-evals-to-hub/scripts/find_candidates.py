#!/usr/bin/env python3
"""List results published elsewhere that may belong on the Hub's leaderboards, with what the Hub says of each.

Nothing is written but OUT.csv, and its journal beside it: a search that was killed goes on with the same command, and
of a list that is there the unknown rows are asked again. Rows keep their numbers. Only rows with status candidate lead
to pull requests; the others are on_board, already_declared, declared_elsewhere (the value is on the board for a model
of the same kin), closed_by_owner, personal_account, discussions_disabled, repo_missing, needs_human, or unknown, which
is whatever could not be looked up. A lead is not evidence: verify each value at its authors' source.

Sources: db, the view hub_port_candidates_v1 of the database of Papers With Code (PWC_DATABASE_URL); api, its public
API, asked once a second; cards, the result metadata and tables of the cards of --org or --models; csv, the file
--models, with the columns hf_model_url, value_text and dataset_slug, metric_name (or hub_dataset, hub_task).

Settings, from the environment or a .env: PWC_DATABASE_URL, PWC_API_URL, HF_TOKEN, HF_ENDPOINT. Exit 4: rows are
unknown, or the search is not at its end; run it again.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

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

from benchwright.cli import ScriptParser, Shell, command, run_script
from benchwright.contract import Outcome

_BATCH = 20


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("list", type=Path, metavar="OUT.csv", help="the list to write, or to go on with")
    add("--source", choices=("db", "api", "cards", "csv"), default="db", help="where results come from (default: db)")
    add("--org", metavar="O", help="only models of that organisation on the Hub")
    add("--models", type=Path, metavar="FILE", help="only the models in it, one a line; with --source csv the results")
    add("--mapping", type=Path, metavar="FILE", help="more lines in the form of mapping.yaml: benchmark, metric, board")
    return parser


def find_candidates(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Search, and name the first batch."""
    from benchwright.hub.candidates.options import SearchOptions
    from benchwright.hub.candidates.search import find_candidates as search
    from benchwright.objects.credentials import settings_from_environment

    options = SearchOptions(out=args.list, source=args.source, org=args.org, models=args.models, mapping=args.mapping)
    outcome = search(options, settings_from_environment(), talk=shell.talk, progress=shell.progress)
    if not outcome.data["seen"]:
        return outcome
    rows = f"1-{min(_BATCH, outcome.data['rows'])}".removesuffix("-1")
    return replace(outcome, next=[command(Path(__file__).with_name("draft_spec.py"), args.list, "--rows", rows)])


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), find_candidates))
