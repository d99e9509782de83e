"""The launch of an Iris job once more: the same name, so that Harbor goes on with it, and the region that is meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, redact, said, usage_error
from benchwright.files import read_bytes
from benchwright.objects.keys import is_key

REGION_VARIABLE = "BENCHWRIGHT_IRIS_REGION"
"""Holds the region that jobs are to run in and write to, such as ``us-east5``."""
LAUNCH_VARIABLE = "BENCHWRIGHT_IRIS_LAUNCH"
"""Holds the launcher with its interpreter, in words as for a shell: the launcher needs packages that iris has not."""
BIN_VARIABLE = "BENCHWRIGHT_IRIS_BIN"
"""Holds the folder of the program ``iris``: only with it on the path does the launcher find the region."""
DEFAULT_LAUNCH = "python eval/cloud/launch_eval_iris.py"
MAX_RETRIES = 2
"""A part of the fresh slices hang while the model is loaded; a retry goes to another one."""
_OWN = ("--job_name", "--job-name", "--max-retries", "--max_retries")
"""What the launch is given here."""
_MOST_BYTES = 2**26
_REGION = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]")
_BY_NAME = re.compile(r"""(?<![^=,"'])env:([A-Za-z_][A-Za-z0-9_]*)(?![^,"'])""")
"""A value that is named: a whole word, or a part of one behind ``=``, in a list, or in quotes."""
_COLOUR = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
"""What a launcher that thinks that it is at a terminal puts around words (ECMA-48, control sequences)."""
_PIN = re.compile(r"Region pin:[^\n]*(?:\N{RIGHTWARDS ARROW}|->)[ \t]*(\S+)")


@dataclass(frozen=True, slots=True)
class Relaunch:
    """A launch as it was, under the same name; ``iris_bin`` is where the program iris is, None for on the path."""

    job: str
    region: str
    launch: tuple[str, ...]
    iris_bin: str | None

    @classmethod
    def asked_for(cls, job: str, region: str | None, words: str, settings: Mapping[str, str]) -> Relaunch:
        """The launch of a job by its name, with what options leave to settings; ``words`` are as for a shell.

        Raises:
            Failure: the name is none, the region is missing or none, ``words`` say what the relaunch says itself, hold
                a secret, or are none, as a setting may be; every problem (exit 2).
        """
        problems = []
        if not is_key(job) or "/" in job:
            problems.append(
                Problem("usage", "JOB", f"{job!a}", "a job's name", "name the folder that it has in the bucket")
            )
        region = region or settings.get(REGION_VARIABLE)
        if region is None:
            fix = f"--region REGION, or export {REGION_VARIABLE}=REGION"
            problems.append(Problem("usage", "--region", "missing", "the region that the bucket is in", fix))
        elif not _REGION.fullmatch(region):
            problems.append(
                Problem(
                    "usage", "--region", f"{region!a}", "a region such as us-east5", "--region REGION of the bucket"
                )
            )
        launch = _words(LAUNCH_VARIABLE, settings.get(LAUNCH_VARIABLE) or DEFAULT_LAUNCH, problems)
        others = _words("--launch-words", words, problems)
        problems += [
            Problem(
                "usage",
                "--launch-words",
                f"{word} given once more",
                "the other words of the launch",
                "leave it out: it is said here",
            )
            for word in others
            if word.partition("=")[0] in _OWN
        ]
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        return cls(job, region or "", (*launch, *others), settings.get(BIN_VARIABLE))

    @property
    def command(self) -> str:
        """The command, whose output is kept for ``check_region``."""
        words = " ".join(map(_for_shell, (*self.launch, "--job_name", self.job, "--max-retries", str(MAX_RETRIES))))
        path = f'PATH={shlex.quote(self.iris_bin)}:"$PATH" ' if self.iris_bin else ""
        return f"{path}{words} 2>&1 | tee {shlex.quote(self.log)}"

    @property
    def log(self) -> str:
        """The file that the launch's output goes to, wherever the launch is run: it is in the current folder."""
        return str(Path(f"{self.job}.launch.log").absolute())

    @property
    def unpinned(self) -> str | None:
        """What is to be seen to where the command does not put iris on the path itself; None where it does."""
        if self.iris_bin:
            return None
        return f"{BIN_VARIABLE} is not set: the region is pinned only where iris is on the path already"


def _words(where: str, text: str, problems: list[Problem]) -> list[str]:
    """The words of a text, in which a secret is named and not written down: a command is to be run as it is printed."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        problems.append(Problem("usage", where, str(error).lower(), "words as for a shell", "close its quotes"))
        return []
    plain = " ".join(map(_for_shell, words))
    if redact(plain) != plain:
        found = "what reads like a secret itself, for every process list and shell history to show"
        fix = "put env:NAME in its place, for $NAME too, or ./FILE where it is a file"
        problems.append(Problem("literal-secret", where, found, "env:NAME, the variable that has it", fix))
    return words


def _for_shell(word: str) -> str:
    """A word as a shell reads it: ``env:NAME`` as the variable's value, without which the shell stops."""
    parts = _BY_NAME.split(word)
    if len(parts) == 1:
        return shlex.quote(word)
    return "".join(f'"${{{one}:?}}"' if number % 2 else one and shlex.quote(one) for number, one in enumerate(parts))


def check_region(output: str, region: str) -> None:
    """Go on where a launch's output says that it is pinned to a region.

    Raises:
        Failure: it says another one (code ``other-region``, exit 1), or none (``no-region``, exit 5): then it may
            write to the bucket of any.
    """
    pins = _PIN.findall(_COLOUR.sub("", output))
    if not pins:
        fix = "stop the job, put the folder of iris first in PATH, and launch again"
        problem = Problem("no-region", "the launch", "no line 'Region pin: ... -> REGION'", region, fix)
        raise Failure(problem, exit=Exit.REFUSED)
    wrong = [pin for pin in pins if pin.strip(".,;") != region]
    if wrong:
        fix = "stop the job before it writes to another region's bucket, and launch again"
        raise Failure(Problem("other-region", "the launch", f"pinned to {wrong[0]}", region, fix))


def read_launch_log(path: Path) -> str:
    """What a launch said.

    Raises:
        Failure: the file cannot be read (exit 2).
    """
    try:
        return read_bytes(path, limit=_MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise usage_error(
            "--launch-log",
            f"{path}: {said(error)}",
            "the output of a launch",
            "keep the launch's output with tee, as the printed command does",
        ) from None
