"""What the command lines of watchers share: options, exit codes, and the ends that are no verdict."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

USAGE = 64
"""sysexits.h EX_USAGE: 2 is taken by failures of what is watched."""
_MOST_SECONDS = 366 * 86400


class WatcherParser(argparse.ArgumentParser):
    """A parser that leaves with 64, and knows what every watcher is told."""

    def __init__(self, prog: str, description: str | None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def add_waits(self) -> None:
        """Add ``--interval``, ``--patience``, ``--once`` and ``--json``."""
        add = self.add_argument
        interval, patience = "seconds between two lines (default 900)", "seconds to wait for an answer (default 3600)"
        add("--interval", type=_seconds, default=900.0, metavar="S", help=interval)
        add("--patience", type=_seconds, default=3600.0, metavar="S", help=patience)
        add("--once", action="store_true", help="one look, then leave")
        add("--json", action="store_true", help="one JSON object a line")

    def error(self, message: str) -> NoReturn:
        """Leave with 64."""
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0, of a year at most")
    return seconds


def whole_path(text: str) -> Path:
    """A path of the command line, made absolute: what is printed of it then holds in any folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path: is a variable not set?")
    try:
        return Path(text).absolute()
    except OSError:
        raise argparse.ArgumentTypeError(f"{text!r}, and the current folder is gone: give a whole path") from None


def watched(watch: Callable[[], int]) -> int:
    """Watch to the end; the exit code, also where someone stops the watcher, or nobody reads it any more."""
    try:
        return watch()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
