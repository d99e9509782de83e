"""Run a script's one call, print what came of it, and leave with the right exit code."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import gc
import io
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from benchwright.cli.errors import Bug, outcome_of
from benchwright.cli.handoff import Handoff
from benchwright.cli.parser import ScriptParser
from benchwright.cli.printing import as_file, as_json, report, shortened
from benchwright.cli.progress import progress
from benchwright.contract import Exit, Failure, Outcome, Problem, Progress, named, redact, said
from benchwright.files import write_bytes

# At its end Python looks through all that is left, once more after each module: a tenth of a short script's time.
atexit.register(gc.freeze)


class Shell:
    """What a script's call gets besides its arguments: talk on stderr, a watcher's lines, and the hand-off sheet."""

    def __init__(self, args: argparse.Namespace, *, stderr: TextIO | None = None, stdout: TextIO | None = None) -> None:
        self._args = args
        self._stderr = sys.stderr if stderr is None else stderr
        self._stdout = sys.stdout if stdout is None else stdout

    def talk(self, text: str) -> None:
        """Say what is going on. That nobody can hear it does not stop the work."""
        with contextlib.suppress(OSError, ValueError):
            print(redact(text), file=self._stderr, flush=True)

    def tell(self, line: str, event: Mapping[str, Any]) -> None:
        """Print what a watcher waits for on stdout, before the outcome: ``line``, with ``--json`` ``event`` as one."""
        text = as_json(event, encoding=self._stdout.encoding) if self._args.json else redact(line)
        with contextlib.suppress(OSError, ValueError):
            print(text, file=self._stdout, flush=True)

    @contextlib.contextmanager
    def progress(self, label: str) -> Iterator[Progress]:
        """Show the progress of a long piece of work."""
        with progress(label, self._stderr) as show:
            yield show

    def hand_off(self, sheet: Handoff) -> None:
        """Write the command sheet when ``--handoff`` asked for one.

        Raises:
            Failure: it cannot be written (code ``sheet-not-written``, exit 3).
        """
        path: Path | None = getattr(self._args, "handoff", None)
        if path is not None:
            try:
                write_bytes(path, as_file(sheet.markdown()))
            except OSError as error:
                raise Failure(_not_written("sheet", path, error, "--handoff"), exit=Exit.ENVIRONMENT) from error
            self.talk(f"hand-off sheet: {path}")

    def handed_off(self, sheet: Handoff, outcome: Outcome) -> Outcome:
        """Write the sheet of what is done by now, as `hand_off` does; one that cannot be written hides no outcome."""
        try:
            self.hand_off(sheet)
        except Failure as failure:
            return _with(failure.problems, outcome)
        return outcome


def run_script(
    parser: ScriptParser, call: Callable[[argparse.Namespace, Shell], Outcome], argv: Sequence[str] | None = None
) -> int:
    """Parse, call, print, and return the exit code. Nothing but the outcome goes to stdout.

    While ``call`` runs, stdout is stderr: a library that prints cannot spoil the JSON object. Whatever ``call`` raises
    or returns, an outcome is printed, in what characters stdout has.
    """
    try:
        with _sturdy_streams():
            return _run(parser, call, sys.argv[1:] if argv is None else argv)
    except (KeyboardInterrupt, _Terminated) as stop:
        # Before the call or while its outcome is printed. Any other end would wait for a reader that sleeps, once more.
        os._exit(128 + _signal_of(stop))


def _run(parser: ScriptParser, call: Callable[[argparse.Namespace, Shell], Outcome], words: Sequence[str]) -> int:
    parser.wants_json = "--json" in words
    args = parser.parse_args(words)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    shell = Shell(args)
    with contextlib.redirect_stdout(sys.stderr):
        outcome = _called(call, args, shell)
    try:
        return _answer(outcome, parser.prog, args, shell)
    except Exception as error:  # noqa: BLE001  the outcome holds what cannot be printed
        return _answer(_failed(error, shell), parser.prog, args, shell)


@contextlib.contextmanager
def _sturdy_streams() -> Iterator[None]:
    """Standard streams that take every text, and that Python finds in order when it ends.

    Those that a caller closed get a place to go: the next file opened would become one of them. Those that cannot be
    written, as on a full disk, go there in the end: Python would complain, and change the exit code.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - takes the lowest free number: the closed one
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for name in ("stdout", "stderr"):
            try:
                getattr(sys, name).flush()
            except (OSError, ValueError):
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


class _Terminated(BaseException):
    """A SIGTERM, on its way up through the work as a Ctrl-C would be."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _signal_of(stop: BaseException) -> signal.Signals:
    return signal.SIGTERM if isinstance(stop, _Terminated) else signal.SIGINT


def _called(call: Callable[[argparse.Namespace, Shell], Outcome], args: argparse.Namespace, shell: Shell) -> Outcome:
    try:
        return call(args, shell)
    except (KeyboardInterrupt, _Terminated) as stop:
        again = shlex.join([sys.executable, *sys.argv])
        number = _signal_of(stop)
        how = "Ctrl-C" if number == signal.SIGINT else number.name
        return Outcome(summary=f"stopped by {how}; what was finished is kept", next=(again,), signal=number)
    except BaseException as error:  # noqa: BLE001  the last line of defence: each ends in an outcome, a SystemExit too
        return _failed(error, shell)


def _failed(error: BaseException, shell: Shell) -> Outcome:
    """The outcome of an exception; the traceback of a bug is talk."""
    outcome = outcome_of(error)
    if isinstance(outcome, Bug):
        shell.talk("".join(traceback.format_exception(error)).rstrip())
    return outcome


def _answer(outcome: Outcome, script: str, args: argparse.Namespace, shell: Shell) -> int:
    """Write the report that ``--out`` asked for, print the outcome, and return the exit code.

    A file that the outcome itself refuses, by a problem whose place is ``--out``, is not written.
    """
    out: Path | None = args.out
    if any(problem.where == "--out" for problem in outcome.problems):
        out = None
    if out is not None:
        try:
            _write_report(out, script, outcome)
        except OSError as error:  # the outcome itself must still be printed
            outcome = _with([_not_written("report", out, error, "--out")], outcome)
    text = as_json(outcome.envelope(script), encoding=sys.stdout.encoding) if args.json else shortened(outcome, out)
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader has what it wanted
    except (OSError, ValueError) as error:
        shell.talk(f"the outcome cannot be printed: {named(error)}")
        return outcome.code or Exit.ENVIRONMENT
    return outcome.code


def _with(unwritten: Sequence[Problem], outcome: Outcome) -> Outcome:
    """An outcome that says which files could not be written, and all else that it did."""
    return replace(outcome, problems=[*outcome.problems, *unwritten], exit=outcome.exit or Exit.ENVIRONMENT)


def _write_report(path: Path, script: str, outcome: Outcome) -> None:
    text = as_json(outcome.envelope(script), indent=2) if path.suffix == ".json" else report(outcome)
    write_bytes(path, as_file(text + "\n"))


def _not_written(what: str, path: Path, error: OSError, option: str) -> Problem:
    found = f"cannot be written ({said(error)})"
    return Problem(f"{what}-not-written", str(path), found, "a file that can be", f"name another with {option}")
