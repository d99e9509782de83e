"""The parser every script starts from."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from benchwright.cli.printing import as_json
from benchwright.contract import Exit, Outcome, Problem, redact

_EXIT_CODES = """\
exit codes: 0 done; 1 a check says no; 2 wrong usage; 3 something missing on this machine, with the command that
fixes it; 4 a remote or passing failure, run it again; 5 refused for safety; 70 a bug in this program; 130 and 143
stopped by Ctrl-C or SIGTERM"""

_Number = TypeVar("_Number", int, float)


class ScriptParser(argparse.ArgumentParser):
    """An argument parser with the contract's common options and its answer to wrong usage.

    Adds ``--json`` and ``--out FILE``; with ``handoff=True`` also ``--handoff FILE.md``. Options are never abbreviated,
    since an abbreviation in someone's notes breaks when an option is added. Wrong usage leaves with 2, and with
    ``--json`` prints the envelope as any other outcome does. The parser of a command, which `add_command` makes, takes
    the same options, and answers for the script ``within`` which it is one.
    """

    def __init__(
        self, *, description: str, prog: str | None = None, handoff: bool = False, within: ScriptParser | None = None
    ) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.wants_json = False
        self._within = within
        self._commands: argparse._SubParsersAction[ScriptParser] | None = None
        # What a command's parser leaves out would otherwise undo what was given before the command.
        unset: dict[str, Any] = {} if within is None else {"default": argparse.SUPPRESS}
        common = self.add_argument_group("output")
        common.add_argument("--json", action="store_true", help="print one JSON object instead of the summary", **unset)
        report = "write the whole report there (.json: as JSON)"
        common.add_argument("--out", type=Path, metavar="FILE", help=report, **unset)
        if handoff:
            common.add_argument(
                "--handoff", type=Path, metavar="FILE.md", help="write a command sheet for another person"
            )

    def parse_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but take options between positionals too where there are no commands.

        Plain argparse gives an optional positional up once it has parsed the one before it.
        """
        if self._commands is not None:
            return super().parse_args(args, namespace)
        return self.parse_intermixed_args(args, namespace)

    def _get_nargs_pattern(self, action: argparse.Action) -> str:
        """Take no ``--`` for a positional that waits for the options: Python 3.11 would, and lose it."""
        return "()" if action.nargs == argparse.SUPPRESS else super()._get_nargs_pattern(action)

    def add_command(self, name: str, description: str) -> ScriptParser:
        """Add a command with options of its own; ``command`` among the arguments is the one that was given."""
        if self._commands is None:
            self._commands = self.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
        return self._commands.add_parser(name, help=description, description=description, within=self)

    def add_repo(self, checkout: str = "the checkout (default: the current folder)") -> None:
        """Add ``--repo DIR``, where a declaration is looked up; ``checkout`` is its help."""
        self.add_argument("--repo", type=Path, metavar="DIR", help=checkout)

    def add_cache_root(self) -> None:
        """Add ``--cache-root DIR``, where artifacts are."""
        default = "default: $TABARENA_CACHE, or else ~/.cache/tabarena"
        self.add_argument("--cache-root", type=Path, metavar="DIR", help=default)

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2, in the form that was asked for."""
        message = redact(message)
        script = self._within or self
        if script.wants_json:
            problem = Problem("usage", self.prog, message, fix=f"{self.prog} --help")
            outcome = Outcome(summary=message, problems=(problem,), exit=Exit.USAGE)
            with contextlib.suppress(OSError):  # as argparse does where nobody can read its answer
                sys.stdout.write(as_json(outcome.envelope(script.prog), encoding=sys.stdout.encoding) + "\n")
            raise SystemExit(Exit.USAGE)
        super().error(message)


def positive(number: Callable[[str], _Number]) -> Callable[[str], _Number]:
    """The type of an option that takes an int or a float above 0: ``type=positive(int)``."""

    def convert(text: str) -> _Number:
        value = number(text)
        if not value > 0:  # of a NaN too
            raise argparse.ArgumentTypeError(f"{text}, expected a number above 0")
        return value

    convert.__name__ = number.__name__  # argparse says "invalid int value"
    return convert


def moment(text: str) -> datetime:
    """The type of an option that takes a day or a time; it is in this machine's zone unless it names one."""
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo else time.astimezone()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r}, expected a day such as 2026-06-03, or 2026-06-03T12:00") from None
