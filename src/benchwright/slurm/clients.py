"""Calls of the scheduler's client programs: never a shell, always with a time limit, and errors as values.

Output that a user's environment would change is asked for in one form: array expressions in full
(``SLURM_BITSTR_LEN``), times in ISO form, and no filters or formats of the user's own (``SQUEUE_STATES`` would hide
tasks).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Trouble(Enum):
    """Why a call has no answer."""

    NO_CLIENT = "no-client"
    """The program is not installed here."""
    NO_CLUSTER = "no-cluster"
    """The client finds no usable configuration."""
    TIMEOUT = "timeout"
    CONTROLLER_DOWN = "controller-down"
    ACCOUNTING_OFF = "accounting-off"
    """The cluster keeps no accounts."""
    ACCOUNTING_DOWN = "accounting-down"
    UNKNOWN_JOB = "unknown-job"
    """No such job, or one that the controller has forgotten."""
    NOT_PERMITTED = "not-permitted"
    REFUSED = "refused"
    """Any other answer than yes; the message is the client's own."""


@dataclass(frozen=True)
class CallError:
    """A call without an answer; ``message`` is what the client said, in one line."""

    program: str
    trouble: Trouble
    message: str

    def __str__(self) -> str:
        """The error as a clause."""
        return f"{self.program}: {self.message}"


# What the clients of SLURM print, by the piece of it that tells the case. The first that is found counts.
_SAID = (
    ("Unable to contact slurm controller", Trouble.CONTROLLER_DOWN),
    ("Socket timed out", Trouble.CONTROLLER_DOWN),
    ("Zero Bytes were transmitted", Trouble.CONTROLLER_DOWN),
    ("Slurm controller not responding", Trouble.CONTROLLER_DOWN),
    ("Slurm accounting storage is disabled", Trouble.ACCOUNTING_OFF),
    ("Problem talking to the database", Trouble.ACCOUNTING_DOWN),
    ("slurm_persist_conn_open", Trouble.ACCOUNTING_DOWN),
    ("Sending PersistInit msg", Trouble.ACCOUNTING_DOWN),
    ("Invalid job id specified", Trouble.UNKNOWN_JOB),
    ("Access/permission denied", Trouble.NOT_PERMITTED),
    ("Unable to process configuration file", Trouble.NO_CLUSTER),
    ("Could not establish a configuration source", Trouble.NO_CLUSTER),
)
_LONGEST_MESSAGE = 300
_OF_THE_USER = ("SQUEUE_", "SACCT_", "SINFO_")


@dataclass(frozen=True)
class Clients:
    """The client programs of one cluster; ``seconds`` bounds a call. ``environment`` is this process's by default."""

    seconds: float = 120.0
    environment: Mapping[str, str] | None = None

    def call(self, program: str, *arguments: str, times: str = "standard") -> str | CallError:
        """Run a client; what it printed on standard output. ``times`` is the form of those, as ``strftime`` has it."""
        done = self._run(program, arguments, times)
        return done if isinstance(done, CallError) else done.stdout

    def _run(
        self, program: str, arguments: tuple[str, ...], times: str
    ) -> subprocess.CompletedProcess[str] | CallError:
        try:
            done = subprocess.run(
                [program, *arguments],
                env=self._environment(times),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.seconds,
                check=False,
            )
        except FileNotFoundError:
            return CallError(program, Trouble.NO_CLIENT, "not installed on this machine, or not on the PATH")
        except subprocess.TimeoutExpired:
            return CallError(program, Trouble.TIMEOUT, f"no answer within {self.seconds:g} s")
        except OSError as error:
            return CallError(program, Trouble.REFUSED, error.strerror or str(error))
        if done.returncode == 0:
            return done
        return error_of(program, done.returncode, done.stderr or done.stdout)

    def _environment(self, times: str) -> dict[str, str]:
        given = os.environ if self.environment is None else self.environment
        kept = {name: value for name, value in given.items() if not name.startswith(_OF_THE_USER)}
        return {**kept, "SLURM_BITSTR_LEN": "0", "SLURM_TIME_FORMAT": times, "LC_ALL": "C"}


def error_of(program: str, code: int, said: str) -> CallError:
    """What a client's complaint means; ``code`` is its exit code."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for piece, trouble in _SAID:
        for line in lines:
            if piece in line:
                return CallError(program, trouble, _short(line, program))
    return CallError(program, Trouble.REFUSED, _short(lines[-1], program) if lines else f"exit {code} without a word")


def _short(line: str, program: str) -> str:
    line = line[len(program) + 2 :] if line.startswith(f"{program}: ") else line
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 4] + " ..."
