#!/usr/bin/env python3
"""Look each result of a spec up at its cited source: where the number stands, and what a person has to judge.

Reads model cards at their commit, arXiv's abstract and HTML, other pages, and saved copies (source.file), and keeps a
snapshot of each. Lists each place that prints the number as a whole, by row and column or by its sentence, and proposes
the wording of origin. What keeps a result from being posted is a problem (exit 1): a number that the text lacks, while
origin names no figure or control; a question that the spec does not answer yet under "answers". Such are whether the
score is a third party's, the protocol (tools, zoom, verifiers, subsets), other checkpoints, unfinished models,
contamination, and digits. A source that does not come leaves with 4. The form of a spec: references/spec.schema.json.

Settings, from the environment or a .env: HF_TOKEN (for gated cards), HF_ENDPOINT.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
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

from benchwright.cli import ScriptParser, Shell, command, run_script
from benchwright.contract import Outcome
from benchwright.hub.registry import SNAPSHOTS

if TYPE_CHECKING:
    from benchwright.hub.sources import SourceCheck


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("spec", type=Path, metavar="SPEC.json", help="what to check")
    parser.add_argument(
        "--snapshots",
        type=Path,
        default=SNAPSHOTS,
        metavar="DIR",
        help="where snapshots are kept (default: %(default)s)",
    )
    return parser


def check_sources(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Check one result after the other; where nothing stands in the way, name what shows the pull requests."""
    from benchwright.hub.client import Hub
    from benchwright.hub.sources import Snapshots, Sources, check_result
    from benchwright.hub.sources.report import report
    from benchwright.hub.spec import Spec
    from benchwright.objects.credentials import settings_from_environment

    spec = Spec.load(args.spec)
    sources = Sources(Hub.of(settings_from_environment()), Snapshots(args.snapshots))
    checks: list[SourceCheck] = []
    with shell.progress("checking sources, results") as progress:
        for result in spec.results:
            progress(len(checks), len(spec.results), note=result.repo)
            checks.append(check_result(result, sources))
        progress(len(checks), len(spec.results))
    outcome = report(checks)
    if outcome.exit:
        return outcome
    return replace(outcome, next=[command(Path(__file__).with_name("open_eval_prs.py"), args.spec)])


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), check_sources))
