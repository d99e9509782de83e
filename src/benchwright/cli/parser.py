"""The parser every script starts from."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn

from benchwright.contract import Exit, Outcome, Problem, redact

_EXIT_CODES = """\
exit codes: 0 done; 1 a check says no; 2 wrong usage; 3 something missing on this machine, with the command that
fixes it; 4 a remote or passing failure, run it again; 5 refused for safety; 70 a bug in this program; 130 and 143
stopped by Ctrl-C or SIGTERM"""


class ScriptParser(argparse.ArgumentParser):
    """An argument parser with the contract's common options and its answer to wrong usage.

    Adds ``--json`` and ``--out FILE``; with ``handoff=True`` also ``--handoff FILE.md``. Options are never abbreviated,
    since an abbreviation in someone's notes breaks when an option is added. Wrong usage leaves with 2, and with
    ``--json`` prints the envelope as any other outcome does.
    """

    def __init__(self, *, description: str, prog: str | None = None, handoff: bool = False) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.wants_json = False
        common = self.add_argument_group("output")
        common.add_argument("--json", action="store_true", help="print one JSON object instead of the summary")
        common.add_argument("--out", type=Path, metavar="FILE", help="write the whole report there (.json: as JSON)")
        if handoff:
            common.add_argument(
                "--handoff", type=Path, metavar="FILE.md", help="write a command sheet for another person"
            )

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2, in the form that was asked for."""
        message = redact(message)
        if self.wants_json:
            problem = Problem("usage", self.prog, message, fix=f"{self.prog} --help")
            outcome = Outcome(summary=message, problems=(problem,), exit=Exit.USAGE)
            sys.stdout.write(json.dumps(outcome.envelope(self.prog)) + "\n")
            raise SystemExit(Exit.USAGE)
        super().error(message)
