#!/usr/bin/env python3
"""The Hub's leaderboards: views, ranks, tasks, and what a model declares. Nothing is written anywhere.

Each view of a board is asked for once, and a limit of the Hub is waited for. An unknown task is refused: its board
would be empty, and look like rank 1. What the Hub does not tell is unknown (exit 4), never absent.

Settings, from the environment or a .env: HF_TOKEN, HF_ENDPOINT. To import: NAMES, board, predicted_view, visible_view,
view_link, task_ids, bench_name, namespace_kind, declared, and the other functions of benchwright.hub.leaderboard.
"""

from __future__ import annotations

import argparse
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from benchwright.cli import ScriptParser, Shell, positive, run_script
from benchwright.contract import Outcome
from benchwright.hub.views import TIERS, View

if TYPE_CHECKING:
    from benchwright.hub.ranks import Origin


def __getattr__(name: str) -> Any:
    """A function of the library, loaded when it is used: ``--help`` needs none of it."""
    from benchwright.hub import leaderboard

    if name in leaderboard.__all__:
        return getattr(leaderboard, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_command("views", "all views of a board, the broadest first")
    tasks = parser.add_command("tasks", "the tasks of a benchmark; without one, the official benchmarks")
    board = parser.add_command("board", "a view of a board, by default the one that its page shows first")
    predict = parser.add_command("predict", "the broadest view that would show a new result; exit 1: none would")
    visible = parser.add_command("visible", "the broadest view that shows a result now; exit 1: none does")
    declared = parser.add_command("declared", "what a model declares on main and in open pull requests")
    kind = parser.add_command("kind", "whether namespaces are of organisations or of persons")
    tasks.add_argument("dataset", nargs="?", metavar="DATASET", help="the benchmark's dataset, org/name")
    board.add_argument("dataset", metavar="DATASET", help="the benchmark's dataset, org/name")
    for command in (predict, visible):
        command.add_argument("model", metavar="MODEL", help="the model, org/name or its address")
        command.add_argument("dataset", metavar="DATASET", help="the benchmark's dataset, org/name")
        command.add_argument("value", type=_number, metavar="VALUE", help="the result in the board's unit")
    for command in (board, predict, visible):
        command.add_argument("--task", metavar="ID", help="the task (default: the benchmark's first)")
    board.add_argument("--max-params", choices=tuple(TIERS), help="models up to that size (default: all)")
    board.add_argument("--all-models", action="store_true", help="those with a base model too")
    where = visible.add_mutually_exclusive_group()
    where.add_argument("--pr", type=positive(int), metavar="N", help="as pull request N has it (default: wherever)")
    where.add_argument("--main", action="store_true", help="as main has it")
    declared.add_argument("model", metavar="MODEL", help="the model, org/name or its address")
    kind.add_argument("namespaces", nargs="+", metavar="NAMESPACE", help="what is before the slash")
    return parser


def hub_leaderboard(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Answer one question."""
    from benchwright.hub import board_commands as commands
    from benchwright.hub.boards import Boards
    from benchwright.hub.client import Hub
    from benchwright.objects.credentials import settings_from_environment

    if args.command == "views":
        return commands.tell_views()
    boards = Boards(Hub.of(settings_from_environment()))
    if args.command == "tasks":
        return commands.tell_tasks(boards, args.dataset)
    if args.command == "board":
        return commands.tell_board(boards, args.dataset, args.task, View(args.max_params, not args.all_models))
    if args.command == "predict":
        return commands.tell_prediction(boards, args.model, args.dataset, args.value, args.task)
    if args.command == "visible":
        origin: Origin = args.pr or ("main" if args.main else "any")
        return commands.tell_visibility(boards, args.model, args.dataset, args.value, args.task, pull_request=origin)
    if args.command == "declared":
        return commands.tell_declared(boards, args.model)
    return commands.tell_kinds(boards, args.namespaces)


def _number(text: str) -> Decimal:
    if not re.fullmatch(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no plain number, such as 61.25")
    return Decimal(text)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), hub_leaderboard))
